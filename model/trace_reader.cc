// Reads white-box trace files, one node's each, and merges them into one order.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <tuple>
#include <unordered_map>

#include "base/partition.h"
#include "model/json_fields.h"
#include "model/text_file.h"
#include "model/trace.h"

namespace highwater {
namespace {

using json::Element;
using json::FieldError;

constexpr std::array<std::string_view, 26> kKindNames{
    "start",        "registered",    "stop",     "role",      "append",    "hw",
    "isr-proposed", "isr-committed", "truncate", "following", "ack",       "serve",
    "offline",      "checkpoint",    "register", "fence",     "unfence",   "shutting-down",
    "partition",    "topic-deleted", "config",   "bug",       "invariant", "log-end",
    "sample",       "registration"};

void read_partition_name(std::string_view name, TraceEvent& event) {
    auto parsed = TopicPartition::parse(name);
    if (!parsed) json::wrong("p", "topic-partition");
    event.topic = std::move(parsed->topic);
    event.partition = parsed->partition;
}

std::vector<OffsetAndEpoch> read_table(std::string_view key, Element value) {
    std::vector<OffsetAndEpoch> table;
    for (const auto& pair : json::to_tuples(key, value, 2)) {
        table.push_back({.offset = pair[1], .epoch = static_cast<LeaderEpoch>(pair[0])});
    }
    return table;
}

std::vector<TraceReplica> read_replicas(std::string_view key, Element value) {
    std::vector<TraceReplica> replicas;
    for (const auto& tuple : json::to_tuples(key, value, 2)) {
        TraceReplica replica;
        replica.id = static_cast<BrokerId>(tuple[0]);
        replica.log_end_offset = tuple[1];
        if (tuple.size() > 2) replica.behind = Duration{tuple[2]};
        replicas.push_back(replica);
    }
    return replicas;
}

using FieldReader = void (*)(TraceEvent&, std::string_view, Element);

/// Keys that mean the same wherever they stand.
const std::unordered_map<std::string_view, FieldReader>& fields() {
    using E = TraceEvent&;
    using K = std::string_view;
    using V = Element;
    static const std::unordered_map<std::string_view, FieldReader> table{
        {"t", [](E e, K k, V v) { e.at = {json::to_integer(k, v)}; }},
        {"n", [](E e, K k, V v) { e.node = json::to_number<BrokerId>(k, v); }},
        {"i", [](E e, K k, V v) { e.incarnation = json::to_number<std::int32_t>(k, v); }},
        {"s", [](E e, K k, V v) { e.sequence = json::to_integer(k, v); }},
        {"p", [](E e, K k, V v) { read_partition_name(json::to_text(k, v), e); }},
        {"topic", [](E e, K k, V v) { e.topic = json::to_text(k, v); }},
        {"name", [](E e, K k, V v) { e.text = json::to_text(k, v); }},
        {"value", [](E e, K k, V v) { e.value = json::to_text(k, v); }},
        {"role", [](E e, K k, V v) { e.role = json::to_text(k, v); }},
        {"leader", [](E e, K k, V v) { e.leader = json::to_number<BrokerId>(k, v); }},
        {"broker", [](E e, K k, V v) { e.broker = json::to_number<BrokerId>(k, v); }},
        {"broker_epoch", [](E e, K k, V v) { e.broker_epoch = json::to_integer(k, v); }},
        {"epoch", [](E e, K k, V v) { e.epoch = json::to_number<LeaderEpoch>(k, v); }},
        {"partition_epoch", [](E e, K k, V v) { e.partition_epoch = json::to_number<PartitionEpoch>(k, v); }},
        {"leo", [](E e, K k, V v) { e.log_end_offset = json::to_offset(k, v); }},
        {"hw", [](E e, K k, V v) { e.high_watermark = json::to_offset(k, v); }},
        {"end", [](E e, K k, V v) { e.to = json::to_offset(k, v); }},
        {"first", [](E e, K k, V v) { e.first = json::to_offset(k, v); }},
        {"last", [](E e, K k, V v) { e.last = json::to_offset(k, v); }},
        {"epoch_start", [](E e, K k, V v) { e.epoch_start = json::to_offset(k, v); }},
        {"acks",
         [](E e, K k, V v) {
             if (!v.is_null()) e.acks = json::to_number<std::int16_t>(k, v);
         }},
        {"error", [](E e, K k, V v) { e.error = json::to_number<std::int16_t>(k, v); }},
        {"min_isr", [](E e, K k, V v) { e.min_isr = json::to_number<std::int32_t>(k, v); }},
        {"elected", [](E e, K k, V v) { e.elected = json::to_bool(k, v); }},
        {"unclean", [](E e, K k, V v) { e.unclean = json::to_bool(k, v); }},
        {"outside", [](E e, K k, V v) { e.outside = json::to_bool(k, v); }},
        {"until", [](E e, K k, V v) { e.until = {json::to_integer(k, v)}; }},
        {"last_known_leader", [](E e, K k, V v) { e.last_known_leader = json::to_bool(k, v); }},
        {"clean",
         [](E e, K k, V v) {
             e.clean = json::to_bool(k, v);
             e.clean_told = true;
         }},
        {"silent_ns", [](E e, K k, V v) { e.silent = Duration{json::to_integer(k, v)}; }},
        {"pending_add",
         [](E e, K k, V v) {
             if (!v.is_null()) e.pending_add = json::to_number<BrokerId>(k, v);
         }},
        {"elr",
         [](E e, K k, V v) {
             e.elr = json::to_numbers<BrokerId>(k, v);
             e.elr_told = true;
         }},
        {"last_known_elr", [](E e, K k, V v) { e.last_known_elr = json::to_numbers<BrokerId>(k, v); }},
        {"isr", [](E e, K k, V v) { e.isr = json::to_numbers<BrokerId>(k, v); }},
        {"maximal_isr", [](E e, K k, V v) { e.maximal_isr = json::to_numbers<BrokerId>(k, v); }},
        {"replicas", [](E e, K k, V v) { e.replicas = read_replicas(k, v); }},
        {"lagging", [](E e, K k, V v) { e.replicas = read_replicas(k, v); }},
        {"table", [](E e, K k, V v) { e.table = read_table(k, v); }},
        {"diverging",
         [](E e, K k, V v) {
             const auto pair = json::to_numbers<std::int64_t>(k, v);
             if (pair.size() != 2) json::wrong(k, "epoch and offset");
             e.table = {{.offset = pair[1], .epoch = static_cast<LeaderEpoch>(pair[0])}};
         }},
        {"reason", [](E e, K k, V v) { e.text = json::to_text(k, v); }},
        {"cause", [](E e, K k, V v) { e.text = json::to_text(k, v); }},
        {"name", [](E e, K k, V v) { e.text = json::to_text(k, v); }},
        {"id", [](E e, K k, V v) { e.detail = json::to_text(k, v); }},
        {"detail", [](E e, K k, V v) { e.detail = json::to_text(k, v); }},
        {"count", [](E e, K k, V v) { e.count = json::to_integer(k, v); }},
        // start and register name an incarnation id (text) or number; i is the one that counts.
        {"incarnation", [](E e, K k, V v) {
             if (v.is_string()) e.text = json::to_text(k, v);
         }}};
    return table;
}

/// `from` and `to` are offsets, except in isr-proposed, where they are lists of ids.
void read_from_to(TraceEvent& event, std::string_view key, Element value) {
    if (value.is_array()) {
        (key == "from" ? event.isr_from : event.isr) = json::to_numbers<BrokerId>(key, value);
    } else {
        (key == "from" ? event.from : event.to) = json::to_offset(key, value);
    }
}

Result<TraceEvent> read_event(Element root) {
    try {
        simdjson::dom::object object;
        if (root.get(object) != simdjson::SUCCESS) return failure("expected a JSON object");
        Element kind;
        if (object["e"].get(kind) != simdjson::SUCCESS) return failure("no field \"e\"");
        TraceEvent event;
        const std::string_view name = json::to_text("e", kind);
        const std::optional<TraceKind> known = parse_trace_kind(name);
        if (!known) return failure(fmt::format("unknown kind \"{}\"", name));
        event.kind = *known;
        bool timed = false;
        bool from_node = false;
        for (const auto [key, value] : object) {
            timed = timed || key == "t";
            from_node = from_node || key == "n";
            if (key == "from" || key == "to") {
                read_from_to(event, key, value);
            } else if (const auto reader = fields().find(key); reader != fields().end()) {
                reader->second(event, key, value);
            }
        }
        if (!timed || !from_node) return failure(fmt::format("no field \"{}\"", timed ? "n" : "t"));
        return event;
    } catch (const FieldError& error) {
        return failure(error.message);
    } catch (const simdjson::simdjson_error& error) {
        return failure(error.what());
    }
}

/// Lines of one node's file, in the order of the file.
class TraceLines {
public:
    TraceLines(std::string name, std::vector<TraceEvent>& events) : name_(std::move(name)), events_(events) {}

