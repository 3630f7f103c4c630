// A whole controller behind the Server interface: the requests of brokers, and the metadata log by
// long-polling Fetch.
#include <algorithm>

#include "base/overloaded.h"
#include "node/controller/controller.h"
#include "node/server/cluster_metadata.h"
#include "node/server/inbound.h"
#include "node/server/inspection.h"
#include "node/server/make_server.h"
#include "node/server/meta_properties.h"
#include "wire/frame.h"
#include "wire/messages/fetch.h"

namespace highwater::node {
namespace {

struct MetadataFetch {
    RequestId request;
    std::int16_t version = 0;
    std::int32_t correlation_id = 0;
    Instant expires;
    wire::FetchRequest fetch;
};

class ControllerServer final : public Server, public ServerInspection {
public:
    ControllerServer(Instant now, NodeConfig config, Rng rng, std::unique_ptr<Controller> controller)
        : config_(std::move(config)), controller_(std::move(controller)), now_(now) {
        outbox_.event(ServerEvent{ServerStarted{"controller", rng.uuid(), config_.bugs.to_string()}});
        outbox_.info(fmt::format("controller {} is active in epoch {}, metadata log end offset {}",
                                 config_.node_id, controller_->controller_epoch(),
                                 controller_->metadata_log().log_end_offset()));
    }

    void step(Instant now, std::int64_t wall_ms, const Input& input) override {
        if (stopped_) return;
        now_ = std::max(now_, now);
        wall_ms_ = wall_ms;
        std::visit(overloaded{[&](const Accepted& accepted) {
                                  inbound_.accepted(accepted.conn, accepted.listener,
                                                    wire::ListenerKind::Internal);
                              },
                              [](const Connected&) {},
                              [&](const Disconnected& gone) { inbound_.disconnected(gone.conn); },
                              [&](const FrameReceived& frame) { handle_frame(frame.conn, frame.payload); },
                              [](const Tick&) {}, [&](const StopRequested&) { stop(true); }},
                   input);
        if (stopped_) return;
        controller_->tick(now_, wall_ms_);
        answer_fetches();
        for (ControllerEvent& event : controller_->take_events()) outbox_.event(std::move(event));
        if (controller_->fatal()) {
            outbox_.error("metadata log: " + controller_->fatal()->message);
            stop(false);
        }
    }

    Ready take_ready() override { return outbox_.take(); }

    [[nodiscard]] std::size_t unanswered(ConnId conn) const override { return inbound_.unanswered(conn); }

    [[nodiscard]] const Partition* find_partition(const TopicPartition&) const override { return nullptr; }
    [[nodiscard]] const MetadataImage& metadata_image() const override { return controller_->image(); }

    [[nodiscard]] Instant deadline() const override {
        if (stopped_) return Instant::never();
        Instant next = controller_->deadline();
        for (const MetadataFetch& fetch : fetches_) next = std::min(next, fetch.expires);
        return next;
    }

private:
    void stop(bool clean) {
        if (std::exchange(stopped_, true)) return;
        outbox_.event(ServerEvent{ServerStopped{clean}});
        outbox_.stopped();
    }

    void handle_frame(ConnId conn, const Bytes& payload) {
        if (!inbound_.knows(conn)) return;
        const auto frame = wire::decode_request_header(payload);
        if (!frame) return inbound_.close(conn, frame.error().message);
        const wire::RequestHeader& header = frame->header;
        const std::string name = fmt::format("{} v{}", wire::api_name(header.api_key), header.api_version);
        if (too_long(header.api_key, payload.size()))
            return inbound_.close(conn, fmt::format("{} of {} bytes", name, payload.size()));
        if (header.api_key == wire::ApiKey::ApiVersions) {
            const wire::ApiVersionsAnswer answer =
                wire::answer_api_versions(wire::ListenerKind::Internal, header.api_version);
            return inbound_.answer(
                inbound_.begin(conn),
                wire::encode_response(answer.response, answer.encode_at, header.correlation_id));
        }
        if (!wire::offers(wire::ListenerKind::Internal, header.api_key, header.api_version)) {
            return inbound_.close(conn, name + " is not offered by a controller");
        }
        switch (header.api_key) {
            case wire::ApiKey::BrokerRegistration:
                return decide<wire::BrokerRegistrationRequest>(conn, *frame);
            case wire::ApiKey::BrokerHeartbeat:
                return decide<wire::BrokerHeartbeatRequest>(conn, *frame);
            case wire::ApiKey::AlterPartition:
                return decide<wire::AlterPartitionRequest>(conn, *frame);
            case wire::ApiKey::CreateTopics:
                return decide<wire::CreateTopicsRequest>(conn, *frame);
            case wire::ApiKey::DeleteTopics:
                return decide<wire::DeleteTopicsRequest>(conn, *frame);
            case wire::ApiKey::IncrementalAlterConfigs:
                return decide<wire::IncrementalAlterConfigsRequest>(conn, *frame);
            case wire::ApiKey::ElectLeaders:
                return decide<wire::ElectLeadersRequest>(conn, *frame);
            case wire::ApiKey::AllocateProducerIds:
                return decide<wire::AllocateProducerIdsRequest>(conn, *frame);
            case wire::ApiKey::Fetch:
                return queue_fetch(conn, *frame);
            default:
                return inbound_.close(conn, name + " is not for controllers");
        }
    }

    template <class Request>
    void decide(ConnId conn, const wire::RequestFrame& frame) {
        const auto request = wire::decode<Request>(frame.body, frame.header.api_version);
        if (!request) return inbound_.close(conn, request.error().message);
        const RequestId id = inbound_.begin(conn);
        const auto response = controller_->handle(now_, wall_ms_, *request);
        inbound_.answer(
            id, wire::encode_response(response, frame.header.api_version, frame.header.correlation_id));
    }

