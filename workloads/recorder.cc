#include "workloads/recorder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>

namespace highwater::workloads {

Recorder::~Recorder() {
    if (fd_ >= 0) ::close(fd_);
}

Status Recorder::open(const std::string& path, const HistoryMeta& meta) {
    history_.meta = meta;
    fd_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0644);
    if (fd_ < 0) return failure(fmt::format("{}: {}", path, std::strerror(errno)));
    const std::lock_guard lock(mutex_);
    write_line(format_meta(meta));
    return write_error_.empty() ? Status{} : failure(write_error_);
}

void Recorder::write_line(const std::string& line) {
    const std::string text = line + "\n";
    const ssize_t written = ::write(fd_, text.data(), text.size());
    if (written != static_cast<ssize_t>(text.size()) && write_error_.empty()) {
        write_error_ = fmt::format("history.jsonl: {}", written < 0 ? std::strerror(errno) : "short write");
    }
}

void Recorder::record(std::string_view client, Operation operation) {
    const std::lock_guard lock(mutex_);
    operation.client = history_.client_index(client);
    if (fd_ >= 0) write_line(format_operation(operation, client));
    if (const auto* produce = std::get_if<Produce>(&operation.what);
        produce != nullptr && produce->status == Outcome::Ok) {
        ++acked_;
        if (produce->acks.value_or(-1) == -1 &&
            (!last_ack_all_called_ || operation.invoked > *last_ack_all_called_)) {
            last_ack_all_called_ = operation.invoked;
            last_ack_all_at_ = operation.completed;
            acked_more_.notify_all();
        }
    }
    count(operation);
    if (listener_) listener_(operation);
    history_.operations.push_back(std::move(operation));
}

void Recorder::on_record(std::function<void(const Operation&)> listener) {
    const std::lock_guard lock(mutex_);
    listener_ = std::move(listener);
}

void Recorder::count(const Operation& operation) {
    if (const auto* produce = std::get_if<Produce>(&operation.what)) {
        if (produce->status == Outcome::Fail) ++failed_;
        if (produce->status == Outcome::Info) ++unknown_;
    }
    if (const auto* poll = std::get_if<Poll>(&operation.what); poll != nullptr && !poll->records.empty()) {
        Offset& end = read_[poll->partition];
        end = std::max(end, poll->records.back().offset + 1);
    }
}

Tally Recorder::tally() const {
    const std::lock_guard lock(mutex_);
    Tally tally{acked_, failed_, unknown_, 0};
    for (const auto& [partition, end] : read_) tally.read += end;
    return tally;
}

std::int64_t Recorder::acked() const {
    const std::lock_guard lock(mutex_);
    return acked_;
}

std::optional<Instant> Recorder::wait_for_ack_all(Instant since, Instant deadline) const {
    std::unique_lock lock(mutex_);
    const auto seen = [&] { return last_ack_all_called_ && *last_ack_all_called_ >= since; };
    const Duration left = deadline - monotonic_now();
    if (!acked_more_.wait_for(lock, std::max(left, Duration{0}), seen)) return std::nullopt;
    return last_ack_all_at_;
}

Status Recorder::status() const {
    const std::lock_guard lock(mutex_);
    return write_error_.empty() ? Status{} : failure(write_error_);
}

}  // namespace highwater::workloads