    Status read(std::string_view line, std::size_t number, bool terminated) {
        Element root;
        const auto error = parser_.parse(line.data(), line.size()).get(root);
        if (error != simdjson::SUCCESS) {
            // A process that was killed may leave its last line cut; it told nobody what stood there.
            if (!terminated) return {};
            return failure(fmt::format("{}:{}: not JSON: {}", name_, number, simdjson::error_message(error)));
        }
        Result<TraceEvent> event = read_event(root);
        if (!event) return failure(fmt::format("{}:{}", name_, number), event.error());
        events_.push_back(std::move(*event));
        return {};
    }

private:
    std::string name_;
    std::vector<TraceEvent>& events_;
    simdjson::dom::parser parser_;
};

Trace sorted(std::vector<TraceEvent> events) {
    std::stable_sort(events.begin(), events.end(), [](const TraceEvent& a, const TraceEvent& b) {
        return std::tie(a.at, a.node, a.incarnation, a.sequence) <
               std::tie(b.at, b.node, b.incarnation, b.sequence);
    });
    return Trace{std::move(events)};
}

}  // namespace

std::optional<TraceKind> parse_trace_kind(std::string_view name) {
    for (std::size_t i = 0; i < kKindNames.size(); ++i) {
        if (kKindNames[i] == name) return static_cast<TraceKind>(i);
    }
    return std::nullopt;
}

std::string_view trace_kind_name(TraceKind kind) { return kKindNames[static_cast<std::size_t>(kind)]; }

Result<Trace> parse_trace(std::string_view text, const std::string& name) {
    std::vector<TraceEvent> events;
    TraceLines lines(name, events);
    const Status status =
        for_each_line(text, [&](std::string_view line, std::size_t number, bool terminated) {
            return lines.read(line, number, terminated);
        });
    if (!status) return tl::make_unexpected(status.error());
    return sorted(std::move(events));
}

Result<Trace> read_trace(const std::vector<std::string>& paths) {
    std::vector<TraceEvent> events;
    for (const std::string& path : paths) {
        TraceLines lines(path, events);
        const Status status = for_each_line_of_file(
            path, [](std::uint64_t) {},
            [&](std::string_view line, std::size_t number, bool terminated) {
                return lines.read(line, number, terminated);
            });
        if (!status) return tl::make_unexpected(status.error());
    }
    return sorted(std::move(events));
}

}  // namespace highwater
