// Sessions: heartbeats keep a broker unfenced; silence fences it; a controlled shutdown lets it go in order.
#include <algorithm>

#include "node/controller/state.h"

namespace highwater::node {

bool Controller::State::session_lives(Instant now, BrokerId id) const {
    const BrokerImage* broker = image.broker(id);
    const auto session = sessions.find(id);
    // A fenced broker's session is over, also right after a controlled shutdown was granted.
    return broker != nullptr && !broker->fenced && session != sessions.end() &&
           now - session->second.last_contact <= settings.broker_session_timeout;
}

void Controller::State::fence(Instant now, std::int64_t wall_ms, BrokerId id, FenceReason reason) {
    const BrokerEpoch epoch = image.broker(id)->epoch;
    const Duration silent = now - sessions[id].last_contact;
    wire::BrokerRegistrationChangeRecord record;
    record.broker_id = id;
    record.broker_epoch = epoch;
    record.fenced = 1;
    events.emplace_back(BrokerFenced{id, epoch, reason, silent});
    change_partitions(wall_ms, id, reason == FenceReason::SessionTimeout ? "fenced" : "shutdown", {std::move(record)});
}

bool Controller::State::leads_anything(BrokerId id) const {
    for (const auto& [name, topic] : image.topics()) {
        for (const auto& [index, partition] : topic.partitions) {
            if (partition.leader == id) return true;
        }
    }
    return false;
}

bool Controller::State::everybody_passed(BrokerId leaving, Offset offset) const {
    return std::all_of(image.brokers().begin(), image.brokers().end(), [&](const auto& entry) {
        const BrokerImage& broker = entry.second;
        if (broker.fenced || broker.in_controlled_shutdown || broker.id == leaving) return true;
        const auto reached = applied.find(broker.id);
        return reached != applied.end() && reached->second >= offset;
    });
}

wire::BrokerHeartbeatResponse Controller::handle(Instant now, std::int64_t wall_ms,
                                                 const wire::BrokerHeartbeatRequest& request) {
    State& state = *state_;
    wire::BrokerHeartbeatResponse response;
    const BrokerId id = request.broker_id;
    const BrokerImage* broker = state.image.broker(id);
    if (broker == nullptr || broker->epoch != request.broker_epoch) {
        response.error_code = broker == nullptr ? wire::ErrorCode::BrokerIdNotRegistered : wire::ErrorCode::StaleBrokerEpoch;
        return response;
    }
    state.sessions[id] = {now};
    state.applied[id] = request.current_metadata_offset;
    // A broker counts as caught up when it has applied its own registration.
    response.is_caught_up = request.current_metadata_offset >= broker->epoch;
    if (broker->fenced && !request.want_fence && !request.want_shut_down && response.is_caught_up) {
        const BrokerEpoch epoch = broker->epoch;
        wire::BrokerRegistrationChangeRecord record;
        record.broker_id = id;
        record.broker_epoch = epoch;
        record.fenced = -1;
        state.events.emplace_back(BrokerUnfenced{id, epoch});
        state.change_partitions(wall_ms, kNoBroker, "unfenced", {std::move(record)});
    } else if (request.want_shut_down && broker->fenced) {
        response.should_shut_down = true;
    } else if (request.want_shut_down) {
        if (!broker->in_controlled_shutdown) {
            const BrokerEpoch epoch = broker->epoch;
            wire::BrokerRegistrationChangeRecord record;
            record.broker_id = id;
            record.broker_epoch = epoch;
            record.in_controlled_shutdown = 1;
            state.events.emplace_back(BrokerShuttingDown{id, epoch});
            state.change_partitions(wall_ms, id, "shutdown", {std::move(record)});
            state.shutdown_offset[id] = state.log->log_end_offset() - 1;
        }
        const auto began = state.shutdown_offset.find(id);
        const Offset passed = began == state.shutdown_offset.end() ? state.log->log_end_offset() - 1 : began->second;
        if (!state.leads_anything(id) && state.everybody_passed(id, passed)) {
            state.fence(now, wall_ms, id, FenceReason::ControlledShutdown);
            response.should_shut_down = true;
        }
    }
    response.is_fenced = state.image.broker(id)->fenced;
    return response;
}

void Controller::tick(Instant now, std::int64_t wall_ms) {
    State& state = *state_;
    if (now >= state.next_session_check) {
        state.next_session_check = now + state.settings.broker_session_timeout / 8;
        std::vector<BrokerId> silent;
        for (const auto& [id, broker] : state.image.brokers()) {
            if (!broker.fenced && !state.session_lives(now, id)) silent.push_back(id);
        }
        for (const BrokerId id : silent) state.fence(now, wall_ms, id, FenceReason::SessionTimeout);
    }
    if (now >= state.next_unclean_retry) {
        state.next_unclean_retry = now + state.settings.unclean_election_interval;
        state.change_partitions(wall_ms, kNoBroker, "unclean", {});
    }
}

Instant Controller::deadline() const { return std::min(state_->next_session_check, state_->next_unclean_retry); }

}  // namespace highwater::node
