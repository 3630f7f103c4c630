// Who is in the cluster: a broker process registers, gets its epoch, and starts fenced.
#include "node/controller/state.h"

namespace highwater::node {

wire::BrokerRegistrationResponse Controller::handle(Instant now, std::int64_t wall_ms,
                                                    const wire::BrokerRegistrationRequest& request) {
    State& state = *state_;
    wire::BrokerRegistrationResponse response;
    response.broker_epoch = kUnknownBrokerEpoch;
    if (request.cluster_id != state.settings.cluster_id.to_string()) {
        response.error_code = wire::ErrorCode::InconsistentClusterId;
        return response;
    }
    const BrokerImage* known = state.image.broker(request.broker_id);
    if (known != nullptr && known->incarnation == request.incarnation_id) {
        // The answer was lost and the broker asks again.
        state.sessions[request.broker_id] = {now};
        response.broker_epoch = known->epoch;
        return response;
    }
    if (known != nullptr && state.session_lives(now, request.broker_id)) {
        response.error_code = wire::ErrorCode::DuplicateBrokerRegistration;
        return response;
    }
    wire::RegisterBrokerRecord record;
    record.broker_id = request.broker_id;
    record.incarnation_id = request.incarnation_id;
    record.broker_epoch = state.log->log_end_offset();
    record.fenced = true;
    record.rack = request.rack;
    for (const auto& listener : request.listeners) {
        record.end_points.push_back({listener.name, listener.host, listener.port, listener.security_protocol});
    }
    for (const auto& feature : request.features) {
        record.features.push_back({feature.name, feature.min_supported_version, feature.max_supported_version});
    }
    const BrokerEpoch epoch = record.broker_epoch;
    state.events.emplace_back(BrokerRegistered{request.broker_id, epoch, request.incarnation_id});
    // A new incarnation may have lost what the old one had: it leaves every ISR it can leave.
    state.change_partitions(wall_ms, request.broker_id, "registered", {std::move(record)});
    state.sessions[request.broker_id] = {now};
    state.applied.erase(request.broker_id);
    state.shutdown_offset.erase(request.broker_id);
    response.broker_epoch = epoch;
    return response;
}

}  // namespace highwater::node
