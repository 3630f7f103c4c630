// The controller and its log: replay at open, a new epoch at its start, one batch per decision, flushed
// before anybody is answered.
#include <algorithm>

#include "base/assert.h"
#include "base/overloaded.h"
#include "node/controller/state.h"
#include "node/controller/topic_config.h"
#include "wire/control_record.h"
#include "wire/record_batch.h"

namespace highwater::node {
namespace {

constexpr const char* kDirectory = "__cluster_metadata-0";
constexpr std::size_t kReadSize = 1U << 20U;

/// metadata.version 4.1-IV0: the records below in these versions, and the first whose new clusters have
/// eligible leader replicas.
constexpr std::int16_t kMetadataVersion = 26;
constexpr std::int8_t kBrokerResource = 4;

std::int16_t version_of(const wire::MetadataRecord& record) {
    return std::visit(
        overloaded{[](const wire::RegisterBrokerRecord&) { return std::int16_t{3}; },
                   [](const wire::PartitionRecord&) { return std::int16_t{2}; },
                   [](const wire::PartitionChangeRecord&) { return std::int16_t{2}; },
                   [](const wire::BrokerRegistrationChangeRecord& change) {
                       return static_cast<std::int16_t>(change.in_controlled_shutdown != 0 ? 1 : 0);
                   },
                   [](const auto&) { return std::int16_t{0}; }},
        record);
}

wire::Record encode_record(const wire::MetadataRecord& record, std::int64_t wall_ms) {
    wire::Record entry;
    entry.timestamp = wall_ms;
    entry.value = wire::encode_metadata_record(record, version_of(record));
    return entry;
}

/// What a quorum leader writes first in its epoch.
wire::Record leader_change(BrokerId self, std::int64_t wall_ms) {
    wire::LeaderChangeMessage message;
    message.leader_id = self;
    message.voters.push_back({self, {}});
    message.granting_voters.push_back({self, {}});
    return wire::encode_leader_change(message, wall_ms);
}

Status append(PartitionLog& log, LeaderEpoch epoch, bool control, std::vector<wire::Record> records) {
    wire::BatchSpec spec;
    spec.leader_epoch = epoch;
    spec.control = control;
    spec.records = std::move(records);
    const auto appended = log.append_as_leader(wire::encode_batch(spec), epoch);
    if (!appended) return tl::make_unexpected(appended.error());
    return log.flush();
}

/// What a new cluster's log begins with, after the first leader's message.
Records bootstrap_records(const ControllerSettings& settings) {
    wire::FeatureLevelRecord version;
    version.name = "metadata.version";
    version.feature_level = kMetadataVersion;
    Records records{version};
    if (!settings.eligible_leader_replicas) return records;
    wire::FeatureLevelRecord eligible;
    eligible.name = kEligibleLeaderReplicas;
    eligible.feature_level = 1;
    records.emplace_back(std::move(eligible));
    // Who may lead depends on it, so one value must hold for the whole cluster, whatever the brokers' files
    // say.
    wire::ConfigRecord min_isr;
    min_isr.resource_type = kBrokerResource;
    min_isr.name = kMinInsyncReplicas;
    min_isr.value = std::to_string(settings.min_insync_replicas);
    records.emplace_back(std::move(min_isr));
    return records;
}

bool contains(const std::vector<BrokerId>& ids, BrokerId id) {
    return std::find(ids.begin(), ids.end(), id) != ids.end();
}

/// What a record is about to change, for its event.
struct Before {
    std::optional<PartitionImage> partition;
    /// Whose eligible leaders go.
    std::vector<TopicPartition> cleared;
    BrokerEpoch broker_epoch = kUnknownBrokerEpoch;
    std::string topic;
};

Before before(const MetadataImage& image, const wire::MetadataRecord& record) {
    Before found;
    if (const auto* change = std::get_if<wire::PartitionChangeRecord>(&record)) {
        const TopicImage* topic = image.topic(change->topic_id);
        if (topic == nullptr) return found;
        const auto partition = topic->partitions.find(change->partition_id);
        if (partition != topic->partitions.end()) found.partition = partition->second;
    } else if (const auto* clear = std::get_if<wire::ClearElrRecord>(&record)) {
        for (const auto& [name, topic] : image.topics()) {
            if (!clear->topic_name.empty() && name != clear->topic_name) continue;
            for (const auto& [index, partition] : topic.partitions) {
                if (without_eligible_leaders(partition) != partition) found.cleared.push_back({name, index});
            }
        }
    } else if (const auto* registration = std::get_if<wire::RegisterBrokerRecord>(&record)) {
        const BrokerImage* broker = image.broker(registration->broker_id);
        if (broker != nullptr) found.broker_epoch = broker->epoch;
    } else if (const auto* removal = std::get_if<wire::RemoveTopicRecord>(&record)) {
        const TopicImage* topic = image.topic(removal->topic_id);
        if (topic != nullptr) found.topic = topic->name;
    }
    return found;
}

/// Tells what an applied record decided.
class EventTeller {
public:
    EventTeller(const MetadataImage& image, const Why& why, Chosen chosen, Before before,
                std::vector<ControllerEvent>& events)
        : image_(image), why_(why), chosen_(chosen), before_(std::move(before)), events_(events) {}

