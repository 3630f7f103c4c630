#include "harness/progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/time.h"

namespace highwater::harness {
namespace {

constexpr Duration kRedraw = milliseconds(200);
/// Where a terminal does not say how wide it is.
constexpr std::size_t kUsualWidth = 80;
/// To the start of the line, and everything from there removed.
constexpr const char* kErase = "\r\x1b[K";

/// A terminal that has gone away loses only what it would have shown.
void write_all(int fd, const std::string& text) {
    std::size_t done = 0;
    while (done < text.size()) {
        const ssize_t written = ::write(fd, text.data() + done, text.size() - done);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return;
        done += static_cast<std::size_t>(written);
    }
}

/// Undone by this one?
bool undoes(FaultKind by, FaultKind what) {
    if (by == FaultKind::Resume) return what == FaultKind::Pause;
    if (by == FaultKind::Restart) return ends_process(what) || what == FaultKind::Pause;
    return false;
}

}  // namespace

Progress::Progress(int fd, bool wanted) : fd_(fd), terminal_(wanted && ::isatty(fd) == 1) {}

Progress::~Progress() { stop(); }

std::size_t Progress::width() const {
    winsize size{};
    if (::ioctl(fd_, TIOCGWINSZ, &size) != 0 || size.ws_col < 2) return kUsualWidth - 1;
    return size.ws_col - 1U;
}

void Progress::show(std::function<std::string()> line) {
    if (!terminal_ || thread_.joinable()) return;
    line_ = std::move(line);
    stopping_ = false;
    thread_ = std::thread([this] { redraw_until_stopped(); });
}

void Progress::redraw_until_stopped() {
    while (true) {
        // Asked without the lock: it may take a moment, and print must not wait for it.
        std::string line = line_();
        if (line.size() > width()) line.resize(width());
        std::unique_lock lock(mutex_);
        if (stopping_) return;
        if (line != shown_) {
            shown_ = std::move(line);
            write_all(fd_, kErase + shown_);
        }
        if (changed_.wait_for(lock, kRedraw, [this] { return stopping_; })) return;
    }
}

void Progress::stop() {
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
        if (!shown_.empty()) write_all(fd_, kErase);
        shown_.clear();
    }
    changed_.notify_all();
    if (thread_.joinable()) thread_.join();
}

void Progress::print(const std::string& text) {
    const std::lock_guard lock(mutex_);
    if (shown_.empty()) return write_all(fd_, text + "\n");
    write_all(fd_, kErase + text + "\n" + shown_);
}

void ActiveFaults::struck(const FaultRecord& record, const std::string& release_of, bool ends_by_itself) {
    const std::lock_guard lock(mutex_);
    if (!record.ok) return;
    if (!release_of.empty()) active_.erase(release_of);
    std::erase_if(active_, [&record](const auto& entry) {
        const std::vector<BrokerId>& targets = entry.second.targets;
        return undoes(record.kind, entry.second.kind) &&
               std::all_of(targets.begin(), targets.end(), [&record](BrokerId id) {
                   return std::find(record.targets.begin(), record.targets.end(), id) != record.targets.end();
               });
    });
    if (is_momentary(record.kind) && record.kind != FaultKind::Await) return;
    const std::string whom = record.struck();
    active_[record.id] = {
        record.kind,
        fmt::format("{} {}{}{}", record.id, fault_kind_name(record.kind), whom.empty() ? "" : " ", whom),
        record.targets, ends_by_itself};
}

void ActiveFaults::completed(const std::string& id) {
    const std::lock_guard lock(mutex_);
    const auto found = active_.find(id);
    if (found != active_.end() && found->second.ends_by_itself) active_.erase(found);
}

void ActiveFaults::clear() {
    const std::lock_guard lock(mutex_);
    active_.clear();
}

std::string ActiveFaults::text() const {
    const std::lock_guard lock(mutex_);
    std::string text;
    for (const auto& [id, fault] : active_) text += (text.empty() ? "" : "; ") + fault.text;
    return text;
}

}  // namespace highwater::harness
