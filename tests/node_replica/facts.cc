// Partition facts and answers in words.
#include "facts.h"

#include <fmt/format.h>

#include "base/overloaded.h"
#include "wire/error_code.h"
#include "wire/record_batch.h"

namespace highwater::node {

namespace {

std::string error_text(std::int16_t code) { return wire::error_name(static_cast<wire::ErrorCode>(code)); }

std::string seconds_text(Duration duration) {
    if (duration == Duration::max()) return "forever";
    return fmt::format("{}s", to_seconds(duration));
}

std::string acks_text(const std::optional<std::int16_t>& acks) {
    return acks ? fmt::format(" acks={}", *acks) : "";
}

std::string table_text(const std::vector<EpochEntry>& table) {
    std::string text;
    for (const EpochEntry& entry : table) text += fmt::format(" {}@{}", entry.epoch, entry.start_offset);
    return text.empty() ? " empty" : text;
}

std::string progress_text(const std::vector<ReplicaProgress>& replicas) {
    std::string text;
    for (const ReplicaProgress& replica : replicas) {
        const std::string end =
            replica.log_end_offset == kUnknownOffset ? "?" : std::to_string(replica.log_end_offset);
        text += fmt::format("{}{} at {}", text.empty() ? "" : ", ", replica.id, end);
    }
    return text;
}

std::string role_text(const RoleTaken& fact) {
    std::string head;
    if (fact.role == Role::Leader) {
        head = fmt::format("leads epoch {} from {}, ISR {}", fact.epoch, fact.epoch_start, members(fact.isr));
    } else if (fact.role == Role::None) {
        head = fmt::format("is not assigned in epoch {}", fact.epoch);
    } else if (fact.leader == kNoBroker) {
        head = fmt::format("follows nobody in epoch {}", fact.epoch);
    } else {
        head = fmt::format("follows {} in epoch {}", fact.leader, fact.epoch);
    }
    return fmt::format("{}; LEO {} HW {} epochs{}", head, fact.log_end_offset, fact.high_watermark,
                       table_text(fact.epoch_table));
}

std::string proposed_text(const IsrProposed& fact) {
    std::string text = fmt::format("proposes ISR {} -> {}", members(fact.from), members(fact.to));
    for (const ReplicaProgress& replica : fact.lagging) {
        text += fmt::format("; {} is behind {}", progress_text({replica}), seconds_text(replica.behind));
    }
    return text;
}

std::string moved_text(const HighWatermarkMoved& fact) {
    std::string text = fmt::format("HW {} -> {} of LEO {}", fact.from, fact.to, fact.log_end_offset);
    if (fact.role != Role::Leader) return text;
    text += fmt::format("; ISR {}", members(fact.isr));
    if (fact.pending_add) text += fmt::format(" (+{})", *fact.pending_add);
    if (!fact.replicas.empty()) text += "; " + progress_text(fact.replicas);
    return text;
}

std::string answered_text(const ProduceAnswered& fact) {
    std::string text = fmt::format("answers acks={} of {}: {}", fact.acks,
                                   offsets(fact.first_offset, fact.last_offset), error_text(fact.error));
    if (fact.acks == -1) {
        text += fmt::format("; HW {} maximal ISR {} min {}", fact.high_watermark, members(fact.maximal_isr),
                            fact.effective_min_isr);
    }
    return text;
}

}  // namespace

std::string offsets(Offset first, Offset last) {
    return first == kUnknownOffset ? "nothing" : fmt::format("{}..{}", first, last);
}

std::string members(const std::vector<BrokerId>& ids) {
    return ids.empty() ? "none" : fmt::format("{}", fmt::join(ids, ","));
}

std::string describe(const PartitionFact& fact) {
    return std::visit(
        overloaded{
            [](const RoleTaken& taken) { return role_text(taken); },
            [](const Appended& appended) {
                return fmt::format("appended {}{}",
                                   offsets(appended.first_offset, appended.log_end_offset - 1),
                                   acks_text(appended.acks));
            },
            [](const HighWatermarkMoved& moved) { return moved_text(moved); },
            [](const IsrProposed& proposed) { return proposed_text(proposed); },
            [](const IsrCommitted& committed) {
                return fmt::format("ISR is {} at partition epoch {}", members(committed.isr),
                                   committed.partition_epoch);
            },
            // The transcript's own command says it.
            [](const RegistrationArrived&) { return std::string(); },
            [](const Truncated& cut) {
                return fmt::format("truncated {} -> {}; told epoch {} ends at {}", cut.from, cut.to,
                                   cut.diverging.epoch, cut.diverging.offset);
            },
            [](const FollowingConfirmed& confirmed) {
                return fmt::format("agrees with {} at LEO {} HW {}", confirmed.leader,
                                   confirmed.log_end_offset, confirmed.high_watermark);
            },
            [](const ProduceAnswered& answered) { return answered_text(answered); },
            [](const Served& served) {
                return fmt::format("served {} at HW {}", offsets(served.from, served.end - 1),
                                   served.high_watermark);
            },
            [](const WentOffline& offline) { return "went offline: " + offline.reason; },
            [](const BugActivated& bug) { return fmt::format("bug {} acted ({})", bug.name, bug.count); },
            [](const InvariantBroken& broken) {
                return fmt::format("breaks {}: {}", broken.invariant, broken.detail);
            },
        },
        fact);
}

std::string describe(const FetchAnswer& answer) {
    if (answer.error != wire::ErrorCode::None) return error_text(static_cast<std::int16_t>(answer.error));
    if (answer.diverging) {
        return fmt::format("diverging: epoch {} ends at {}", answer.diverging->epoch,
                           answer.diverging->offset);
    }
    return fmt::format("{} HW {}", describe_records(answer.records), answer.high_watermark);
}

std::string describe_records(const Bytes& records) {
    const auto batches = wire::split_batches(records).value();
    std::string text;
    for (std::size_t i = 0; i < batches.size();) {
        const wire::BatchHeader& first = batches[i].header;
        Offset last = first.last_offset();
        for (++i; i < batches.size() && batches[i].header.leader_epoch == first.leader_epoch; ++i) {
            last = batches[i].header.last_offset();
        }
        text += fmt::format("{}{} of epoch {}", text.empty() ? "" : ", ", offsets(first.base_offset, last),
                            first.leader_epoch);
    }
    return text.empty() ? "nothing," : text + ",";
}

std::string describe(const AlterPartitionProposal& proposal) {
    std::string text = fmt::format("AlterPartition epoch {} partition epoch {} ISR", proposal.leader_epoch,
                                   proposal.partition_epoch);
    for (const auto& member : proposal.isr) text += fmt::format(" {}(e{})", member.id, member.broker_epoch);
    return text;
}

std::string describe(const Partition& partition) {
    const Offset log_end = partition.log().log_end_offset();
    std::string head;
    switch (partition.role()) {
        case Role::None:
            head = "none";
            break;
        case Role::Follower:
            head = fmt::format("follower of {} @{}", partition.leader(), partition.leader_epoch());
            break;
        case Role::Leader:
            head = fmt::format("leader @{}", partition.leader_epoch());
            break;
    }
    std::string text = fmt::format("{} LEO {} HW {}", head, log_end, partition.high_watermark());
    if (partition.offline()) text += " offline";
    if (partition.role() != Role::Leader) return text;
    text += " ISR " + members(partition.committed_isr());
    if (const auto* expand = std::get_if<PendingExpandIsr>(&partition.isr_state())) {
        text += fmt::format(" (+{})", expand->joining);
    }
    if (const auto* shrink = std::get_if<PendingShrinkIsr>(&partition.isr_state())) {
        text += fmt::format(" (-{})", members(shrink->leaving));
    }
    return text;
}

}  // namespace highwater::node