    void operator()(const wire::RegisterBrokerRecord& record) const {
        events_.emplace_back(
            BrokerRegistered{record.broker_id, record.broker_epoch, record.incarnation_id, why_.clean});
        if (record.broker_epoch == before_.broker_epoch) return;  // the same incarnation asked again
        events_.emplace_back(
            BrokerFenced{record.broker_id, record.broker_epoch, FenceReason::Registered, Duration{0}});
    }
    void operator()(const wire::BrokerRegistrationChangeRecord& record) const {
        if (record.fenced > 0) {
            events_.emplace_back(
                BrokerFenced{record.broker_id, record.broker_epoch, why_.reason, why_.silent});
        }
        if (record.fenced < 0) events_.emplace_back(BrokerUnfenced{record.broker_id, record.broker_epoch});
        if (record.in_controlled_shutdown > 0) {
            events_.emplace_back(BrokerShuttingDown{record.broker_id, record.broker_epoch});
        }
    }
    void operator()(const wire::PartitionRecord& record) const {
        partition(image_.topic(record.topic_id)->name, record.partition_id, false, why_.cause);
    }
    void operator()(const wire::PartitionChangeRecord& record) const {
        partition(image_.topic(record.topic_id)->name, record.partition_id, record.leader != kNoLeaderChange,
                  why_.cause);
    }
    void operator()(const wire::ClearElrRecord&) const {
        for (const TopicPartition& name : before_.cleared)
            partition(name.topic, name.partition, false, "min-isr");
    }
    void operator()(const wire::RemoveTopicRecord& record) const {
        events_.emplace_back(TopicDeleted{before_.topic, record.topic_id});
    }
    void operator()(const wire::ConfigRecord& record) const {
        // Those of a creation are a part of it.
        if (why_.cause == kCauseConfig)
            events_.emplace_back(TopicConfigChanged{record.resource_name, record.name, record.value});
    }
    template <class Other>
    void operator()(const Other&) const {}

private:
    void partition(const std::string& topic, std::int32_t index, bool elected,
                   const std::string& cause) const {
        const PartitionImage& now = image_.topic(topic)->partitions.at(index);
        PartitionChanged event;
        event.partition = {topic, index};
        event.leader = now.leader;
        event.leader_epoch = now.leader_epoch;
        event.partition_epoch = now.partition_epoch;
        event.isr = now.isr;
        event.elected = elected;
        // A deliberate bug may elect anybody and call it clean.
        const bool outside = elected && now.leader != kNoBroker && before_.partition &&
                             !contains(before_.partition->isr, now.leader) &&
                             !contains(before_.partition->elr, now.leader);
        event.unclean = outside || chosen_ != Chosen::Clean;
        event.last_known_leader = chosen_ == Chosen::LastKnownLeader;
        event.cause = event.last_known_leader                          ? "last-known-leader"
                      : event.unclean && cause != kCauseUncleanRequest ? "unclean"
                                                                       : cause;
        event.elr = now.elr;
        event.last_known_elr = now.last_known_elr;
        events_.emplace_back(std::move(event));
    }

