#include "facts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/overloaded.h"
#include "wire/record_batch.h"

namespace highwater::node {
namespace {

std::string reason_text(FenceReason reason) {
    switch (reason) {
        case FenceReason::Registered:
            return "registered";
        case FenceReason::SessionTimeout:
            return "session timeout";
        case FenceReason::ControlledShutdown:
            return "own wish";
    }
    return "?";
}

std::string leader_text(BrokerId leader) { return leader == kNoBroker ? "none" : std::to_string(leader); }

/// Nothing where there is neither.
std::string eligible_text(const std::vector<BrokerId>& elr, const std::vector<BrokerId>& last_known) {
    std::string text;
    if (!elr.empty()) text += " elr " + list_text(elr);
    if (!last_known.empty()) text += " last known " + list_text(last_known);
    return text;
}

std::string record_fields(const wire::MetadataRecord& record, const MetadataImage& names) {
    const auto topic_name = [&](const Uuid& id) {
        const TopicImage* topic = names.topic(id);
        return topic == nullptr ? std::string("?") : topic->name;
    };
    return std::visit(
        overloaded{
            [](const wire::RegisterBrokerRecord& r) {
                return fmt::format("broker {} epoch {}{}", r.broker_id, r.broker_epoch,
                                   r.fenced ? " fenced" : "");
            },
            [](const wire::BrokerRegistrationChangeRecord& r) {
                return fmt::format("broker {} epoch {}{}{}", r.broker_id, r.broker_epoch,
                                   r.fenced > 0   ? " fenced"
                                   : r.fenced < 0 ? " unfenced"
                                                  : "",
                                   r.in_controlled_shutdown > 0 ? " in controlled shutdown" : "");
            },
            [](const wire::TopicRecord& r) { return r.name; },
            [](const wire::ConfigRecord& r) {
                return fmt::format("{} {}={}", r.resource_name, r.name, r.value.value_or(""));
            },
            [](const wire::ClearElrRecord& r) { return r.topic_name; },
            [](const wire::ProducerIdsRecord& r) {
                return fmt::format("broker {} epoch {} next {}", r.broker_id, r.broker_epoch,
                                   r.next_producer_id);
            },
            [](const wire::FeatureLevelRecord& r) { return fmt::format("{} {}", r.name, r.feature_level); },
            [&](const wire::PartitionRecord& r) {
                return fmt::format(
                    "{}-{} replicas {} isr {} leader {} epoch {} partition epoch {} directories {}",
                    topic_name(r.topic_id), r.partition_id, list_text(r.replicas), list_text(r.isr),
                    leader_text(r.leader), r.leader_epoch, r.partition_epoch, r.directories.size());
            },
            [&](const wire::PartitionChangeRecord& r) {
                std::string text = fmt::format("{}-{}", topic_name(r.topic_id), r.partition_id);
                if (r.isr) text += " isr " + list_text(*r.isr);
                if (r.eligible_leader_replicas) text += " elr " + list_text(*r.eligible_leader_replicas);
                if (r.last_known_elr) text += " last known " + list_text(*r.last_known_elr);
                if (r.leader != kNoLeaderChange) text += " leader " + leader_text(r.leader);
                if (r.leader_recovery_state != kNoRecoveryChange) {
                    text += r.leader_recovery_state == kRecovering ? " recovering" : " recovered";
                }
                return text;
            },
            [](const auto&) { return std::string(); }},
        record);
}

}  // namespace

std::string list_text(const std::vector<BrokerId>& ids) {
    return ids.empty() ? "nobody" : fmt::format("{}", fmt::join(ids, ","));
}

std::string duration_text(Duration duration) { return fmt::format("{}s", to_seconds(duration)); }

std::string event_text(const ControllerEvent& event) {
    return std::visit(
        overloaded{[](const BrokerRegistered& e) {
                       return fmt::format("{} registered, epoch {}{}", e.broker, e.broker_epoch,
                                          e.clean ? ", clean" : "");
                   },
                   [](const BrokerFenced& e) {
                       const std::string silent =
                           e.silent.count() == 0 ? "" : ", silent for " + duration_text(e.silent);
                       return fmt::format("{} fenced: {}{}", e.broker, reason_text(e.reason), silent);
                   },
                   [](const BrokerUnfenced& e) { return fmt::format("{} unfenced", e.broker); },
                   [](const BrokerShuttingDown& e) { return fmt::format("{} shutting down", e.broker); },
                   [](const BugActivated& e) { return fmt::format("bug {} acted ({})", e.name, e.count); },
                   [](const PartitionChanged& e) {
                       const char* how = e.last_known_leader ? "last known leader"
                                         : e.unclean         ? "unclean leader"
                                         : e.elected         ? "new leader"
                                                             : "leader";
                       return fmt::format("{}: {} {} @{} v{} isr {}{} ({})", e.partition.to_string(), how,
                                          leader_text(e.leader), e.leader_epoch, e.partition_epoch,
                                          list_text(e.isr), eligible_text(e.elr, e.last_known_elr), e.cause);
                   },
                   [](const TopicDeleted& e) { return fmt::format("topic {} deleted", e.topic); },
                   [](const TopicConfigChanged& e) {
                       return fmt::format("{}: {} {}", e.topic, e.name,
                                          e.value ? "= " + *e.value : std::string("removed"));
                   }},
        event);
}

std::string image_text(const MetadataImage& image) {
    std::string text;
    for (const auto& [id, broker] : image.brokers()) {
        text +=
            fmt::format("broker {}: epoch {} {}{}\n", id, broker.epoch, broker.fenced ? "fenced" : "unfenced",
                        broker.in_controlled_shutdown ? ", in controlled shutdown" : "");
    }
    for (const auto& [name, topic] : image.topics()) {
        for (const auto& [key, value] : topic.configs) text += fmt::format("{}: {}={}\n", name, key, value);
        for (const auto& [index, partition] : topic.partitions) {
            text += fmt::format(
                "{}-{}: leader {} @{} v{} isr {}{} of {}{}\n", name, index, leader_text(partition.leader),
                partition.leader_epoch, partition.partition_epoch, list_text(partition.isr),
                eligible_text(partition.elr, partition.last_known_elr), list_text(partition.replicas),
                partition.leader_recovery_state == kRecovering ? ", recovering" : "");
        }
    }
    return text;
}

std::string records_text(const PartitionLog& log, Offset from, const MetadataImage& names) {
    if (from >= log.log_end_offset()) return "none\n";
    const auto bytes = log.read(from, log.log_end_offset(), 1U << 24U);
    if (!bytes) return bytes.error().message + "\n";
    const auto batches = wire::split_batches(*bytes);
    if (!batches) return batches.error().message + "\n";
    std::string text;
    for (const wire::BatchView& batch : *batches) {
        const auto records = wire::decode_records(batch.bytes);
        if (!records) return text + records.error().message + "\n";
        char mark = '-';
        for (const wire::Record& record : *records) {
            std::string what = "LeaderChange";
            if (!batch.header.control()) {
                const auto decoded = wire::decode_metadata_record(*record.value);
                if (!decoded) return text + decoded.error().message + "\n";
                what = fmt::format("{} v{} {}", wire::record_name(decoded->record), decoded->version,
                                   record_fields(decoded->record, names));
            }
            text += fmt::format("{} {} @{} {}\n", mark, record.offset, batch.header.leader_epoch, what);
            mark = ' ';
        }
    }
    return text;
}

}  // namespace highwater::node
