// What a run proved: valid, invalid or unknown; the anomalies behind it; the evidence that something was
// tested.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"
#include "model/history.h"

namespace highwater {

enum class VerdictKind : std::uint8_t { Valid, Invalid, Unknown };
std::string_view verdict_name(VerdictKind kind);
/// 0 valid, 1 invalid, 2 unknown.
int exit_code(VerdictKind kind);

/// One thing that was seen. Its kind is spelled as in docs/anomalies.md: "lost-committed", "dirty-read", …
struct Anomaly {
    std::string kind;
    /// Counted, but this configuration allows it (unclean election, acks=1 …).
    bool allowed = false;
    std::int32_t partition = 0;
    Offset offset = kUnknownOffset;
    Value value = 0;
    /// One sentence that a person understands without the files.
    std::string sentence;
    /// What surrounds it, a line each: the records three offsets around, the leaders' epochs, the faults
    /// nearby.
    std::vector<std::string> context;
    /// Indices into History::operations: the minimal operations that show it.
    std::vector<std::size_t> operations;
};

/// A property that this run could not have broken, because what it compares was not to be seen.
struct Unchecked {
    /// Spelled as in docs/anomalies.md, "dirty-read (served above the high watermark)" if only a part of it.
    std::string name;
    std::string why;
    friend bool operator==(const Unchecked&, const Unchecked&) = default;
};

struct Verdict {
    VerdictKind kind = VerdictKind::Unknown;
    /// Every anomaly counted by kind, allowed or not (before sampling).
    std::map<std::string, std::int64_t> counts;
    /// Kinds that this configuration does not allow.
    std::vector<std::string> violations;
    /// Why unknown: "vacuous", "unseen", "not-healed", "fault-not-effective", "target-unresolved", …
    std::vector<std::string> reasons;
    /// One sentence for each reason.
    std::vector<std::string> reason_details;
    /// "isr-shrunk": 2, "acked": 1204, … what proves that the run exercised something.
    std::map<std::string, std::int64_t> evidence;
    std::vector<std::string> warnings;
    std::vector<Unchecked> unchecked;
    /// At most `kAnomalySamples` of each kind, violations first.
    std::vector<Anomaly> anomalies;
};

inline constexpr std::size_t kAnomalySamples = 100;

std::string verdict_to_json(const Verdict& verdict);
Result<Verdict> verdict_from_json(std::string_view text, const std::string& name);

}  // namespace highwater