    const MetadataImage& image_;
    const Why& why_;
    Chosen chosen_;
    Before before_;
    std::vector<ControllerEvent>& events_;
};

}  // namespace

Status Controller::State::replay_log() {
    for (Offset at = log->log_start_offset(); at < log->log_end_offset(); at = image.end_offset()) {
        const auto bytes = log->read(at, log->log_end_offset(), kReadSize);
        if (!bytes) return tl::make_unexpected(bytes.error());
        if (const Status applied = image.apply_batches(*bytes); !applied)
            return failure(kDirectory, applied.error());
        if (image.end_offset() <= at)
            return failure(std::string(kDirectory) + ": no batch at offset " + std::to_string(at));
    }
    return {};
}

Status Controller::State::begin_epoch(std::int64_t wall_ms) {
    const bool empty = log->log_end_offset() == 0;
    controller_epoch = std::max(log->epochs().latest_epoch().value_or(0), 0) + 1;
    if (Status assigned = log->assign_epoch(controller_epoch, log->log_end_offset()); !assigned)
        return assigned;
    std::vector<wire::Record> first{leader_change(settings.self, wall_ms)};
    if (Status appended = append(*log, controller_epoch, true, std::move(first)); !appended) return appended;
    if (!empty) return {};
    if (!commit(wall_ms, bootstrap_records(settings), {})) return tl::make_unexpected(*fatal);
    return {};
}

bool Controller::State::commit(std::int64_t wall_ms, const Records& records, const Why& why) {
    if (fatal) return false;
    if (records.empty()) return true;
    std::vector<wire::Record> encoded;
    encoded.reserve(records.size());
    for (const DecidedRecord& decided : records) encoded.push_back(encode_record(decided.record, wall_ms));
    Offset offset = log->log_end_offset();
    if (const Status appended = append(*log, controller_epoch, false, std::move(encoded)); !appended) {
        // The records may or may not survive; only a replay can tell. Deciding on without knowing could
        // decide twice.
        fatal = Error{std::string("the metadata log cannot be written: ") + appended.error().message};
        return false;
    }
    for (const auto& [record, chosen] : records) {
        const EventTeller teller(image, why, chosen, before(image, record), events);
        const Status applied = image.apply(offset, record);
        HW_ASSERT(applied.has_value(), "{}", applied.error().message);
        std::visit(teller, record);
        ++offset;
    }
    HW_ASSERT(image.end_offset() == log->log_end_offset(), "{} != {}", image.end_offset(),
              log->log_end_offset());
    return true;
}

Controller::Controller(std::unique_ptr<State> state) : state_(std::move(state)) {}
Controller::~Controller() = default;

Result<std::unique_ptr<Controller>> Controller::open(Instant now, std::int64_t wall_ms,
                                                     ControllerSettings settings, Storage& storage, Rng rng) {
    auto state = std::make_unique<State>(std::move(settings), rng);
    auto log = PartitionLog::open(storage, kDirectory);
    if (!log) return tl::make_unexpected(log.error());
    state->log = std::move(*log);
    if (const Status replayed = state->replay_log(); !replayed) return tl::make_unexpected(replayed.error());
    if (const Status begun = state->begin_epoch(wall_ms); !begun) return tl::make_unexpected(begun.error());
    // When they were last heard is unknown: an unfenced broker gets a whole session to speak again.
    for (const auto& [id, broker] : state->image.brokers()) {
        BrokerSession& session = state->sessions[id];
        if (!broker.fenced) session.last_contact = now;
    }
    state->next_session_check = now + state->settings.broker_session_timeout / 8;
    state->next_unclean_election = now + state->settings.unclean_election_interval;
    state->next_rebalance = now + state->settings.leader_imbalance_check_interval;
    return std::unique_ptr<Controller>(new Controller(std::move(state)));
}

const MetadataImage& Controller::image() const { return state_->image; }
const PartitionLog& Controller::metadata_log() const { return *state_->log; }
LeaderEpoch Controller::controller_epoch() const { return state_->controller_epoch; }
const std::optional<Error>& Controller::fatal() const { return state_->fatal; }
std::vector<ControllerEvent> Controller::take_events() { return std::exchange(state_->events, {}); }

}  // namespace highwater::node
