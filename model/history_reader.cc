// Reads a history: the golden files' hw-neutral/0 (milliseconds) and highwater/1 (nanoseconds). Junk is one
// message that names file and line, never a crash; unknown fields are ignored, unknown operations kept as
// OtherOp.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <unordered_map>

#include "model/flat_line.h"
#include "model/history.h"
#include "model/json_fields.h"
#include "model/text_file.h"

namespace highwater {
namespace {

using json::Element;
using json::FieldError;
using json::wrong;

constexpr std::int64_t kNanosPerMilli = 1'000'000;
/// How many lines tell how long the lines of a file are.
constexpr std::size_t kSampledLines = 4096;

/// Codes after which the record may be in the log: a `fail` with one of them is no evidence of failure.
bool indeterminate(std::string_view error) {
    // clang-format off
    static constexpr auto names = std::to_array<std::string_view>({
        "REQUEST_TIMED_OUT", "7", "NOT_LEADER_OR_FOLLOWER", "NOT_LEADER_FOR_PARTITION", "6",
        "NOT_ENOUGH_REPLICAS_AFTER_APPEND", "20", "UNKNOWN_SERVER_ERROR", "UNKNOWN", "-1",
        "KAFKA_STORAGE_ERROR", "56", "OUT_OF_ORDER_SEQUENCE_NUMBER", "45", "NETWORK_EXCEPTION",
        "DISCONNECT", "DISCONNECTED", "TRANSPORT", "_TRANSPORT", "MSG_TIMED_OUT", "_MSG_TIMED_OUT",
        "TIMED_OUT", "_TIMED_OUT", "TIMEOUT", "CLIENT_TIMEOUT", "NOT_PERSISTED", "connection lost",
        "client timeout", "oversized frame", "timeout"});
    // clang-format on
    return std::find(names.begin(), names.end(), error) != names.end();
}

/// The fields of one line before it is known which operation it is.
struct Line {
    std::string op;
    std::string client;
    std::optional<Element> t0, t, partition, value, status, offset, acks, error, seq, broker, records, from,
        hw, log_start, lso, isolation, final, complete, follower, which, epoch, isr, replicas, leader,
        unclean, config, sampled, kind, target, id, detail, pairs, ok, src, dst;
};

using Slot = std::optional<Element> Line::*;
const std::unordered_map<std::string_view, Slot>& slots() {
    // clang-format off
    static const std::unordered_map<std::string_view, Slot> table{
        {"t0", &Line::t0}, {"t", &Line::t}, {"partition", &Line::partition}, {"value", &Line::value},
        {"status", &Line::status}, {"offset", &Line::offset}, {"acks", &Line::acks},
        {"error", &Line::error}, {"seq", &Line::seq}, {"broker", &Line::broker},
        {"records", &Line::records}, {"from", &Line::from}, {"hw", &Line::hw},
        {"log_start", &Line::log_start}, {"lso", &Line::lso}, {"isolation", &Line::isolation},
        {"final", &Line::final}, {"complete", &Line::complete}, {"follower", &Line::follower},
        {"which", &Line::which}, {"epoch", &Line::epoch}, {"isr", &Line::isr},
        {"replicas", &Line::replicas}, {"leader", &Line::leader}, {"unclean", &Line::unclean},
        {"config", &Line::config}, {"sampled", &Line::sampled}, {"kind", &Line::kind},
        {"target", &Line::target}, {"id", &Line::id}, {"detail", &Line::detail}, {"pairs", &Line::pairs},
        {"ok", &Line::ok}, {"src", &Line::src}, {"dst", &Line::dst}};
    // clang-format on
    return table;
}

/// Text of a field that foreign writers also give as a number.
std::string loose_text(std::string_view key, Element value) {
    if (value.is_null()) return "";
    if (value.is_string()) return std::string(json::to_text(key, value));
    return fmt::format("{}", json::to_integer(key, value));
}

std::int16_t to_acks(Element value) {
    const std::string text = loose_text("acks", value);
    if (text == "all" || text == "-1") return -1;
    if (text == "0") return 0;
    if (text == "1") return 1;
    wrong("acks", "all, 1 or 0");
}

class HistoryReader {
public:
    explicit HistoryReader(std::string name) : name_(std::move(name)) {}

