// Who is in the cluster: a broker process registers, gets its epoch, and starts fenced and in no ISR.
#include <algorithm>
#include <set>

#include "node/controller/state.h"

namespace highwater::node {
namespace {

/// A directory may belong to one broker only; the first hundred ids have meanings of their own (unassigned,
/// lost …).
bool is_reserved(const Uuid& directory) {
    constexpr std::uint8_t kReserved = 100;
    const auto leading = directory.bytes.end() - 1;
    return std::all_of(directory.bytes.begin(), leading, [](std::uint8_t byte) { return byte == 0; }) &&
           *leading < kReserved;
}

bool directories_are_valid(const MetadataImage& image, const wire::BrokerRegistrationRequest& request) {
    const std::set<Uuid> distinct(request.log_dirs.begin(), request.log_dirs.end());
    if (distinct.empty() || distinct.size() != request.log_dirs.size()) return false;
    if (std::any_of(distinct.begin(), distinct.end(), is_reserved)) return false;
    for (const auto& [id, broker] : image.brokers()) {
        if (id == request.broker_id) continue;
        for (const Uuid& directory : broker.log_dirs) {
            if (distinct.contains(directory)) return false;
        }
    }
    return true;
}

wire::RegisterBrokerRecord register_record(const wire::BrokerRegistrationRequest& request) {
    wire::RegisterBrokerRecord record;
    record.broker_id = request.broker_id;
    record.incarnation_id = request.incarnation_id;
    record.rack = request.rack;
    record.log_dirs = request.log_dirs;
    for (const auto& listener : request.listeners) {
        record.end_points.push_back(
            {listener.name, listener.host, listener.port, listener.security_protocol});
    }
    for (const auto& feature : request.features) {
        record.features.push_back(
            {feature.name, feature.min_supported_version, feature.max_supported_version});
    }
    return record;
}

wire::BrokerRegistrationResponse refused(wire::ErrorCode code) {
    wire::BrokerRegistrationResponse response;
    response.error_code = code;
    return response;
}

}  // namespace

wire::BrokerRegistrationResponse Controller::handle(Instant now, std::int64_t wall_ms,
                                                    const wire::BrokerRegistrationRequest& request) {
    State& state = *state_;
    if (request.cluster_id != state.settings.cluster_id.to_string())
        return refused(wire::ErrorCode::InconsistentClusterId);
    const BrokerId id = request.broker_id;
    const BrokerImage* known = state.image.broker(id);
    const bool same_process = known != nullptr && known->incarnation == request.incarnation_id;
    // Two processes must not both believe that they are broker `id`: the new one waits until the old one is
    // surely silent, also after an orderly stop.
    if (known != nullptr && !same_process && state.session_lives(now, id)) {
        return refused(wire::ErrorCode::DuplicateBrokerRegistration);
    }
    if (request.is_migrating_zk_broker) return refused(wire::ErrorCode::BrokerIdNotRegistered);
    if (!directories_are_valid(state.image, request)) return refused(wire::ErrorCode::InvalidRegistration);

    Records records;
    bool clean = same_process;
    wire::RegisterBrokerRecord record = register_record(request);
    if (same_process) {
        // It did not get the answer: the same registration again, whatever became of it meanwhile.
        record.broker_epoch = known->epoch;
        record.fenced = known->fenced;
        record.in_controlled_shutdown = known->in_controlled_shutdown;
    } else {
        // A new process may have lost what the old one had on disk: it leaves every ISR, as if fenced. It has
        // lost nothing only if it says of which life the clean stop before it was, and that was the last one.
        record.broker_epoch = state.log->log_end_offset();
        clean = known != nullptr && request.previous_broker_epoch == known->epoch;
        state.add_departure(records, id, !clean);
    }
    const BrokerEpoch epoch = record.broker_epoch;
    records.emplace_back(std::move(record));
    if (!state.commit(wall_ms, records, Why{.cause = "registered", .clean = clean}))
        return refused(wire::ErrorCode::UnknownServerError);
    // Its session begins with its first heartbeat.
    if (!same_process) state.sessions[id] = {};
    wire::BrokerRegistrationResponse response;
    response.broker_epoch = epoch;
    return response;
}

}  // namespace highwater::node
