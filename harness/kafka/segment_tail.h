// Follows the log files of one partition while a broker writes them: where the log ends, which epoch begins
// where, and, if wanted, every batch. Reading files needs nobody's answer: a frozen or dead broker's log is
// as plain as any other.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/ids.h"
#include "wire/record_batch.h"

namespace highwater::harness {

class SegmentTail {
public:
    /// `directory`: of the partition; it may not exist yet. `with_batches`: poll returns them.
    SegmentTail(std::string directory, bool with_batches);

    struct Progress {
        /// The log is not where it was: longer, cut, or gone.
        bool changed = false;
        /// It had been longer, or had another batch at some place. Batches then begin anew.
        bool cut = false;
        std::vector<Bytes> batches;
    };
    /// Reads what is new. A batch that is not complete in the file does not count.
    Progress poll();

    /// Nullopt: there is no log.
    [[nodiscard]] std::optional<Offset> log_end() const { return log_end_; }
    /// By offset: where each leader epoch begins.
    [[nodiscard]] const std::vector<OffsetAndEpoch>& epochs() const { return epochs_; }

private:
    void forget();
    /// The file that holds the end is still what was read of it.
    [[nodiscard]] bool as_it_was(int fd, std::uint64_t size) const;
    void read_on(Progress& progress);
    /// True if a later segment follows.
    bool next_segment();
    bool take_batch(int fd, std::uint64_t size, Progress& progress);

    std::string directory_;
    bool with_batches_;
    std::string file_;
    std::uint64_t position_ = 0;
    /// The header before position_, and where it stands.
    std::optional<std::uint64_t> last_at_;
    Bytes last_header_;
    std::optional<Offset> log_end_;
    std::vector<OffsetAndEpoch> epochs_;
};

}  // namespace highwater::harness
