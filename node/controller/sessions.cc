// Sessions: heartbeats keep a broker unfenced, silence fences it, a controlled shutdown lets it go in order.
#include <algorithm>
#include <limits>

#include "node/controller/state.h"

namespace highwater::node {
namespace {

enum class BrokerState : std::uint8_t { Fenced, Unfenced, ControlledShutdown, ShutdownNow };

BrokerState current_state(const BrokerImage& broker, const BrokerSession& session) {
    if (broker.fenced) return BrokerState::Fenced;
    return session.controlled_shutdown_offset ? BrokerState::ControlledShutdown : BrokerState::Unfenced;
}

BrokerState next_fenced(const BrokerImage& broker, const wire::BrokerHeartbeatRequest& request) {
    if (request.want_shut_down) return BrokerState::ShutdownNow;
    // Unfenced before it knows of its own registration, it could act on the metadata of its former life.
    const bool knows_itself = request.current_metadata_offset >= broker.registration_offset;
    return !request.want_fence && knows_itself ? BrokerState::Unfenced : BrokerState::Fenced;
}

BrokerState next_unfenced(const wire::BrokerHeartbeatRequest& request, bool leads) {
    if (request.want_fence) return request.want_shut_down ? BrokerState::ShutdownNow : BrokerState::Fenced;
    if (!request.want_shut_down) return BrokerState::Unfenced;
    return leads ? BrokerState::ControlledShutdown : BrokerState::ShutdownNow;
}

BrokerState next_leaving(const BrokerSession& session, bool leads, Offset lowest_active_offset) {
    // Clients and followers of what it led must be able to find the new leaders first.
    const bool everybody_knows = *session.controlled_shutdown_offset <= lowest_active_offset;
    return !leads && everybody_knows ? BrokerState::ShutdownNow : BrokerState::ControlledShutdown;
}

wire::BrokerRegistrationChangeRecord change_of(const BrokerImage& broker) {
    wire::BrokerRegistrationChangeRecord record;
    record.broker_id = broker.id;
    record.broker_epoch = broker.epoch;
    return record;
}

wire::BrokerHeartbeatResponse refused(wire::ErrorCode code) {
    wire::BrokerHeartbeatResponse response;
    response.error_code = code;
    return response;
}

}  // namespace

bool Controller::State::session_lives(Instant now, BrokerId id) const {
    const auto session = sessions.find(id);
    // A session is contact alone: that of a fenced broker, and of one that was let go, lives on until it
    // expires.
    return session != sessions.end() && session->second.last_contact &&
           *session->second.last_contact + settings.broker_session_timeout >= now;
}

Offset Controller::State::lowest_active_offset() const {
    Offset lowest = std::numeric_limits<Offset>::max();
    for (const auto& [id, session] : sessions) {
        if (is_active(id) && !session.controlled_shutdown_offset)
            lowest = std::min(lowest, session.metadata_offset);
    }
    return lowest;
}

bool Controller::State::fence(std::int64_t wall_ms, BrokerId id, const Why& why) {
    const BrokerImage& broker = *image.broker(id);
    if (broker.fenced) return !fatal;
    Records records;
    add_departure(records, id);
    wire::BrokerRegistrationChangeRecord record = change_of(broker);
    record.fenced = 1;
    records.emplace_back(std::move(record));
    return commit(wall_ms, records, why);
}

void Controller::State::fence_silent_brokers(Instant now, std::int64_t wall_ms) {
    std::vector<std::pair<Instant, BrokerId>> silent;
    for (const auto& [id, session] : sessions) {
        if (session.last_contact && !session_lives(now, id)) silent.emplace_back(*session.last_contact, id);
    }
    // The longest silent first; each in a batch of its own, so that the next one's elections see the last one
    // fenced.
    std::sort(silent.begin(), silent.end());
    for (const auto& [last_contact, id] : silent) {
        BrokerSession& session = sessions.at(id);
        if (!fence(wall_ms, id, {"fenced", FenceReason::SessionTimeout, now - last_contact})) return;
        session.last_contact.reset();
        session.controlled_shutdown_offset.reset();
    }
}

wire::BrokerHeartbeatResponse Controller::handle(Instant now, std::int64_t wall_ms,
                                                 const wire::BrokerHeartbeatRequest& request) {
    State& state = *state_;
    const BrokerId id = request.broker_id;
    const BrokerImage* found = state.image.broker(id);
    if (found == nullptr || found->epoch != request.broker_epoch)
        return refused(wire::ErrorCode::StaleBrokerEpoch);
    const BrokerImage broker = *found;
    BrokerSession& session = state.sessions[id];
    session.last_contact = now;

    const BrokerState current = current_state(broker, session);
    const bool leads = state.leads_anything(id);
    const BrokerState next = current == BrokerState::Fenced ? next_fenced(broker, request)
                             : current == BrokerState::Unfenced
                                 ? next_unfenced(request, leads)
                                 : next_leaving(session, leads, state.lowest_active_offset());
    bool decided = !state.fatal;
    if (current != next && (next == BrokerState::Fenced || next == BrokerState::ShutdownNow)) {
        decided = state.fence(wall_ms, id, {"shutdown", FenceReason::ControlledShutdown});
    } else if (current != next && next == BrokerState::Unfenced) {
        wire::BrokerRegistrationChangeRecord record = change_of(broker);
        record.fenced = -1;
        Records records{std::move(record)};
        state.add_elections(records, broker.in_controlled_shutdown ? kNoBroker : id);
        decided = state.commit(wall_ms, records, {"unfenced"});
    } else if (current != next) {
        Records records;
        if (!broker.in_controlled_shutdown) {
            wire::BrokerRegistrationChangeRecord record = change_of(broker);
            record.in_controlled_shutdown = 1;
            records.emplace_back(std::move(record));
        }
        state.add_departure(records, id);
        decided = state.commit(wall_ms, records, {"shutdown"});
        if (decided) session.controlled_shutdown_offset = state.image.end_offset() - 1;
    }
    if (!decided) return refused(wire::ErrorCode::UnknownServerError);

    wire::BrokerHeartbeatResponse response;
    response.is_caught_up = request.current_metadata_offset >= broker.registration_offset;
    response.is_fenced = next == BrokerState::Fenced || next == BrokerState::ShutdownNow;
    response.should_shut_down = next == BrokerState::ShutdownNow;
    session.metadata_offset = request.current_metadata_offset;
    if (response.is_fenced) session.controlled_shutdown_offset.reset();
    return response;
}

void Controller::tick(Instant now, std::int64_t wall_ms) {
    State& state = *state_;
    if (state.fatal) return;
    if (now >= state.next_session_check) {
        state.next_session_check = now + state.settings.broker_session_timeout / 8;
        state.fence_silent_brokers(now, wall_ms);
    }
    if (now >= state.next_unclean_election) {
        state.next_unclean_election = now + state.settings.unclean_election_interval;
        // Only a config that changed, or a candidate that came while it could not lead, leaves anything to do
        // here.
        Records records;
        state.add_elections(records, kNoBroker);
        // A failing log is told by fatal().
        static_cast<void>(state.commit(wall_ms, records, {"unclean"}));
    }
    if (state.settings.auto_leader_rebalance && now >= state.next_rebalance) {
        state.next_rebalance = now + state.settings.leader_imbalance_check_interval;
        Records records;
        state.add_preferred_elections(records);
        static_cast<void>(state.commit(wall_ms, records, {"preferred"}));
    }
}

Instant Controller::deadline() const {
    if (state_->fatal) return Instant::never();
    const Instant next = std::min(state_->next_session_check, state_->next_unclean_election);
    return state_->settings.auto_leader_rebalance ? std::min(next, state_->next_rebalance) : next;
}

}  // namespace highwater::node
