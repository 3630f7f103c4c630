// The groups whose partition of __consumer_offsets this broker leads: taken up from the log when leadership
// comes, given up when it goes; their records appended, their answers sent.
#include <algorithm>

#include "node/server/broker_state.h"
#include "wire/record_batch.h"

namespace highwater::node {
namespace {

constexpr std::size_t kLoadBytes = 1U << 20U;
constexpr std::int16_t kAcksAll = -1;

GroupSettings settings_of(const NodeConfig& config) {
    GroupSettings settings;
    settings.initial_rebalance_delay = config.group_initial_rebalance_delay;
    settings.min_session_timeout = config.group_min_session_timeout;
    settings.max_session_timeout = config.group_max_session_timeout;
    settings.commit_timeout = config.offsets_commit_timeout;
    settings.max_metadata_bytes = static_cast<std::size_t>(config.offset_metadata_max_bytes);
    return settings;
}

/// Replays one batch. Errors: it cannot be read.
Status replay(const wire::BatchView& batch, GroupCoordinator& coordinator) {
    if (batch.header.control()) return {};
    const auto records = wire::decode_records(batch.bytes);
    if (!records) return tl::make_unexpected(records.error());
    Status first;
    for (const wire::Record& record : *records) {
        if (Status done = coordinator.replay(record); !done && first)
            first = failure(fmt::format("offset {}: {}", record.offset, done.error().message));
    }
    return first;
}

}  // namespace

void BrokerState::load_groups(const TopicPartition& name, const Partition& held, LedGroups& led) {
    Offset at = held.log().log_start_offset();
    const Offset end = held.log().log_end_offset();
    while (at < end) {
        const auto bytes = held.log().read(at, end, kLoadBytes);
        const auto batches = bytes ? wire::split_batches(*bytes)
                                   : Result<std::vector<wire::BatchView>>(tl::make_unexpected(bytes.error()));
        if (!batches || batches->empty()) {
            outbox.error(fmt::format("{}: groups cannot be loaded from offset {}: {}", name.to_string(), at,
                                     batches ? "no batch" : batches.error().message));
            led.unreadable = true;
            return;
        }
        for (const wire::BatchView& batch : *batches) {
            if (const Status done = replay(batch, *led.coordinator); !done)
                outbox.warn(fmt::format("{}: left out: {}", name.to_string(), done.error().message));
            at = batch.header.next_offset();
        }
    }
    led.loaded = true;
    led.coordinator->loaded(now);
}

void BrokerState::follow_group_leadership() {
    for (auto led = led_groups.begin(); led != led_groups.end();) {
        const Partition* held = partition({kConsumerOffsetsTopic, led->first});
        if (held != nullptr && held->role() == Role::Leader && !held->offline() &&
            held->leader_epoch() == led->second.epoch) {
            ++led;
            continue;
        }
        led->second.coordinator->resign();
        answer_groups(led->second);
        led = led_groups.erase(led);
    }
    const TopicPartition first{kConsumerOffsetsTopic, 0};
    for (auto at = partitions.lower_bound(first); at != partitions.end() && at->first.topic == first.topic;
         ++at) {
        const Partition& held = *at->second;
        if (held.role() != Role::Leader || held.offline()) continue;
        LedGroups& led = led_groups[at->first.partition];
        if (!led.coordinator) {
            led.epoch = held.leader_epoch();
            led.coordinator = std::make_unique<GroupCoordinator>(settings_of(config), rng.fork());
        }
        // What is not committed yet may still be lost: nobody shall be told of it.
        if (!led.loaded && !led.unreadable && held.high_watermark() == held.log().log_end_offset())
            load_groups(at->first, held, led);
    }
}

bool BrokerState::write_groups(const TopicPartition& name, LedGroups& led) {
    std::vector<GroupWrite> writes = led.coordinator->take_writes();
    Partition* held = partition(name);
    for (GroupWrite& write : writes) {
        wire::BatchSpec spec;
        spec.records = std::move(write.records);
        const AppendOutcome outcome = held->append(now, wire::encode_batch(spec), kAcksAll);
        if (outcome.waiting)
            led.writes[*outcome.waiting] = write.id;
        else
            led.coordinator->written(now, write.id, outcome.error);
    }
    return !writes.empty();
}

void BrokerState::answer_groups(LedGroups& led) {
    for (const GroupAnswer& answer : led.coordinator->take_answers()) {
        const auto call = group_calls.extract(answer.call);
        if (!call.empty()) call.mapped()(answer.response);
    }
}

bool BrokerState::run_groups() {
    if (led_groups.empty() && image.topic(kConsumerOffsetsTopic) == nullptr) return false;
    follow_group_leadership();
    bool wrote = false;
    for (auto& [index, led] : led_groups) {
        if (!led.loaded) continue;
        led.coordinator->tick(now, wall_ms);
        wrote = write_groups({kConsumerOffsetsTopic, index}, led) || wrote;
        answer_groups(led);
    }
    return wrote;
}

bool BrokerState::finish_group_write(const TopicPartition& name, const FinishedProduce& finished) {
    if (name.topic != kConsumerOffsetsTopic) return false;
    const auto led = led_groups.find(name.partition);
    if (led == led_groups.end()) return false;
    const auto write = led->second.writes.extract(finished.ticket);
    if (write.empty()) return false;
    led->second.coordinator->written(now, write.mapped(), finished.error);
    answer_groups(led->second);
    return true;
}

Instant BrokerState::groups_deadline() const {
    Instant next = Instant::never();
    for (const auto& [index, led] : led_groups) {
        if (led.loaded) next = std::min(next, led.coordinator->deadline());
    }
    return next;
}

}  // namespace highwater::node
