#include <algorithm>

#include "base/overloaded.h"
#include "node/server/broker_state.h"
#include "node/server/inspection.h"
#include "node/server/make_server.h"

namespace highwater::node {
namespace {

class BrokerServer final : public Server, public ServerInspection {
public:
    explicit BrokerServer(std::unique_ptr<BrokerState> state) : state_(std::move(state)) {}

    void step(Instant now, std::int64_t wall_ms, const Input& input) override {
        BrokerState& broker = *state_;
        if (broker.phase == BrokerPhase::Stopped) return;
        broker.now = std::max(broker.now, now);
        broker.wall_ms = wall_ms;
        std::visit(overloaded{[&](const Accepted& accepted) {
                                  broker.inbound.accepted(accepted.conn, accepted.listener,
                                                          kind_of(accepted.listener), accepted.peer);
                              },
                              [&](const Connected& connected) {
                                  each_channel([&](Channel& channel) {
                                      channel.connected(broker.now, connected.conn);
                                  });
                              },
                              [&](const Disconnected& gone) {
                                  if (broker.inbound.disconnected(gone.conn))
                                      return broker.forget_early(gone.conn);
                                  each_channel([&](Channel& channel) {
                                      channel.disconnected(broker.now, gone.conn, gone.reason);
                                  });
                              },
                              [&](const FrameReceived& frame) { received(frame); }, [](const Tick&) {},
                              [&](const StopRequested&) { broker.begin_shutdown(); }},
                   input);
        run_timers();
        broker.serve_early();
        broker.settle();
        if (broker.phase == BrokerPhase::Stopped) broker.complete_stop();
    }

    Ready take_ready() override { return state_->outbox.take(); }

    [[nodiscard]] Instant deadline() const override {
        const BrokerState& broker = *state_;
        if (broker.phase == BrokerPhase::Stopped) return Instant::never();
        Instant next = broker.lifecycle_deadline();
        for (const DelayedProduce& produce : broker.produces) next = std::min(next, produce.expires);
        for (const DelayedFetch& fetch : broker.fetches) next = std::min(next, fetch.expires);
        for (const auto& [leader, fetcher] : broker.fetchers) {
            if (!fetcher.channel) continue;
            next = std::min(next, fetcher.channel->deadline());
            // While a request is in flight, a backoff that ends changes nothing.
            if (!fetcher.channel->idle()) continue;
            for (const auto& [name, until] : fetcher.backing_off) next = std::min(next, until);
        }
        next = std::min(next, broker.groups_deadline());
        if (broker.alter.idle() && broker.next_alter > broker.now) next = std::min(next, broker.next_alter);
        return next;
    }

    [[nodiscard]] std::size_t unanswered(ConnId conn) const override {
        const auto early = std::count_if(state_->early.begin(), state_->early.end(),
                                         [&](const FrameReceived& frame) { return frame.conn == conn; });
        return state_->inbound.unanswered(conn) + static_cast<std::size_t>(early);
    }

    [[nodiscard]] const Partition* find_partition(const TopicPartition& id) const override {
        return state_->partition(id);
    }
    [[nodiscard]] const MetadataImage& metadata_image() const override { return state_->image; }

private:
    [[nodiscard]] wire::ListenerKind kind_of(const std::string& listener) const {
        return listener == state_->config.inter_broker_listener ? wire::ListenerKind::Internal
                                                                : wire::ListenerKind::Client;
    }

    template <class Act>
    void each_channel(Act act) {
        BrokerState& broker = *state_;
        for (Channel* channel : {&broker.registration, &broker.metadata, &broker.alter, &broker.forwarding})
            act(*channel);
        for (auto& [leader, fetcher] : broker.fetchers) {
            if (fetcher.channel) act(*fetcher.channel);
        }
    }

    void received(const FrameReceived& frame) {
        BrokerState& broker = *state_;
        if (broker.inbound.knows(frame.conn)) return broker.receive(frame);
        each_channel([&](Channel& channel) { channel.frame(broker.now, frame.conn, frame.payload); });
    }

    void run_timers() {
        BrokerState& broker = *state_;
        if (broker.phase == BrokerPhase::Stopped) return;
        each_channel([&](Channel& channel) { channel.tick(broker.now); });
        broker.run_lifecycle();
        if (broker.now >= broker.next_isr_tick) {
            broker.next_isr_tick = broker.now + broker.config.replica_lag_time_max / 2;
            for (auto& [name, held] : broker.partitions) held->tick(broker.now);
        }
        if (broker.checkpoints.high_watermarks_due(broker.now, broker.config)) broker.write_checkpoint();
        broker.checkpoints.write_due(broker.now, broker.config, broker.partitions, broker.outbox);
        broker.checkpoints.expire_producers(broker.now, broker.wall_ms, broker.config, broker.partitions);
    }

    std::unique_ptr<BrokerState> state_;
};

}  // namespace

void BrokerState::settle() {
    // One change sets off the next: a fetch moves the high watermark, which finishes a produce and wakes a
    // consumer. Bounded, because each round answers what was waiting.
    expire_produces();
    do {
        finish_produces();
        look_at_fetches();
        finish_produces();
    } while (phase != BrokerPhase::Stopped && run_groups());
    if (phase != BrokerPhase::Stopped) {
        send_proposals();
        run_fetchers();
    }
    drain_partition_events();
}

void BrokerState::drain_partition_events() {
    bool lowered = false;
    for (auto& [name, held] : partitions) {
        for (PartitionEvent& event : held->take_events()) {
            if (const auto* offline = std::get_if<WentOffline>(&event.fact))
                outbox.error(fmt::format("{} goes offline: {}", name.to_string(), offline->reason));
            const auto* moved = std::get_if<HighWatermarkMoved>(&event.fact);
            lowered = lowered || (moved != nullptr && moved->to < moved->from);
            outbox.event(std::move(event));
        }
    }
    // After an unclean election a log is cut below what was committed. A checkpoint from before, clamped to
    // the log that grows again, would make a restarted replica serve what nobody committed.
    if (lowered) checkpoints.write_high_watermarks(partitions, outbox);
}

void BrokerState::write_checkpoint() {
    drain_partition_events();
    checkpoints.write_high_watermarks(partitions, outbox);
}

Result<std::unique_ptr<Server>> make_broker_server(Instant now, std::int64_t wall_ms, NodeConfig config,
                                                   Storage& storage, Rng rng) {
    auto meta = load_meta_properties(storage, config, rng);
    if (!meta) return tl::make_unexpected(meta.error());
    config.cluster_id = meta->cluster_id;
    auto state = std::make_unique<BrokerState>(std::move(config), *meta, storage, rng);
    auto checkpoints = Checkpoints::load(storage);
    if (!checkpoints) return tl::make_unexpected(checkpoints.error());
    state->checkpoints = std::move(*checkpoints);
    state->now = now;
    state->wall_ms = wall_ms;
    state->start();
    return std::make_unique<BrokerServer>(std::move(state));
}

Result<std::unique_ptr<Server>> make_server(Instant now, std::int64_t wall_ms, NodeConfig config,
                                            Storage& storage, Rng rng) {
    return config.is_controller ? make_controller_server(now, wall_ms, std::move(config), storage, rng)
                                : make_broker_server(now, wall_ms, std::move(config), storage, rng);
}

}  // namespace highwater::node
