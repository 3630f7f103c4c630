// What a log must still hold after its writer was killed, in the light of what the writer said.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/ids.h"

namespace highwater::test {

struct KeptBatch {
    Offset first = 0;
    Offset last = 0;
    std::uint32_t crc = 0;
    friend bool operator==(const KeptBatch&, const KeptBatch&) = default;
};

struct Promise {
    /// From offset 0 on. A killed process loses nothing that it wrote, so appended is enough.
    std::vector<KeptBatch> batches;
    /// Everything below was flushed.
    Offset flushed = 0;
    /// Where the log ended when this life opened it; -1 if it did not come so far.
    Offset opened = -1;
    /// Lines of this life, and what it said before it gave up.
    int steps = 0;
    std::string error;

    [[nodiscard]] Offset end() const { return batches.empty() ? 0 : batches.back().last + 1; }
    /// One whole line of the writer's.
    void hear(const std::string& line);
};

}  // namespace highwater::test
