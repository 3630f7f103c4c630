// Fills the report's page (results/report_page) with one run's facts and columns.
#include "results/report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>

#include "results/columns.h"
#include "results/markup.h"
#include "results/timeline.h"

namespace highwater::results {

// The page's files, embedded by the build.
extern const std::string_view kReportHtml;
extern const std::string_view kReportCss;
extern const std::string_view kReportDataJs;
extern const std::string_view kReportLanesJs;
extern const std::string_view kReportPageJs;

namespace {

using Json = nlohmann::ordered_json;

/// The page's unit of time: 10 µs, so that 32 bits hold nearly six hours to both sides.
constexpr std::int64_t kTick = 10'000;
/// Anomalies with their sentence on the page; all are counted.
constexpr std::size_t kMostSentences = 60;

std::int32_t clamp32(std::int64_t number) {
    return static_cast<std::int32_t>(std::clamp<std::int64_t>(
        number, std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max()));
}

class Page {
public:
    explicit Page(const ReportInput& input)
        : in_(input), timeline_(make_timeline(input.history, input.trace, input.faults)) {}

    Result<std::string> html() {
        Json facts = head();
        facts["faults"] = faults();
        facts["down"] = down();
        facts["partitions"] = partitions();
        facts["operations"] = operations();
        facts["columns"] = Json::parse(columns_.directory_json());
        const auto packed = columns_.packed();
        if (!packed) return tl::make_unexpected(packed.error());
        return fill(facts, *packed);
    }

private:
    [[nodiscard]] std::int32_t tick(Instant at) const {
        return clamp32((at - timeline_.start).count() / kTick);
    }
    [[nodiscard]] Json tick_or_null(const std::optional<Instant>& at) const {
        return at ? Json(tick(*at)) : Json(nullptr);
    }

    [[nodiscard]] Json head() const {
        const RunResult& result = in_.result;
        const Verdict& verdict = result.verdict;
        Json json{{"scenario", result.scenario},
                  {"title", in_.scenario != nullptr ? in_.scenario->title : ""},
                  {"sut", result.sut},
                  {"seed", std::to_string(result.seed)},
                  {"bugs", in_.bugs},
                  {"verdict", verdict_name(verdict.kind)},
                  {"headline", headline(result)},
                  {"reproduce", in_.reproduce},
                  {"tick_us", kTick / 1000},
                  {"end", tick(timeline_.end)},
                  {"first_fault", tick_or_null(in_.phases.first_fault)},
                  {"healed", tick_or_null(in_.phases.healed)},
                  {"recovered", tick_or_null(in_.phases.recovered)},
                  {"counts", verdict.counts},
                  {"violations", verdict.violations},
                  {"evidence", verdict.evidence},
                  {"findings", result.findings},
                  {"warnings", verdict.warnings},
                  {"unchecked", unchecked()},
                  {"measures", measures()},
                  {"config", config()},
                  {"sentences", sentences()},
                  {"reasons", Json::array()}};
        for (std::size_t i = 0; i < verdict.reasons.size(); ++i) {
            const bool told = i < verdict.reason_details.size();
            json["reasons"].push_back({verdict.reasons[i], told ? verdict.reason_details[i] : ""});
        }
        return json;
    }

    [[nodiscard]] Json unchecked() const {
        Json json = Json::array();
        for (const Unchecked& one : in_.result.verdict.unchecked)
            json.push_back(Json::array({one.name, one.why}));
        return json;
    }

    [[nodiscard]] Json measures() const {
        const Measures& measures = in_.result.measures;
        Json json{{"acked", measures.acked}, {"rejected", measures.rejected}};
        if (measures.unavailable_ms) json["unavailable_ms"] = *measures.unavailable_ms;
        if (measures.recovery_ms) json["recovery_ms"] = *measures.recovery_ms;
        return json;
    }

    [[nodiscard]] Json config() const {
        const HistoryMeta& meta = in_.history.meta;
        Json json{{"replicas", meta.replication_factor},
                  {"min.insync.replicas", meta.min_isr},
                  {"unclean.leader.election.enable", meta.unclean},
                  {"acks", meta.acks}};
        if (in_.scenario == nullptr) return json;
        json["brokers"] = in_.scenario->cluster.brokers;
        for (const auto& [key, value] : in_.scenario->cluster.properties) json[key] = value;
        for (const auto& [key, value] : in_.scenario->topic.configs) json[key] = value;
        return json;
    }