    void queue_fetch(ConnId conn, const wire::RequestFrame& frame) {
        auto request = wire::decode<wire::FetchRequest>(frame.body, frame.header.api_version);
        if (!request) return inbound_.close(conn, request.error().message);
        if (request->topics.size() != 1 || request->topics[0].partitions.size() != 1) {
            return inbound_.close(conn, "a metadata fetch asks for exactly one partition");
        }
        fetches_.push_back({inbound_.begin(conn), frame.header.api_version, frame.header.correlation_id,
                            now_ + milliseconds(std::max(request->max_wait_ms, 0)), std::move(*request)});
    }

    void answer_fetches() {
        std::vector<MetadataFetch> waiting = std::exchange(fetches_, {});
        for (MetadataFetch& fetch : waiting) {
            if (!inbound_.open(fetch.request)) continue;
            wire::FetchResponse response;
            auto& topic = response.responses.emplace_back();
            topic.topic = fetch.fetch.topics[0].topic;
            topic.topic_id = fetch.fetch.topics[0].topic_id;
            auto& answer = topic.partitions.emplace_back();
            const bool urgent = read(fetch, answer);
            if (urgent || !answer.records->empty() || now_ >= fetch.expires) {
                inbound_.answer(fetch.request,
                                wire::encode_response(response, fetch.version, fetch.correlation_id));
            } else {
                fetches_.push_back(std::move(fetch));
            }
        }
    }

    /// Where a log whose last record is of `epoch` and ends at `end` parts from this one; nullopt: nowhere.
    [[nodiscard]] std::optional<OffsetAndEpoch> divergence(LeaderEpoch epoch, Offset end) const {
        if (epoch == kNoEpoch) return std::nullopt;
        const PartitionLog& log = controller_->metadata_log();
        const auto known = log.epochs().end_offset_for(epoch, log.log_end_offset());
        if (!known || (known->epoch == epoch && known->offset >= end)) return std::nullopt;
        return known;
    }

    /// True for an error or a divergence, which must not wait.
    bool read(const MetadataFetch& fetch,
              wire::FetchResponse::FetchableTopicResponse::PartitionData& answer) {
        const auto& asked = fetch.fetch.topics[0].partitions[0];
        const PartitionLog& log = controller_->metadata_log();
        answer.partition_index = asked.partition;
        answer.high_watermark = log.log_end_offset();
        answer.log_start_offset = log.log_start_offset();
        const bool known = fetch.version < 13 ? topic_name(fetch) == kClusterMetadataTopic
                                              : fetch.fetch.topics[0].topic_id == kClusterMetadataTopicId;
        if (!known || asked.partition != 0) {
            answer.error_code = wire::ErrorCode::UnknownTopicOrPartition;
        } else if (asked.current_leader_epoch > controller_->controller_epoch()) {
            answer.error_code = wire::ErrorCode::UnknownLeaderEpoch;
        } else if (asked.current_leader_epoch != kNoEpoch &&
                   asked.current_leader_epoch < controller_->controller_epoch()) {
            answer.error_code = wire::ErrorCode::FencedLeaderEpoch;
        } else if (const auto common = divergence(asked.last_fetched_epoch, asked.fetch_offset)) {
            answer.diverging_epoch = {common->epoch, common->offset};
            answer.records = Bytes{};
            return true;
        } else if (asked.fetch_offset < log.log_start_offset() || asked.fetch_offset > log.log_end_offset()) {
            answer.error_code = wire::ErrorCode::OffsetOutOfRange;
        } else {
            auto records = log.read(asked.fetch_offset, log.log_end_offset(),
                                    static_cast<std::size_t>(std::max(asked.partition_max_bytes, 1)));
            if (records)
                answer.records = std::move(*records);
            else
                answer.error_code = wire::ErrorCode::KafkaStorageError;
        }
        return answer.error_code != wire::ErrorCode::None;
    }

    static const std::string& topic_name(const MetadataFetch& fetch) { return fetch.fetch.topics[0].topic; }

    NodeConfig config_;
    std::unique_ptr<Controller> controller_;
    Outbox outbox_;
    Inbound inbound_{outbox_};
    Instant now_;
    std::int64_t wall_ms_ = 0;
    std::vector<MetadataFetch> fetches_;
    bool stopped_ = false;
};

}  // namespace

Result<std::unique_ptr<Server>> make_controller_server(Instant now, std::int64_t wall_ms, NodeConfig config,
                                                       Storage& storage, Rng rng) {
    auto meta = load_meta_properties(storage, config, rng);
    if (!meta) return tl::make_unexpected(meta.error());
    config.cluster_id = meta->cluster_id;
    ControllerSettings settings;
    settings.self = config.node_id;
    settings.cluster_id = config.cluster_id;
    settings.broker_session_timeout = config.broker_session_timeout;
    settings.unclean_leader_election = config.unclean_leader_election;
    settings.unclean_election_interval = config.unclean_election_interval;
    settings.auto_leader_rebalance = config.auto_leader_rebalance;
    settings.leader_imbalance_check_interval = config.leader_imbalance_check_interval;
    settings.min_insync_replicas = config.min_insync_replicas;
    settings.default_replication_factor = config.default_replication_factor;
    settings.num_partitions = config.num_partitions;
    settings.eligible_leader_replicas = config.eligible_leader_replicas > 0;
    settings.bugs = config.bugs;
    auto controller = Controller::open(now, wall_ms, settings, storage, rng.fork());
    if (!controller) return tl::make_unexpected(controller.error());
    return std::make_unique<ControllerServer>(now, std::move(config), rng, std::move(*controller));
}

}  // namespace highwater::node
