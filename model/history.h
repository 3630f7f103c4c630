// The history: what clients were told and what they saw, one operation a line (docs/run-format.md).
// Read by the checker, written by the runner. Times are monotonic nanoseconds.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"
#include "model/rare.h"

namespace highwater {

/// producer << 40 | n: unique within a run.
using Value = std::int64_t;
constexpr Value make_value(std::int64_t producer, std::int64_t n) { return producer << 40 | n; }
/// "p3-977".
std::string value_text(Value value);

/// ok: acknowledged. fail: surely not written. info: anything else; it may land at any later time.
enum class Outcome : std::uint8_t { Ok, Fail, Info };
std::string_view outcome_name(Outcome outcome);

struct HistoryMeta {
    std::string case_name;
    std::string format = "highwater/1";
    std::string kind = "history";
    std::string run_id;
    std::string broker = "node";
    std::int32_t replication_factor = 3;
    std::int32_t min_isr = 1;
    std::string acks = "all";  // "all", "1", "0", "mixed"
    bool unclean = false;
    /// Eligible leader replicas (KIP-966) are in use.
    bool elr = false;
    bool idempotence = false;
    std::int32_t retries = 0;
    std::int32_t max_in_flight = 1;
    std::string isolation = "read_uncommitted";
    std::string consumer = "assign";
    std::string offset_report = "per-record";
    std::string reads;  // "linearizable" or ""
    std::string needs;  // "txn" or ""
    /// Leftovers are declared: unknown values are no phantoms. With a list only those values are excused.
    bool preexisting = false;
    std::vector<Value> preexisting_values;
    bool retention = false;
    std::optional<std::int64_t> sample_limit;
};

// Members of Produce and Poll stand in the order of their size: a history has a million of them.
struct Produce {
    Value value = 0;
    Offset offset = kUnknownOffset;
    RareText error;
    std::optional<std::int64_t> sequence;
    std::int32_t partition = 0;
    BrokerId broker = kNoBroker;
    std::optional<std::int16_t> acks;  // -1, 0, 1; absent: as the meta says
    Outcome status = Outcome::Info;
};

struct ReadRecord {
    Offset offset = 0;
    Value value = 0;
    friend bool operator==(const ReadRecord&, const ReadRecord&) = default;
};
struct Poll {
    std::vector<ReadRecord> records;
    Offset from = kUnknownOffset;
    Offset high_watermark = kUnknownOffset;
    Offset log_start = kUnknownOffset;
    Offset last_stable_offset = kUnknownOffset;
    RareText error;
    RareText isolation;
    std::int32_t partition = 0;
    BrokerId broker = kNoBroker;
    Outcome status = Outcome::Ok;
    /// Answered by a follower: its high watermark may lag.
    bool from_follower = false;
    /// After heal and quiescence; complete: reached the high watermark.
    bool final = false;
    bool complete = false;
};

struct ListOffsets {
    std::int32_t partition = 0;
    std::string which = "latest";  // "latest", "earliest", "log-end"
    Offset offset = kUnknownOffset;
    std::optional<LeaderEpoch> epoch;
    BrokerId broker = kNoBroker;
    Outcome status = Outcome::Ok;
    std::string error;
};

/// A view of the cluster. Exact ones (golden files) hold until the next; sampled ones prove nothing in
/// between.
struct Observe {
    std::int32_t partition = 0;
    std::optional<std::vector<BrokerId>> isr;
    std::optional<std::vector<BrokerId>> replicas;
    std::optional<BrokerId> leader;
    std::optional<LeaderEpoch> epoch;
    std::optional<bool> unclean;
    /// min.insync.replicas as the cluster really has it.
    std::optional<std::int32_t> config_min_isr;
    Offset log_start = kUnknownOffset;
    std::string config_json;
    BrokerId broker = kNoBroker;
    bool sampled = false;
};

struct FaultOp {
    std::string kind;
    std::string target;  // "2", "1,2"
    std::string id;
    std::string status;  // "ok", "fail", …
    std::string detail;
    /// For faults on paths: source and destination of each.
    std::vector<std::pair<BrokerId, BrokerId>> paths;
};
/// A question put to a path, a process or the cluster. What a failed one means is told by `detail`:
/// "progress" (no acks=all append succeeded in time after heal), "isr-full" (the ISR did not become full in
/// time), "node-crashed…" (a process ended that no fault ended), anything else: that path or process is not
/// healed. With source and destination it is a probe of that path; ok while a fault cuts it: the fault had no
/// effect.
struct Probe {
    bool ok = false;
    std::string detail;
    BrokerId source = kNoBroker;
    BrokerId destination = kNoBroker;
};
/// assign, seek, reset, commit, client, claim, broker_errors, txn: for the checks that use them.
struct OtherOp {
    std::string op;
    /// The members of the JSON object without the braces: `"partition":0,"offset":3`.
    std::string json;
};
/// What assign, seek and reset say about a consumer's position.
struct PositionChange {
    /// Partitions concerned (assign: all it has from now on).
    std::vector<std::int32_t> partitions;
    /// Where it goes on; unknown: wherever it likes.
    Offset position = kUnknownOffset;
};
/// Junk gives an empty change.
PositionChange position_change(const OtherOp& other);

struct Operation {
    Instant invoked;
    Instant completed;
    std::int32_t client = 0;  // index into History::clients
    std::variant<Produce, Poll, Rare<ListOffsets>, Rare<Observe>, Rare<FaultOp>, Rare<Probe>, Rare<OtherOp>>
        what;

    /// nullptr: it is something else.
    template <class T>
    [[nodiscard]] const T* as() const {
        if constexpr (std::is_same_v<T, Produce> || std::is_same_v<T, Poll>) {
            return std::get_if<T>(&what);
        } else {
            const auto* rare = std::get_if<Rare<T>>(&what);
            return rare == nullptr ? nullptr : &**rare;
        }
    }
    template <class T>
    [[nodiscard]] T* as() {
        return const_cast<T*>(std::as_const(*this).template as<T>());
    }
};

struct History {
    HistoryMeta meta;
    std::vector<std::string> clients;
    std::vector<Operation> operations;
    /// Lines that were believed only in part (a `fail` with an indeterminate code …).
    std::vector<std::string> warnings;
    /// Its writer was killed: what was under way then is missing. Readers set it when the last line is cut
    /// off.
    bool cut_short = false;

    std::int32_t client_index(std::string_view name);
};

/// Reads either format. Errors name file and line.
Result<History> read_history(const std::string& path);
Result<History> parse_history(std::string_view text, const std::string& name);
/// One line without newline, in format highwater/1.
std::string format_meta(const HistoryMeta& meta);
std::string format_operation(const Operation& operation, std::string_view client);

}  // namespace highwater