    /// Violations first, as the verdict has them; `t` is where the page jumps to.
    [[nodiscard]] Json sentences() const {
        Json json = Json::array();
        for (const Anomaly& anomaly : in_.result.verdict.anomalies) {
            if (json.size() >= kMostSentences) break;
            std::optional<Instant> at;
            for (const std::size_t op : anomaly.operations) {
                if (op >= in_.history.operations.size()) continue;
                const Instant completed = in_.history.operations[op].completed;
                at = std::min(at.value_or(completed), completed);
            }
            json.push_back({{"kind", anomaly.kind},
                            {"allowed", anomaly.allowed},
                            {"partition", anomaly.partition},
                            {"sentence", anomaly.sentence},
                            {"context", anomaly.context},
                            {"t", tick_or_null(at)}});
        }
        return json;
    }

    [[nodiscard]] Json faults() const {
        Json json = Json::array();
        for (const FaultRecord& fault : in_.faults) {
            json.push_back(
                {{"id", fault.id},
                 {"kind", fault_kind_name(fault.kind)},
                 {"asked", fault.asked},
                 {"struck", fault.struck()},
                 {"requested", tick(fault.requested)},
                 {"effective", tick(fault.effective)},
                 {"completed", tick_or_null(fault.completed)},
                 {"end", tick_or_null(end_of_fault(fault, timeline_, in_.phases.healed, in_.faults))},
                 {"ok", fault.ok},
                 {"detail", fault.detail}});
        }
        return json;
    }

    [[nodiscard]] Json down() const {
        Json json = Json::array();
        for (const DownTime& down : timeline_.down) {
            json.push_back({down.process, tick(down.from), tick_or_null(down.until)});
        }
        return json;
    }

    Json partitions() {
        Json json = Json::array();
        for (const PartitionTimeline& partition : timeline_.partitions) {
            Json changes = Json::array();
            for (const LeaderChange& change : partition.changes) {
                changes.push_back({{"t", tick(change.at)},
                                   {"leader", change.leader},
                                   {"epoch", change.epoch},
                                   {"isr", change.isr},
                                   {"unclean", change.unclean},
                                   {"cause", change.cause}});
            }
            Json replicas = Json::array();
            for (const ReplicaLine& line : partition.replicas) {
                replicas.push_back({{"broker", line.broker},
                                    {"leo", steps(line.log_end_offset)},
                                    {"hw", steps(line.high_watermark)}});
            }
            json.push_back(
                {{"partition", partition.partition}, {"changes", changes}, {"replicas", replicas}});
        }
        return json;
    }

    /// Columns of times and values.
    Json steps(const Steps& steps) {
        std::vector<std::int32_t> at;
        std::vector<std::int32_t> value;
        at.reserve(steps.at.size());
        value.reserve(steps.at.size());
        for (const Instant instant : steps.at) at.push_back(tick(instant));
        for (const Offset offset : steps.value) value.push_back(clamp32(offset));
        const std::size_t at_column = columns_.add(at, true);
        return {at_column, columns_.add(value, true)};
    }

    /// Appends and reads in the order of their completion.
    Json operations() {
        const std::vector<Operation>& all = in_.history.operations;
        std::vector<std::uint32_t> order;
        for (std::size_t i = 0; i < all.size(); ++i) {
            const bool drawn =
                std::holds_alternative<Produce>(all[i].what) || std::holds_alternative<Poll>(all[i].what);
            if (drawn) order.push_back(static_cast<std::uint32_t>(i));
        }
        std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
            return all[a].completed < all[b].completed;
        });
        constexpr std::array kNames{"time",   "latency", "what",     "partition", "offset",
                                    "broker", "client",  "producer", "number",    "error"};
        std::array<std::vector<std::int32_t>, kNames.size()> columns;
        for (const std::uint32_t index : order) {
            const auto row = row_of(all[index]);
            for (std::size_t i = 0; i < columns.size(); ++i) columns[i].push_back(row[i]);
        }
        Json json{{"count", order.size()}, {"clients", in_.history.clients}, {"errors", error_names_}};
        for (std::size_t i = 0; i < columns.size(); ++i) {
            // Numbers that grow: time, offset, value.
            const std::string_view name = kNames[i];
            json[kNames[i]] =
                columns_.add(columns[i], name == "time" || name == "offset" || name == "number");
        }
        return json;
    }

