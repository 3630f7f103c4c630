// The snapshot files of a log's producer state: `<offset>.snapshot`, the state just before that offset. They
// spare opening and truncating the reading of the whole log. Losing any of them loses nothing.
#pragma once

#include <string>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "node/log/producer_state.h"
#include "node/log/storage.h"

namespace highwater::node {

class ProducerSnapshots {
public:
    ProducerSnapshots(Storage& storage, std::string directory)
        : storage_(&storage), directory_(std::move(directory)) {}

    /// Errors: IO.
    Status open();
    [[nodiscard]] const std::vector<Offset>& offsets() const { return offsets_; }

    struct Loaded {
        Offset offset = 0;
        ProducerStates states;
    };
    /// The newest at or below `offset` that can be read, else an empty state at `log_start`. Unreadable ones
    /// are removed. Errors: IO.
    Result<Loaded> newest_at_or_below(Offset offset, Offset log_start);
    /// Errors: IO.
    Status take(Offset offset, const ProducerStates& states);
    /// The log was cut there.
    Status remove_above(Offset offset);
    /// Keeps those at the beginnings of segments and the newest.
    Status remove_strays(const std::vector<Offset>& segment_offsets);

private:
    [[nodiscard]] std::string path(Offset offset) const;
    Status remove(Offset offset);

    Storage* storage_;
    std::string directory_;
    std::vector<Offset> offsets_;  // ascending
};

}  // namespace highwater::node