    /// How many bytes the lines will be, if known: room for them is made once.
    void expect(std::uint64_t bytes) { expected_bytes_ = bytes; }
    /// `terminated`: a newline ended the line.
    Status read(std::string_view line, std::size_t number, bool terminated);
    /// What the lines added up to; a history without a meta line is an error.
    Result<History> take();

private:
    void make_room(std::size_t line_bytes);
    /// False: the line does not have the common shape.
    bool read_flat(std::string_view line);
    bool flat_produce(Produce& produce, Instant invoked);
    bool flat_poll(Poll& poll) const;
    Status read_line(Element root);
    void read_meta(Element value);
    void read_operation(Element root);
    Line split(simdjson::dom::object object);
    Instant time(std::string_view key, Element value) const;
    std::int32_t client(std::string_view name);
    void doubt(Produce& produce, Instant invoked);

    Produce produce(const Line& line, Instant invoked);
    static Poll poll(const Line& line);
    static ListOffsets list_offsets(const Line& line);
    static Observe observe(const Line& line);
    static FaultOp fault(const Line& line);
    static Probe probe(const Line& line);
    static OtherOp other(const Line& line, simdjson::dom::object object);

    std::string name_;
    History history_;
    bool meta_seen_ = false;
    bool milliseconds_ = false;
    std::map<std::string, std::int32_t, std::less<>> clients_;
    std::int32_t last_client_ = -1;
    FlatLine flat_;
    simdjson::dom::parser parser_;
    std::uint64_t expected_bytes_ = 0;
    std::uint64_t sampled_bytes_ = 0;
    std::size_t sampled_lines_ = 0;
    std::int64_t doubted_fails_ = 0;
    std::string first_doubt_;
};

Status HistoryReader::read(std::string_view line, std::size_t number, bool terminated) {
    make_room(line.size() + 1);
    if (meta_seen_ && !milliseconds_ && read_flat(line)) return {};
    Element root;
    const auto error = parser_.parse(line.data(), line.size()).get(root);
    if (error != simdjson::SUCCESS) {
        // Lines are written whole: only a writer that was killed leaves one cut.
        if (meta_seen_ && !terminated) {
            history_.cut_short = true;
            return {};
        }
        return failure(fmt::format("{}:{}: not JSON: {}", name_, number, simdjson::error_message(error)));
    }
    if (Status status = read_line(root); !status)
        return failure(fmt::format("{}:{}", name_, number), status.error());
    return {};
}

/// Once the length of a line can be told: growing a large vector would hold it twice for a moment.
void HistoryReader::make_room(std::size_t line_bytes) {
    if (expected_bytes_ == 0) return;
    sampled_bytes_ += line_bytes;
    if (++sampled_lines_ < kSampledLines) return;
    history_.operations.reserve(expected_bytes_ * sampled_lines_ / sampled_bytes_ * 21 / 20);
    expected_bytes_ = 0;
}

Status HistoryReader::read_line(Element root) {
    try {
        simdjson::dom::object object;
        if (root.get(object) != simdjson::SUCCESS) return failure("expected a JSON object");
        Element meta;
        if (object["meta"].get(meta) == simdjson::SUCCESS) {
            if (meta_seen_) return failure("a second meta line");
            read_meta(meta);
        } else if (!meta_seen_) {
            return failure("the first line must be {\"meta\":{…}}");
        } else {
            read_operation(root);
        }
    } catch (const FieldError& error) {
        return failure(error.message);
    } catch (const simdjson::simdjson_error& error) {
        return failure(error.what());
    }
    return {};
}

void HistoryReader::read_meta(Element value) {
    simdjson::dom::object object;
    if (value.get(object) != simdjson::SUCCESS) wrong("meta", "an object");
    HistoryMeta& meta = history_.meta;
    meta.format.clear();
    for (const auto [key, field] : object) {
        if (key == "case")
            meta.case_name = json::to_text(key, field);
        else if (key == "fmt")
            meta.format = json::to_text(key, field);
        else if (key == "kind")
            meta.kind = json::to_text(key, field);
        else if (key == "run_id")
            meta.run_id = json::to_text(key, field);
        else if (key == "broker")
            meta.broker = json::to_text(key, field);
        else if (key == "rf")
            meta.replication_factor = json::to_number<std::int32_t>(key, field);
        else if (key == "min_isr")
            meta.min_isr = json::to_number<std::int32_t>(key, field);
        else if (key == "acks")
            meta.acks = loose_text(key, field);
        else if (key == "unclean")
            meta.unclean = json::to_bool(key, field);
        else if (key == "elr")
            meta.elr = json::to_bool(key, field);
        else if (key == "idempotence")
            meta.idempotence = json::to_bool(key, field);
        else if (key == "retries")
            meta.retries = json::to_number<std::int32_t>(key, field);
        else if (key == "max_in_flight")
            meta.max_in_flight = json::to_number<std::int32_t>(key, field);
        else if (key == "isolation")
            meta.isolation = json::to_text(key, field);
        else if (key == "consumer")
            meta.consumer = json::to_text(key, field);
        else if (key == "offset_report")
            meta.offset_report = json::to_text(key, field);
        else if (key == "reads")
            meta.reads = json::to_text(key, field);
        else if (key == "needs")
            meta.needs = json::to_text(key, field);
        else if (key == "retention")
            meta.retention = json::to_bool(key, field);
        else if (key == "sample_limit")
            meta.sample_limit = json::to_integer(key, field);
        else if (key == "preexisting") {
            if (field.is_array())
                meta.preexisting_values = json::to_numbers<Value>(key, field);
            else
                meta.preexisting = json::to_bool(key, field);
        }
    }
    if (meta.format != "highwater/1" && meta.format != "hw-neutral/0") {
        throw FieldError{
            fmt::format("unknown format \"{}\": highwater/1 and hw-neutral/0 are read", meta.format)};
    }
    if (meta.kind != "history") throw FieldError{fmt::format("this is a {}, not a history", meta.kind)};
    milliseconds_ = meta.format == "hw-neutral/0";
    meta_seen_ = true;
}

Line HistoryReader::split(simdjson::dom::object object) {
    Line line;
    for (const auto [key, value] : object) {
        if (key == "op") {
            line.op = json::to_text(key, value);
        } else if (key == "client") {
            line.client = loose_text(key, value);
        } else if (const auto slot = slots().find(key); slot != slots().end()) {
            line.*(slot->second) = value;
        }
    }
    return line;
}

Instant HistoryReader::time(std::string_view key, Element value) const {
    const std::int64_t scale = milliseconds_ ? kNanosPerMilli : 1;
    constexpr std::int64_t limit = std::numeric_limits<std::int64_t>::max();
    if (value.is_double()) {
        double number = 0;
        if (value.get(number) != simdjson::SUCCESS) wrong(key, "a time");
        const double ns = std::round(number * static_cast<double>(scale));
        if (!(std::abs(ns) < static_cast<double>(limit / 2))) wrong(key, "a time within 146 years");
        return {static_cast<std::int64_t>(ns)};
    }
    const std::int64_t number = json::to_integer(key, value);
    if (number > limit / 2 / scale || number < -(limit / 2 / scale)) wrong(key, "a time within 146 years");
    return {number * scale};
}

std::int32_t HistoryReader::client(std::string_view name) {
    if (last_client_ >= 0 && history_.clients[static_cast<std::size_t>(last_client_)] == name)
        return last_client_;
    const auto known = clients_.find(name);
    if (known != clients_.end()) return last_client_ = known->second;
    last_client_ = static_cast<std::int32_t>(history_.clients.size());
    clients_.emplace(name, last_client_);
    history_.clients.emplace_back(name);
    return last_client_;
}

bool HistoryReader::read_flat(std::string_view line) {
    if (!flat_.read(line) || !flat_.has(FlatNumber::T)) return false;
    const std::string_view op = flat_.text(FlatText::Op);
    const Instant completed{flat_.number(FlatNumber::T, 0)};
    const Instant invoked{flat_.number(FlatNumber::T0, completed.ns)};
    const std::int64_t partition = flat_.number(FlatNumber::Partition, 0);
    const std::int64_t broker = flat_.number(FlatNumber::Broker, kNoBroker);
    constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
    if (partition < 0 || partition > most || broker < -most || broker > most) return false;
    Operation& operation = history_.operations.emplace_back();
    operation.invoked = invoked;
    operation.completed = completed;
    bool understood = false;
    if (op == "produce") {
        auto& produce = operation.what.emplace<Produce>();
        produce.partition = static_cast<std::int32_t>(partition);
        produce.broker = static_cast<BrokerId>(broker);
        understood = flat_produce(produce, invoked);
    } else if (op == "poll") {
        auto& poll = operation.what.emplace<Poll>();
        poll.partition = static_cast<std::int32_t>(partition);
        poll.broker = static_cast<BrokerId>(broker);
        understood = flat_poll(poll);
    }
    if (understood)
        operation.client = client(flat_.text(FlatText::Client));
    else
        history_.operations.pop_back();
    return understood;
}

/// False for a text that is no outcome; `absent` for an empty one.
bool flat_outcome(std::string_view text, Outcome absent, Outcome& outcome) {
    outcome = absent;
    if (text == "ok")
        outcome = Outcome::Ok;
    else if (text == "fail")
        outcome = Outcome::Fail;
    else if (text == "info")
        outcome = Outcome::Info;
    else
        return text.empty();
    return true;
}

Offset known_or_not(std::int64_t offset) { return offset < 0 ? kUnknownOffset : offset; }

bool HistoryReader::flat_produce(Produce& produce, Instant invoked) {
    if (!flat_.has(FlatNumber::TheValue)) return false;
    if (!flat_outcome(flat_.text(FlatText::TheStatus), Outcome::Info, produce.status)) return false;
    if (flat_.has(FlatNumber::Acks)) {
        const std::int64_t acks = flat_.number(FlatNumber::Acks, 0);
        if (acks < -1 || acks > 1) return false;
        produce.acks = static_cast<std::int16_t>(acks);
    }
    produce.value = flat_.number(FlatNumber::TheValue, 0);
    produce.offset = known_or_not(flat_.number(FlatNumber::TheOffset, kUnknownOffset));
    if (flat_.has(FlatNumber::Seq)) produce.sequence = flat_.number(FlatNumber::Seq, 0);
    produce.error = flat_.text(FlatText::Error);
    doubt(produce, invoked);
    return true;
}

bool HistoryReader::flat_poll(Poll& poll) const {
    if (!flat_outcome(flat_.text(FlatText::TheStatus), Outcome::Ok, poll.status)) return false;
    poll.records = flat_.records();
    poll.from = known_or_not(flat_.number(FlatNumber::From, kUnknownOffset));
    poll.high_watermark = known_or_not(flat_.number(FlatNumber::Hw, kUnknownOffset));
    poll.log_start = known_or_not(flat_.number(FlatNumber::LogStart, kUnknownOffset));
    poll.last_stable_offset = known_or_not(flat_.number(FlatNumber::Lso, kUnknownOffset));
    poll.isolation = flat_.text(FlatText::Isolation);
    poll.error = flat_.text(FlatText::Error);
    poll.from_follower = flat_.flag(FlatFlag::Follower);
    poll.final = flat_.flag(FlatFlag::Final);
    poll.complete = flat_.flag(FlatFlag::Complete);
    return true;
}

void HistoryReader::read_operation(Element root) {
    simdjson::dom::object object;
    if (root.get(object) != simdjson::SUCCESS) return;  // read_line has looked
    const Line line = split(object);
    if (line.op.empty()) throw FieldError{"no field \"op\""};
    if (!line.t) throw FieldError{"no field \"t\""};
    Operation operation;
    operation.completed = time("t", *line.t);
    operation.invoked = line.t0 ? time("t0", *line.t0) : operation.completed;
    operation.client = client(line.client);
    if (line.op == "produce")
        operation.what = produce(line, operation.invoked);
    else if (line.op == "poll")
        operation.what = poll(line);
    else if (line.op == "list_offsets")
        operation.what = list_offsets(line);
    else if (line.op == "observe")
        operation.what = observe(line);
    else if (line.op == "fault")
        operation.what = fault(line);
    else if (line.op == "probe")
        operation.what = probe(line);
    else
        operation.what = other(line, object);
    history_.operations.push_back(std::move(operation));
}

Outcome to_outcome(const std::optional<Element>& status, Outcome absent) {
    if (!status) return absent;
    const std::string_view text = json::to_text("status", *status);
    if (text == "ok") return Outcome::Ok;
    if (text == "fail") return Outcome::Fail;
    if (text == "info") return Outcome::Info;
    wrong("status", "ok, fail or info");
}

std::int32_t to_partition(const Line& line) {
    const auto partition = line.partition ? json::to_number<std::int32_t>("partition", *line.partition) : 0;
    if (partition < 0) wrong("partition", "a number from 0");
    return partition;
}

BrokerId to_broker(const std::optional<Element>& field, std::string_view key = "broker") {
    return field && !field->is_null() ? json::to_number<BrokerId>(key, *field) : kNoBroker;
}

Offset to_known_offset(const std::optional<Element>& field, std::string_view key) {
    return field ? json::to_offset(key, *field) : kUnknownOffset;
}

Produce HistoryReader::produce(const Line& line, Instant invoked) {
    if (!line.value) throw FieldError{"a produce without a value"};
    Produce produce;
    produce.partition = to_partition(line);
    produce.value = json::to_integer("value", *line.value);
    produce.status = to_outcome(line.status, Outcome::Info);
    produce.offset = to_known_offset(line.offset, "offset");
    if (line.acks && !line.acks->is_null()) produce.acks = to_acks(*line.acks);
    if (line.error) produce.error = loose_text("error", *line.error);
    if (line.seq && !line.seq->is_null()) produce.sequence = json::to_integer("seq", *line.seq);
    produce.broker = to_broker(line.broker);
    doubt(produce, invoked);
    return produce;
}

void HistoryReader::doubt(Produce& produce, Instant invoked) {
    if (produce.status != Outcome::Fail || !indeterminate(produce.error.view())) return;
    // Our own client sends one request: with acks=1 a leader answers 6 only before the append.
    const bool ours =
        !milliseconds_ && produce.acks.value_or(-1) != -1 && produce.error == "NOT_LEADER_OR_FOLLOWER";
    if (ours) return;
    produce.status = Outcome::Info;
    if (doubted_fails_++ > 0) return;
    first_doubt_ = fmt::format("value {} called at {} ns, {}", value_text(produce.value), invoked.ns,
                               produce.error.view());
}

Poll HistoryReader::poll(const Line& line) {
    Poll poll;
    poll.partition = to_partition(line);
    poll.status = to_outcome(line.status, Outcome::Ok);
    if (line.records && !line.records->is_null()) {
        const auto array = json::to_array("records", *line.records);
        poll.records.reserve(array.size());
        for (const Element pair : array) {
            const auto record = json::to_array("records", pair);
            if (record.size() < 2) wrong("records", "pairs of offset and value");
            const Offset offset = json::to_integer("records", record.at(0));
            if (offset < 0) wrong("records", "offsets from 0");
            poll.records.push_back({offset, json::to_integer("records", record.at(1))});
        }
    }
    if (line.from && line.from->is_string()) {
        // "follower:3": who answered, not where the read began.
        const std::string_view text = json::to_text("from", *line.from);
        poll.from_follower = text.starts_with("follower");
        const std::size_t colon = text.find(':');
        if (colon != std::string_view::npos) {
            std::from_chars(text.data() + colon + 1, text.data() + text.size(), poll.broker);
        }
    } else {
        poll.from = to_known_offset(line.from, "from");
    }
    poll.high_watermark = to_known_offset(line.hw, "hw");
    poll.log_start = to_known_offset(line.log_start, "log_start");
    poll.last_stable_offset = to_known_offset(line.lso, "lso");
    if (line.isolation) poll.isolation = RareText(json::to_text("isolation", *line.isolation));
    if (line.error) poll.error = loose_text("error", *line.error);
    if (line.broker) poll.broker = to_broker(line.broker);
    if (line.follower) poll.from_follower = json::to_bool("follower", *line.follower);
    if (line.final) poll.final = json::to_bool("final", *line.final);
    if (line.complete) poll.complete = json::to_bool("complete", *line.complete);
    return poll;
}

ListOffsets HistoryReader::list_offsets(const Line& line) {
    ListOffsets list;
    list.partition = to_partition(line);
    if (line.which) list.which = json::to_text("which", *line.which);
    list.status = to_outcome(line.status, Outcome::Ok);
    list.offset = to_known_offset(line.offset, "offset");
    if (line.epoch && !line.epoch->is_null()) list.epoch = json::to_number<LeaderEpoch>("epoch", *line.epoch);
    if (line.error) list.error = loose_text("error", *line.error);
    list.broker = to_broker(line.broker);
    return list;
}

Observe HistoryReader::observe(const Line& line) {
    Observe observe;
    observe.partition = to_partition(line);
    if (line.isr) observe.isr = json::to_numbers<BrokerId>("isr", *line.isr);
    if (line.replicas) observe.replicas = json::to_numbers<BrokerId>("replicas", *line.replicas);
    if (line.leader) observe.leader = to_broker(line.leader, "leader");
    if (line.epoch && !line.epoch->is_null())
        observe.epoch = json::to_number<LeaderEpoch>("epoch", *line.epoch);
    if (line.unclean) observe.unclean = json::to_bool("unclean", *line.unclean);
    if (line.config) {
        observe.config_json = simdjson::minify(*line.config);
        Element min_isr;
        simdjson::dom::object config;
        if (line.config->get(config) == simdjson::SUCCESS &&
            config["min_isr"].get(min_isr) == simdjson::SUCCESS) {
            observe.config_min_isr = json::to_number<std::int32_t>("min_isr", min_isr);
        }
    }
    observe.log_start = to_known_offset(line.log_start, "log_start");
    observe.broker = to_broker(line.broker);
    if (line.sampled) observe.sampled = json::to_bool("sampled", *line.sampled);
    return observe;
}

FaultOp HistoryReader::fault(const Line& line) {
    FaultOp fault;
    if (line.kind) fault.kind = json::to_text("kind", *line.kind);
    if (line.target) {
        if (line.target->is_array()) {
            for (const Element item : json::to_array("target", *line.target)) {
                fault.target +=
                    fmt::format("{}{}", fault.target.empty() ? "" : ",", loose_text("target", item));
            }
        } else {
            fault.target = loose_text("target", *line.target);
        }
    }
    if (line.id) fault.id = loose_text("id", *line.id);
    if (line.status) fault.status = json::to_text("status", *line.status);
    if (line.detail) fault.detail = loose_text("detail", *line.detail);
    if (line.error && fault.detail.empty()) fault.detail = loose_text("error", *line.error);
    if (line.pairs) {
        for (const auto& pair : json::to_tuples("pairs", *line.pairs, 2)) {
            fault.paths.emplace_back(static_cast<BrokerId>(pair[0]), static_cast<BrokerId>(pair[1]));
        }
    }
    return fault;
}

Probe HistoryReader::probe(const Line& line) {
    Probe probe;
    if (line.ok)
        probe.ok = json::to_bool("ok", *line.ok);
    else if (line.status)
        probe.ok = to_outcome(line.status, Outcome::Info) == Outcome::Ok;
    if (line.detail) probe.detail = loose_text("detail", *line.detail);
    probe.source = to_broker(line.src, "src");
    probe.destination = to_broker(line.dst, "dst");
    return probe;
}

OtherOp HistoryReader::other(const Line& line, simdjson::dom::object object) {
    OtherOp other;
    other.op = line.op;
    for (const auto [key, value] : object) {
        if (key == "op" || key == "client" || key == "t" || key == "t0") continue;
        other.json += fmt::format("{}\"{}\":{}", other.json.empty() ? "" : ",", key, simdjson::minify(value));
    }
    return other;
}

Result<History> HistoryReader::take() {
    if (!meta_seen_) return failure(name_ + ": empty: not even a meta line");
    if (doubted_fails_ > 0) {
        history_.warnings.push_back(fmt::format(
            "{} appends recorded as fail carry a code after which the record may be in the log; read as "
            "info (first: {})",
            doubted_fails_, first_doubt_));
    }
    return std::move(history_);
}

}  // namespace

Result<History> parse_history(std::string_view text, const std::string& name) {
    HistoryReader reader(name);
    reader.expect(text.size());
    const Status status =
        for_each_line(text, [&](std::string_view line, std::size_t number, bool terminated) {
            return reader.read(line, number, terminated);
        });
    if (!status) return tl::make_unexpected(status.error());
    return reader.take();
}

Result<History> read_history(const std::string& path) {
    HistoryReader reader(path);
    const Status status = for_each_line_of_file(
        path, [&](std::uint64_t bytes) { reader.expect(bytes); },
        [&](std::string_view line, std::size_t number, bool terminated) {
            return reader.read(line, number, terminated);
        });
    if (!status) return tl::make_unexpected(status.error());
    return reader.take();
}

}  // namespace highwater