    /// `what`: outcome (0 ok, 1 fail, 2 info) + 4 × (0 produce, 1 poll) + 8 × (acks + 1) + 32 for final
    /// reads. `number`: of the value, or how many records were read. Latency in microseconds.
    std::array<std::int32_t, 10> row_of(const Operation& operation) {
        const std::int32_t latency =
            clamp32((operation.completed - operation.invoked) / std::chrono::microseconds(1));
        const std::int32_t time = tick(operation.completed);
        if (const auto* produce = std::get_if<Produce>(&operation.what)) {
            const std::int16_t acks = produce->acks.value_or(acks_of_run());
            const std::int32_t what = static_cast<std::int32_t>(produce->status) + 8 * (acks + 1);
            return {time,
                    latency,
                    what,
                    produce->partition,
                    clamp32(produce->offset),
                    produce->broker,
                    operation.client,
                    clamp32(produce->value >> 40),
                    clamp32(produce->value & ((Value{1} << 40) - 1)),
                    error_number(std::string(produce->error.view()))};
        }
        const auto& poll = std::get<Poll>(operation.what);
        const std::int32_t what = static_cast<std::int32_t>(poll.status) + 4 + (poll.final ? 32 : 0);
        return {time,
                latency,
                what,
                poll.partition,
                clamp32(poll.from),
                poll.broker,
                operation.client,
                0,
                clamp32(static_cast<std::int64_t>(poll.records.size())),
                error_number(std::string(poll.error.view()))};
    }

    [[nodiscard]] std::int16_t acks_of_run() const {
        const std::string& acks = in_.history.meta.acks;
        if (acks == "1" || acks == "0") return acks == "1" ? std::int16_t{1} : std::int16_t{0};
        return -1;
    }

    std::int32_t error_number(const std::string& error) {
        const auto [found, fresh] =
            errors_.try_emplace(error, static_cast<std::int32_t>(error_names_.size()));
        if (fresh) error_names_.push_back(error);
        return found->second;
    }

    [[nodiscard]] std::string fill(const Json& facts, const std::string& packed) const;

    const ReportInput& in_;
    Timeline timeline_;
    Columns columns_;
    std::map<std::string, std::int32_t> errors_;
    std::vector<std::string> error_names_;
};

/// JSON inside <script>: no "<" can end the element. Text that is no UTF-8 is replaced, not refused.
std::string script_json(const Json& json) {
    std::string text = json.dump(-1, ' ', false, Json::error_handler_t::replace);
    std::string out;
    for (const char c : text) {
        if (c == '<') {
            out += "\\u003c";
        } else {
            out += c;
        }
    }
    return out;
}

std::string Page::fill(const Json& facts, const std::string& packed) const {
    const std::string text = fmt::format("{}\nAgain: {}\n", run_result_to_text(in_.result), in_.reproduce);
    const std::map<std::string_view, std::string> slots{
        {"title",
         escaped(fmt::format("{} · {}", in_.result.scenario, verdict_name(in_.result.verdict.kind)))},
        {"text", escaped(text)},
        {"css", std::string(kReportCss)},
        {"js", fmt::format("{}\n{}\n{}", kReportDataJs, kReportLanesJs, kReportPageJs)},
        {"facts", script_json(facts)},
        {"columns", packed}};
    std::string page;
    std::string_view rest = kReportHtml;
    while (true) {
        const std::size_t open = rest.find("{{");
        const std::size_t close = rest.find("}}", open == std::string_view::npos ? 0 : open);
        if (open == std::string_view::npos || close == std::string_view::npos) break;
        page += rest.substr(0, open);
        page += slots.at(rest.substr(open + 2, close - open - 2));
        rest.remove_prefix(close + 2);
    }
    page += rest;
    return page;
}

std::int64_t evidence(const Verdict& verdict, const std::string& name) {
    const auto found = verdict.evidence.find(name);
    return found == verdict.evidence.end() ? 0 : found->second;
}

}  // namespace

Result<std::string> report_html(const ReportInput& input) { return Page(input).html(); }

std::string headline(const RunResult& result) {
    const Verdict& verdict = result.verdict;
    if (verdict.kind == VerdictKind::Invalid) {
        for (const Anomaly& anomaly : verdict.anomalies) {
            if (!anomaly.allowed && !anomaly.sentence.empty()) return anomaly.sentence;
        }
        return fmt::format("forbidden here, and seen: {}", fmt::join(verdict.violations, ", "));
    }
    if (verdict.kind == VerdictKind::Unknown) {
        for (const std::string& detail : verdict.reason_details) {
            if (!detail.empty()) return detail;
        }
        return fmt::format("the run proves too little: {}", fmt::join(verdict.reasons, ", "));
    }
    std::string allowed;
    for (const auto& [kind, count] : verdict.counts) {
        if (count > 0) allowed += fmt::format("{}{} {}", allowed.empty() ? "" : ", ", count, kind);
    }
    return fmt::format(
        "nothing forbidden was seen: {} appends acknowledged, {} records read, {} faults took effect{}{}",
        evidence(verdict, "acked") + evidence(verdict, "acked_weak"), evidence(verdict, "read"),
        evidence(verdict, "fault"), allowed.empty() ? "" : "; allowed by this configuration: ", allowed);
}

}  // namespace highwater::results
