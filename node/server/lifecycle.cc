// A broker's life: register, catch up with metadata, be unfenced by heartbeats, and leave by controlled
// shutdown.
#include <algorithm>

#include "node/server/broker_state.h"
#include "wire/messages/broker_registration.h"

namespace highwater::node {
namespace {

constexpr Duration kControllerTimeout = milliseconds(2000);
/// controller.socket.timeout.ms, as Kafka has it for what must not be asked twice.
constexpr Duration kForwardTimeout = milliseconds(30000);
constexpr Duration kAlterTimeout = milliseconds(30000);
/// A registration that failed is sent again after this, then after twice as long each time: what fails first
/// is mostly a controller that starts together with its brokers.
constexpr Duration kFirstRegisterRetry = milliseconds(20);
/// As long as the old session lives it is refused: then this often, sooner where sessions are short.
constexpr Duration kLongestRegisterRetry = milliseconds(2000);
/// Past this an unreachable controller no longer keeps a broker from stopping.
constexpr Duration kShutdownPatience = milliseconds(30000);
constexpr std::int16_t kRegistrationVersion = 4;
constexpr std::int16_t kHeartbeatVersion = 1;

Channel controller_channel(Outbox& outbox, const NodeConfig& config, std::string client_id,
                           Duration timeout) {
    return {outbox, std::move(client_id), config.controller.host, config.controller.port, timeout};
}

}  // namespace

BrokerState::BrokerState(NodeConfig config_, MetaProperties meta_, Storage& storage_, Rng rng_)
    : config(std::move(config_)),
      meta(std::move(meta_)),
      storage(storage_),
      rng(rng_),
      registration(controller_channel(outbox, config, std::to_string(config.node_id), kControllerTimeout)),
      metadata(controller_channel(outbox, config, fmt::format("raft-client-{}", config.node_id),
                                  kControllerTimeout)),
      alter(controller_channel(outbox, config, std::to_string(config.node_id), kAlterTimeout)),
      forwarding(
          controller_channel(outbox, config, fmt::format("{}-forwarding", config.node_id), kForwardTimeout)) {
    incarnation = rng.uuid();
}

void BrokerState::start() {
    outbox.event(ServerEvent{ServerStarted{"broker", incarnation, config.bugs.to_string()}});
    next_isr_tick = now + config.replica_lag_time_max / 2;
    checkpoints.start(now, config);
}

Duration BrokerState::next_register_backoff() {
    const Duration longest = std::min(kLongestRegisterRetry, config.broker_session_timeout / 6);
    register_backoff = std::min(std::max(register_backoff * 2, kFirstRegisterRetry), longest);
    // Up to a fifth less, Kafka's jitter: brokers that started together do not come back together.
    return register_backoff * rng.between(80, 100) / 100;
}

void BrokerState::send_registration() {
    wire::BrokerRegistrationRequest request;
    request.broker_id = config.node_id;
    request.cluster_id = config.cluster_id.to_string();
    request.incarnation_id = incarnation;
    request.log_dirs = {meta.directory_id};
    // A process that registers once more has lost nothing since the last time.
    request.previous_broker_epoch =
        broker_epoch == kUnknownBrokerEpoch ? checkpoints.previous_broker_epoch() : broker_epoch;
    for (const Endpoint& endpoint : config.advertised) {
        request.listeners.push_back({endpoint.listener, endpoint.host, endpoint.port, 0});
    }
    const std::int32_t correlation = registration.correlation_id() + 1;
    registration.request(
        now, request, kRegistrationVersion, [this, correlation](Instant, const Result<BytesView>& frame) {
            next_register = now + next_register_backoff();
            if (!frame) return outbox.warn("registration: " + frame.error().message);
            const auto response = wire::decode_response<wire::BrokerRegistrationResponse>(
                *frame, kRegistrationVersion, correlation);
            if (!response) return outbox.error("registration: " + response.error().message);
            if (response->error_code != wire::ErrorCode::None) {
                return outbox.warn(
                    fmt::format("Unable to register broker {} because the controller returned error {}",
                                config.node_id, wire::error_name(response->error_code)));
            }
            broker_epoch = response->broker_epoch;
            phase = BrokerPhase::Starting;
            register_backoff = Duration{0};
            next_heartbeat = now;
            outbox.info(fmt::format("registered broker {} with epoch {}", config.node_id, broker_epoch));
            drain_partition_events();
            outbox.event(ServerEvent{ServerRegistered{broker_epoch}});
            apply_if_current();  // the record may have come before this answer
        });
}

void BrokerState::send_heartbeat() {
    wire::BrokerHeartbeatRequest request;
    request.broker_id = config.node_id;
    request.broker_epoch = broker_epoch;
    request.current_metadata_offset = image.end_offset() - 1;
    const BrokerImage* self = image.broker(config.node_id);
    // Wanted only once the log that says who leads what was applied up to this registration.
    request.want_fence = self == nullptr || self->epoch != broker_epoch;
    request.want_shut_down = phase == BrokerPhase::ShuttingDown;
    next_heartbeat = now + config.broker_heartbeat_interval;
    const std::int32_t correlation = registration.correlation_id() + 1;
    registration.request(
        now, request, kHeartbeatVersion, [this, correlation](Instant, const Result<BytesView>& frame) {
            if (!frame) return outbox.warn("heartbeat: " + frame.error().message);
            const auto response =
                wire::decode_response<wire::BrokerHeartbeatResponse>(*frame, kHeartbeatVersion, correlation);
            if (!response) return outbox.error("heartbeat: " + response.error().message);
            heartbeat_answered(*response);
        });
}

void BrokerState::heartbeat_answered(const wire::BrokerHeartbeatResponse& response) {
    if (response.error_code == wire::ErrorCode::StaleBrokerEpoch ||
        response.error_code == wire::ErrorCode::BrokerIdNotRegistered) {
        outbox.warn(fmt::format("heartbeat: {}: registering again", wire::error_name(response.error_code)));
        if (phase == BrokerPhase::ShuttingDown) return finish_shutdown(true);
        phase = BrokerPhase::Registering;
        incarnation = rng.uuid();
        next_register = now;
    } else if (response.error_code != wire::ErrorCode::None) {
        outbox.warn(fmt::format("heartbeat: {}", wire::error_name(response.error_code)));
    } else if (phase == BrokerPhase::Starting && !response.is_fenced) {
        phase = BrokerPhase::Running;
        outbox.info(fmt::format("broker {} is unfenced", config.node_id));
    } else if (phase == BrokerPhase::Starting) {
        // Metadata arrives in the meantime; a whole heartbeat interval would only lengthen the start.
        next_heartbeat = std::min(next_heartbeat, now + milliseconds(20));
    } else if (phase == BrokerPhase::ShuttingDown && response.should_shut_down) {
        finish_shutdown(true);
    } else if (phase == BrokerPhase::ShuttingDown) {
        next_heartbeat = std::min(next_heartbeat, now + milliseconds(50));
    }
}

void BrokerState::run_lifecycle() {
    if (phase == BrokerPhase::Stopped) return;
    if (phase == BrokerPhase::Registering) {
        if (now >= next_register && registration.idle()) send_registration();
    } else if (now >= next_heartbeat && registration.idle()) {
        send_heartbeat();
    }
    if (now >= next_metadata_fetch && metadata.idle()) fetch_metadata();
    if (now >= shutdown_gives_up) {
        outbox.warn("the controller did not release this broker in time: stopping all the same");
        finish_shutdown(false);
    }
}

void BrokerState::begin_shutdown() {
    if (phase == BrokerPhase::ShuttingDown || phase == BrokerPhase::Stopped) return;
    outbox.info("shutting down");
    const bool orderly =
        config.controlled_shutdown && (phase == BrokerPhase::Running || phase == BrokerPhase::Starting);
    if (!orderly) return finish_shutdown(true);
    phase = BrokerPhase::ShuttingDown;
    shutdown_gives_up = now + kShutdownPatience;
    next_heartbeat = now;
}

void BrokerState::finish_shutdown(bool clean) {
    phase = BrokerPhase::Stopped;
    stopped_clean = clean;
    shutdown_gives_up = Instant::never();
}

void BrokerState::complete_stop() {
    bool closed = true;
    for (auto& [name, held] : partitions) closed = held->close() && closed;
    stopped_clean = stopped_clean && closed;
    drain_partition_events();
    checkpoints.write_at_stop(storage, partitions, closed, broker_epoch, outbox);
    outbox.event(ServerEvent{ServerStopped{stopped_clean}});
    outbox.stopped();
}

Instant BrokerState::lifecycle_deadline() const {
    Instant next = std::min(shutdown_gives_up, std::min(next_isr_tick, checkpoints.deadline()));
    if (registration.idle())
        next = std::min(next, phase == BrokerPhase::Registering ? next_register : next_heartbeat);
    if (metadata.idle()) next = std::min(next, next_metadata_fetch);
    for (const Channel* channel : {&registration, &metadata, &alter, &forwarding})
        next = std::min(next, channel->deadline());
    return next;
}

}  // namespace highwater::node
