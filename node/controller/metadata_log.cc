// The controller and its log: replay at start, one batch per decision, flushed before anybody is answered.
#include <fmt/format.h>

#include "base/assert.h"
#include "node/controller/state.h"
#include "wire/record_batch.h"

namespace highwater::node {
namespace {

constexpr std::size_t kReadSize = 1U << 20U;

/// The version each record is written with: the lowest that carries what we write.
std::int16_t version_of(const wire::MetadataRecord& record) {
    if (std::holds_alternative<wire::RegisterBrokerRecord>(record)) return 1;
    if (const auto* change = std::get_if<wire::BrokerRegistrationChangeRecord>(&record)) {
        return change->in_controlled_shutdown != 0 ? 1 : 0;
    }
    return 0;
}

}  // namespace

Status Controller::State::replay() {
    for (Offset at = log->log_start_offset(); at < log->log_end_offset();) {
        const auto bytes = log->read(at, log->log_end_offset(), kReadSize);
        if (!bytes) return tl::make_unexpected(bytes.error());
        const auto batches = wire::split_batches(*bytes);
        if (!batches) return tl::make_unexpected(batches.error());
        for (const wire::BatchView& batch : *batches) {
            at = batch.header.next_offset();
            if (batch.header.control()) continue;
            const auto records = wire::decode_records(batch.bytes);
            if (!records) return tl::make_unexpected(records.error());
            for (const wire::Record& record : *records) {
                const auto decoded = wire::decode_metadata_record(record.value.value_or(Bytes{}));
                if (!decoded) return failure(fmt::format("metadata offset {}", record.offset), decoded.error());
                if (Status applied = image.apply(record.offset, decoded->record); !applied) return applied;
            }
        }
    }
    return {};
}

void Controller::State::write(std::int64_t wall_ms, const std::vector<wire::MetadataRecord>& records) {
    if (records.empty()) return;
    wire::BatchSpec spec;
    spec.leader_epoch = controller_epoch;
    for (const wire::MetadataRecord& record : records) {
        wire::Record entry;
        entry.timestamp = wall_ms;
        entry.value = wire::encode_metadata_record(record, version_of(record));
        spec.records.push_back(std::move(entry));
    }
    const Offset base = log->log_end_offset();
    const auto appended = log->append_as_leader(wire::encode_batch(spec), controller_epoch);
    HW_ASSERT(appended.has_value(), "metadata log: {}", appended ? "" : appended.error().message);
    const Status flushed = log->flush();
    HW_ASSERT(flushed.has_value(), "metadata log: {}", flushed ? "" : flushed.error().message);
    for (std::size_t i = 0; i < records.size(); ++i) {
        const Status applied = image.apply(base + static_cast<Offset>(i), records[i]);
        HW_ASSERT(applied.has_value(), "{}", applied ? "" : applied.error().message);
    }
}

void Controller::State::write_leader_change(std::int64_t wall_ms) {
    // As Kafka's raft leader does at the start of its epoch; dump tools show the record as LeaderChange.
    wire::LeaderChangeMessage message;
    message.leader_id = settings.self;
    message.voters.push_back({settings.self, {}});
    message.granting_voters.push_back({settings.self, {}});
    wire::Record record;
    record.timestamp = wall_ms;
    ByteWriter key;
    key.i16(0);  // key version
    key.i16(2);  // control record type: leader change
    record.key = key.take();
    record.value = wire::encode(message, 0);
    wire::BatchSpec spec;
    spec.leader_epoch = controller_epoch;
    spec.control = true;
    spec.records.push_back(std::move(record));
    const auto appended = log->append_as_leader(wire::encode_batch(spec), controller_epoch);
    HW_ASSERT(appended.has_value(), "metadata log: {}", appended ? "" : appended.error().message);
    const Status flushed = log->flush();
    HW_ASSERT(flushed.has_value(), "metadata log: {}", flushed ? "" : flushed.error().message);
}

Controller::Controller(std::unique_ptr<State> state) : state_(std::move(state)) {}
Controller::~Controller() = default;

Result<std::unique_ptr<Controller>> Controller::open(Instant now, std::int64_t wall_ms, ControllerSettings settings,
                                                     Storage& storage, Rng rng) {
    auto state = std::make_unique<State>(std::move(settings), rng);
    auto log = PartitionLog::open(storage, "__cluster_metadata-0");
    if (!log) return tl::make_unexpected(log.error());
    state->log = std::move(*log);
    if (const Status replayed = state->replay(); !replayed) return tl::make_unexpected(replayed.error());
    state->controller_epoch = state->log->epochs().latest_epoch().value_or(0) + 1;
    if (Status assigned = state->log->assign_epoch(state->controller_epoch, state->log->log_end_offset()); !assigned) {
        return tl::make_unexpected(assigned.error());
    }
    state->write_leader_change(wall_ms);
    // Contact before the restart is unknown: every session counts from now.
    for (const auto& [id, broker] : state->image.brokers()) state->sessions[id] = {now};
    state->next_session_check = now + state->settings.broker_session_timeout / 8;
    state->next_unclean_retry = now + state->settings.unclean_election_interval;
    return std::unique_ptr<Controller>(new Controller(std::move(state)));
}

const MetadataImage& Controller::image() const { return state_->image; }
const PartitionLog& Controller::metadata_log() const { return *state_->log; }
LeaderEpoch Controller::controller_epoch() const { return state_->controller_epoch; }
std::vector<ControllerEvent> Controller::take_events() { return std::exchange(state_->events, {}); }

}  // namespace highwater::node
