#include "node/log/producer_snapshots.h"

#include <algorithm>
#include <charconv>

#include "node/log/segment.h"

namespace highwater::node {
namespace {

constexpr std::string_view kEnding = ".snapshot";

}  // namespace

std::string ProducerSnapshots::path(Offset offset) const {
    return directory_ + "/" + offset_file_name(offset) + std::string(kEnding);
}

Status ProducerSnapshots::open() {
    const auto names = storage_->list(directory_);
    if (!names) return tl::make_unexpected(names.error());
    for (const std::string& name : *names) {
        if (!name.ends_with(kEnding)) continue;
        Offset offset = -1;
        const char* end = name.data() + name.size() - kEnding.size();
        const auto [stop, status] = std::from_chars(name.data(), end, offset);
        if (status == std::errc{} && stop == end && directory_ + "/" + name == path(offset))
            offsets_.push_back(offset);
    }
    std::sort(offsets_.begin(), offsets_.end());
    return {};
}

Result<ProducerSnapshots::Loaded> ProducerSnapshots::newest_at_or_below(Offset offset, Offset log_start) {
    while (true) {
        const auto above = std::upper_bound(offsets_.begin(), offsets_.end(), offset);
        if (above == offsets_.begin() || *std::prev(above) < log_start) return Loaded{log_start, {}};
        const Offset found = *std::prev(above);
        const auto bytes = storage_->read_file(path(found));
        if (!bytes) return tl::make_unexpected(bytes.error());
        if (bytes->has_value()) {
            auto states = parse_producer_snapshot(**bytes, path(found));
            if (states) return Loaded{found, std::move(*states)};
        }
        if (const Status removed = remove(found); !removed) return tl::make_unexpected(removed.error());
    }
}

Status ProducerSnapshots::take(Offset offset, const ProducerStates& states) {
    Status written =
        storage_->replace_file(path(offset), format_producer_snapshot(states), Durability::OsDecides);
    if (!written) return written;
    const auto at = std::lower_bound(offsets_.begin(), offsets_.end(), offset);
    if (at == offsets_.end() || *at != offset) offsets_.insert(at, offset);
    return {};
}

Status ProducerSnapshots::remove(Offset offset) {
    if (Status removed = storage_->remove_file(path(offset)); !removed) return removed;
    std::erase(offsets_, offset);
    return {};
}

Status ProducerSnapshots::remove_above(Offset offset) {
    while (!offsets_.empty() && offsets_.back() > offset) {
        if (Status removed = remove(offsets_.back()); !removed) return removed;
    }
    return {};
}

Status ProducerSnapshots::remove_strays(const std::vector<Offset>& segment_offsets) {
    const std::vector<Offset> held = offsets_;
    for (const Offset offset : held) {
        if (offset == held.back()) break;
        if (std::binary_search(segment_offsets.begin(), segment_offsets.end(), offset)) continue;
        if (Status removed = remove(offset); !removed) return removed;
    }
    return {};
}

}  // namespace highwater::node
