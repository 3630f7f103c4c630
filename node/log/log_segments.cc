#include "node/log/log_segments.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "base/assert.h"

namespace highwater::node {
namespace {

constexpr std::size_t kOffsetDigits = 20;

/// The offset that a segment's file is named by; nullopt if it is no such name.
std::optional<Offset> offset_of(const std::string& name, std::string_view ending) {
    if (name.size() != kOffsetDigits + ending.size() || !name.ends_with(ending)) return std::nullopt;
    Offset offset = 0;
    const auto [end, status] = std::from_chars(name.data(), name.data() + kOffsetDigits, offset);
    if (status != std::errc{} || end != name.data() + kOffsetDigits || offset < 0) return std::nullopt;
    return offset;
}

}  // namespace

Result<std::vector<Offset>> LogSegments::find() {
    const auto names = storage_->list(directory_);
    if (!names) return tl::make_unexpected(names.error());
    std::set<Offset> found;
    for (const std::string& name : *names) {
        if (!name.ends_with(".log")) continue;
        const auto offset = offset_of(name, ".log");
        if (!offset) return failure(fmt::format("{}/{}: a segment's name is 20 digits", directory_, name));
        found.insert(*offset);
    }
    for (const std::string& name : *names) {
        for (const char* ending : {".index", ".timeindex"}) {
            const auto offset = offset_of(name, ending);
            if (!offset || found.contains(*offset)) continue;
            if (const Status removed = storage_->remove_file(directory_ + "/" + name); !removed)
                return tl::make_unexpected(removed.error());
        }
    }
    return std::vector<Offset>(found.begin(), found.end());
}

Result<std::optional<Offset>> LogSegments::open(const LogStart& start) {
    auto found = find();
    if (!found) return tl::make_unexpected(found.error());
    if (found->empty()) found->push_back(start.log_start_offset);
    std::optional<Offset> doubtful;
    for (auto base = found->begin(); base != found->end(); ++base) {
        auto segment = Segment::open(*storage_, directory_, *base, settings_);
        if (!segment) return tl::make_unexpected(segment.error());
        const bool last = std::next(base) == found->end();
        // What comes after the last segment's beginning is flushed by nobody but a clean stop.
        const bool covered = start.clean || (!last && *std::next(base) <= start.recovery_point);
        const bool follows = segments_.empty() || next_offset() == *base;
        if (!doubtful && (!covered || !follows)) doubtful = *base;
        if (!doubtful) {
            const auto loaded = segment->load();
            if (!loaded) return tl::make_unexpected(loaded.error());
            if (!*loaded) doubtful = *base;
        }
        segments_.emplace(*base, std::move(*segment));
    }
    return doubtful;
}

Result<std::uint64_t> LogSegments::recover(Offset from, const HeaderVisitor& accept) {
    std::uint64_t cut = 0;
    for (auto segment = segments_.find(from); segment != segments_.end(); ++segment) {
        const bool first = segment == segments_.begin();
        const bool follows = first || std::prev(segment)->second.next_offset() == segment->first;
        if (!follows || cut > 0) {
            for (auto dropped = segment; dropped != segments_.end(); ++dropped) cut += dropped->second.size();
            if (const Status done = drop_from(segment); !done) return tl::make_unexpected(done.error());
            break;
        }
        const auto bytes = segment->second.recover(accept);
        if (!bytes) return tl::make_unexpected(bytes.error());
        cut += *bytes;
    }
    return cut;
}

/// From the last one on, so that a crash leaves no hole.
Status LogSegments::drop_from(std::map<Offset, Segment>::iterator first) {
    HW_ASSERT(first != segments_.begin(), "{}: a log has a segment", directory_);
    while (true) {
        const auto last = std::prev(segments_.end());
        const bool done = last == first;
        if (Status removed = last->second.remove(); !removed) return removed;
        segments_.erase(last);
        if (done) return {};
    }
}

std::uint64_t LogSegments::size() const {
    std::uint64_t size = 0;
    for (const auto& [base, segment] : segments_) size += segment.size();
    return size;
}

Status LogSegments::roll() {
    if (Status sealed = active().seal(); !sealed) return sealed;
    const Offset base = next_offset();
    HW_ASSERT(base > active().base_offset(), "{}: an empty segment is not left", directory_);
    auto segment = Segment::open(*storage_, directory_, base, settings_);
    if (!segment) return tl::make_unexpected(segment.error());
    // A leftover of a crash between two steps of this, or of a truncation.
    if (segment->size() > 0) {
        const auto emptied = segment->recover([](const wire::BatchHeader&) { return false; });
        if (!emptied) return tl::make_unexpected(emptied.error());
    }
    segments_.emplace(base, std::move(*segment));
    return {};
}

Result<Bytes> LogSegments::read(Offset from, Offset limit, std::size_t max_bytes) const {
    Bytes out;
    auto segment = segments_.upper_bound(from);
    if (segment != segments_.begin()) --segment;
    for (; segment != segments_.end(); ++segment) {
        if (segment->first >= limit || (!out.empty() && out.size() >= max_bytes)) break;
        const auto more = segment->second.read(from, limit, max_bytes, out);
        if (!more) return tl::make_unexpected(more.error());
        if (!*more) break;
    }
    return out;
}

Status LogSegments::visit(Offset from, const HeaderVisitor& visit) const {
    auto segment = segments_.upper_bound(from);
    if (segment != segments_.begin()) --segment;
    bool on = true;
    for (; on && segment != segments_.end(); ++segment) {
        const Status visited = segment->second.visit(from, [&](const wire::BatchHeader& header) {
            on = visit(header);
            return on;
        });
        if (!visited) return visited;
    }
    return {};
}

Status LogSegments::truncate_to(Offset offset) {
    auto beyond = segments_.upper_bound(offset);
    if (beyond == segments_.begin()) ++beyond;
    if (beyond != segments_.end()) {
        if (Status dropped = drop_from(beyond); !dropped) return dropped;
    }
    return active().truncate_to(offset);
}

}  // namespace highwater::node
