#include "node/trace/trace_line.h"

#include "base/overloaded.h"
#include "node/trace/json_appender.h"

namespace highwater::node {

void JsonAppender::text(std::string_view value) {
    constexpr std::string_view kHex = "0123456789abcdef";
    out_.push_back('"');
    for (const char c : value) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\') {
            out_.push_back('\\');
            out_.push_back(c);
        } else if (byte < 0x20) {
            out_ += "\\u00";
            out_.push_back(kHex[byte >> 4U]);
            out_.push_back(kHex[byte & 0x0FU]);
        } else {
            out_.push_back(c);
        }
    }
    out_.push_back('"');
}

namespace {

std::string_view role_name(Role role) {
    switch (role) {
        case Role::Leader:
            return "leader";
        case Role::Follower:
            return "follower";
        case Role::None:
            return "none";
    }
    return "none";
}

std::string_view reason_name(FenceReason reason) {
    switch (reason) {
        case FenceReason::Registered:
            return "registered";
        case FenceReason::SessionTimeout:
            return "session-timeout";
        case FenceReason::ControlledShutdown:
            return "controlled-shutdown";
    }
    return "registered";
}

// -- facts of one partition; `e` and `p`
// --------------------------------------------------------------------------

void begin(JsonAppender& json, std::string_view kind, const TopicPartition& partition) {
    json.field("e", kind);
    json.field("p", partition.to_string());
}

void write(JsonAppender& json, const TopicPartition& p, const RoleTaken& fact) {
    begin(json, "role", p);
    json.field("role", role_name(fact.role));
    json.field("leader", fact.leader);
    json.field("epoch", fact.epoch);
    json.field("partition_epoch", fact.partition_epoch);
    json.field("leo", fact.log_end_offset);
    json.field("hw", fact.high_watermark);
    if (fact.role == Role::Leader) json.field("epoch_start", fact.epoch_start);
    json.list("table", fact.epoch_table, [&](const EpochEntry& e) { json.tuple(e.epoch, e.start_offset); });
    json.field("isr", fact.isr);
}

void write(JsonAppender& json, const TopicPartition& p, const Appended& fact) {
    begin(json, "append", p);
    json.field("epoch", fact.epoch);
    json.field("first", fact.first_offset);
    json.field("leo", fact.log_end_offset);
    if (!fact.acks) return;  // a follower knows neither acks nor the leader's ISR
    json.field("acks", *fact.acks);
    json.field("isr", fact.isr);
    json.field("min_isr", fact.effective_min_isr);
}

void write(JsonAppender& json, const TopicPartition& p, const HighWatermarkMoved& fact) {
    begin(json, "hw", p);
    json.field("role", role_name(fact.role));
    json.field("epoch", fact.epoch);
    json.field("from", fact.from);
    json.field("to", fact.to);
    json.field("leo", fact.log_end_offset);
    if (fact.role != Role::Leader) return;
    json.field("isr", fact.isr);
    if (fact.pending_add) json.field("pending_add", *fact.pending_add);
    json.list("replicas", fact.replicas,
              [&](const ReplicaProgress& r) { json.tuple(r.id, r.log_end_offset); });
    json.field("min_isr", fact.effective_min_isr);
}

void write(JsonAppender& json, const TopicPartition& p, const IsrProposed& fact) {
    begin(json, "isr-proposed", p);
    json.field("epoch", fact.epoch);
    json.field("partition_epoch", fact.partition_epoch);
    json.field("from", fact.from);
    json.field("to", fact.to);
    json.list("lagging", fact.lagging,
              [&](const ReplicaProgress& r) { json.tuple(r.id, r.log_end_offset, r.behind.count()); });
    json.field("leo", fact.log_end_offset);
    json.field("hw", fact.high_watermark);
}

void write(JsonAppender& json, const TopicPartition& p, const IsrCommitted& fact) {
    begin(json, "isr-committed", p);
    json.field("epoch", fact.epoch);
    json.field("partition_epoch", fact.partition_epoch);
    json.field("isr", fact.isr);
}

void write(JsonAppender& json, const TopicPartition& p, const RegistrationArrived& fact) {
    begin(json, "registration", p);
    json.field("leader", fact.leader);
    json.field("epoch", fact.epoch);
    json.field("partition_epoch", fact.partition_epoch);
    json.field("isr", fact.isr);
}

void write(JsonAppender& json, const TopicPartition& p, const Truncated& fact) {
    begin(json, "truncate", p);
    json.field("epoch", fact.epoch);
    json.field("leader", fact.leader);
    json.field("from", fact.from);
    json.field("to", fact.to);
    json.tuple_field("diverging", fact.diverging.epoch, fact.diverging.offset);
}

void write(JsonAppender& json, const TopicPartition& p, const FollowingConfirmed& fact) {
    begin(json, "following", p);
    json.field("epoch", fact.epoch);
    json.field("leader", fact.leader);
    json.field("leo", fact.log_end_offset);
    json.field("hw", fact.high_watermark);
}

void write(JsonAppender& json, const TopicPartition& p, const ProduceAnswered& fact) {
    begin(json, "ack", p);
    json.field("epoch", fact.epoch);
    json.field("acks", fact.acks);
    json.field("first", fact.first_offset);
    json.field("last", fact.last_offset);
    json.field("error", fact.error);
    json.field("hw", fact.high_watermark);
    json.field("isr", fact.isr);
    json.field("maximal_isr", fact.maximal_isr);
    json.field("min_isr", fact.effective_min_isr);
}

void write(JsonAppender& json, const TopicPartition& p, const Served& fact) {
    begin(json, "serve", p);
    json.field("role", role_name(fact.role));
    json.field("epoch", fact.epoch);
    json.field("from", fact.from);
    json.field("end", fact.end);
    json.field("hw", fact.high_watermark);
}

void write(JsonAppender& json, const TopicPartition& p, const WentOffline& fact) {
    begin(json, "offline", p);
    json.field("reason", fact.reason);
}

void write_bug(JsonAppender& json, const BugActivated& fact) {
    json.field("name", fact.name);
    json.field("id", fact.id);
    json.field("count", fact.count);
}

void write(JsonAppender& json, const TopicPartition& p, const BugActivated& fact) {
    begin(json, "bug", p);
    write_bug(json, fact);
}

void write(JsonAppender& json, const TopicPartition& p, const InvariantBroken& fact) {
    begin(json, "invariant", p);
    json.field("name", fact.invariant);
    json.field("detail", fact.detail);
}

// -- the controller's decisions
// -----------------------------------------------------------------------------------

void write(JsonAppender& json, const BrokerRegistered& event) {
    json.field("e", "register");
    json.field("broker", event.broker);
    json.field("broker_epoch", event.broker_epoch);
    json.field("incarnation", event.incarnation.to_string());
    json.field("clean", event.clean);
}

void write(JsonAppender& json, const BrokerFenced& event) {
    json.field("e", "fence");
    json.field("broker", event.broker);
    json.field("broker_epoch", event.broker_epoch);
    json.field("reason", reason_name(event.reason));
    json.field("silent_ns", event.silent.count());
}

void write(JsonAppender& json, const BrokerUnfenced& event) {
    json.field("e", "unfence");
    json.field("broker", event.broker);
    json.field("broker_epoch", event.broker_epoch);
}

void write(JsonAppender& json, const BrokerShuttingDown& event) {
    json.field("e", "shutting-down");
    json.field("broker", event.broker);
    json.field("broker_epoch", event.broker_epoch);
}

void write(JsonAppender& json, const PartitionChanged& event) {
    begin(json, "partition", event.partition);
    json.field("leader", event.leader);
    json.field("epoch", event.leader_epoch);
    json.field("partition_epoch", event.partition_epoch);
    json.field("isr", event.isr);
    json.field("elr", event.elr);
    json.field("last_known_elr", event.last_known_elr);
    json.field("elected", event.elected);
    json.field("unclean", event.unclean);
    json.field("last_known_leader", event.last_known_leader);
    json.field("cause", event.cause);
}

void write(JsonAppender& json, const TopicDeleted& event) {
    json.field("e", "topic-deleted");
    json.field("topic", event.topic);
    json.field("topic_id", event.topic_id.to_string());
}

void write(JsonAppender& json, const TopicConfigChanged& event) {
    json.field("e", "config");
    json.field("topic", event.topic);
    json.field("name", event.name);
    if (event.value) json.field("value", *event.value);  // left out: removed
}

void write(JsonAppender& json, const BugActivated& event) {
    json.field("e", "bug");
    write_bug(json, event);
}

// -- the process
// --------------------------------------------------------------------------------------------------

void write(JsonAppender& json, const ServerStarted& event) {
    json.field("e", "start");
    json.field("role", event.role);
    json.field("incarnation", event.incarnation.to_string());
    json.field("bugs", event.bugs);
}

void write(JsonAppender& json, const ServerRegistered& event) {
    json.field("e", "registered");
    json.field("broker_epoch", event.broker_epoch);
}

void write(JsonAppender& json, const ServerStopped& event) {
    json.field("e", "stop");
    json.field("clean", event.clean);
}

void write(JsonAppender& json, const CheckpointWritten& event) {
    begin(json, "checkpoint", event.partition);
    json.field("hw", event.high_watermark);
}

}  // namespace

void append_trace_line(std::string& out, const TracePosition& position, const Event& event) {
    JsonAppender json(out);
    json.field("t", position.at.ns);
    json.field("n", position.node);
    json.field("i", position.incarnation);
    json.field("s", position.sequence);
    std::visit(overloaded{[&](const PartitionEvent& of_partition) {
                              std::visit([&](const auto& fact) { write(json, of_partition.partition, fact); },
                                         of_partition.fact);
                          },
                          [&](const ControllerEvent& decision) {
                              std::visit([&](const auto& of_kind) { write(json, of_kind); }, decision);
                          },
                          [&](const ServerEvent& of_process) {
                              std::visit([&](const auto& of_kind) { write(json, of_kind); }, of_process);
                          }},
               event);
    json.finish();
}

}  // namespace highwater::node
