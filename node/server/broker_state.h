// What the broker's files share. Only node/server includes this.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/rng.h"
#include "node/controller/metadata_image.h"
#include "node/group/coordinator.h"
#include "node/replica/partition.h"
#include "node/server/channel.h"
#include "node/server/checkpoints.h"
#include "node/server/cluster_metadata.h"
#include "node/server/config.h"
#include "node/server/inbound.h"
#include "node/server/meta_properties.h"
#include "node/server/outbox.h"
#include "wire/messages/broker_heartbeat.h"
#include "wire/messages/create_topics.h"
#include "wire/messages/delete_groups.h"
#include "wire/messages/delete_topics.h"
#include "wire/messages/describe_cluster.h"
#include "wire/messages/describe_configs.h"
#include "wire/messages/describe_groups.h"
#include "wire/messages/describe_log_dirs.h"
#include "wire/messages/describe_topic_partitions.h"
#include "wire/messages/elect_leaders.h"
#include "wire/messages/fetch.h"
#include "wire/messages/find_coordinator.h"
#include "wire/messages/heartbeat.h"
#include "wire/messages/incremental_alter_configs.h"
#include "wire/messages/init_producer_id.h"
#include "wire/messages/join_group.h"
#include "wire/messages/leave_group.h"
#include "wire/messages/list_groups.h"
#include "wire/messages/list_offsets.h"
#include "wire/messages/list_partition_reassignments.h"
#include "wire/messages/metadata.h"
#include "wire/messages/offset_commit.h"
#include "wire/messages/offset_fetch.h"
#include "wire/messages/offset_for_leader_epoch.h"
#include "wire/messages/produce.h"
#include "wire/messages/sync_group.h"

namespace highwater::node {

/// A Produce whose answer waits for partitions (acks=all).
struct DelayedProduce {
    RequestId request;
    std::int16_t version = 0;
    std::int32_t correlation_id = 0;
    Instant expires;
    wire::ProduceResponse response;
    struct Waiting {
        TopicPartition partition;
        ProduceTicket ticket = 0;
        std::size_t topic_index = 0;
        std::size_t partition_index = 0;
    };
    std::vector<Waiting> waiting;
};

/// A Fetch that found too little and waits for more, of a consumer or a follower.
struct DelayedFetch {
    RequestId request;
    std::int16_t version = 0;
    std::int32_t correlation_id = 0;
    Instant expires;
    wire::FetchRequest fetch;
    /// Revisions of its partitions when it was last read.
    std::map<TopicPartition, std::uint64_t> seen;
};

/// The followers of one leader share a connection to it.
struct Fetcher {
    BrokerId leader = kNoBroker;
    Endpoint endpoint;
    std::unique_ptr<Channel> channel;
    /// What the request in flight asked, by partition.
    std::map<TopicPartition, FetchPosition> asked;
    std::map<TopicPartition, Instant> backing_off;
};

/// Brokers as the newest applied metadata has them.
class ImageView final : public ClusterView {
public:
    explicit ImageView(const MetadataImage& image) : image_(image) {}
    [[nodiscard]] std::optional<BrokerView> broker(BrokerId id) const override;

private:
    const MetadataImage& image_;
};

/// Each listener leads to its own kind: a client of DIRECT is sent to DIRECT addresses. nullptr: it has none.
const Endpoint* endpoint_on(const BrokerImage& broker, const std::string& listener);

enum class BrokerPhase : std::uint8_t { Registering, Starting, Running, ShuttingDown, Stopped };

struct BrokerState {
    BrokerState(NodeConfig config_, MetaProperties meta_, Storage& storage_, Rng rng_);

    NodeConfig config;
    MetaProperties meta;
    Storage& storage;
    Rng rng;
    Outbox outbox;
    Inbound inbound{outbox};
    Instant now;
    std::int64_t wall_ms = 0;

    // -- lifecycle.cc
    BrokerPhase phase = BrokerPhase::Registering;
    Uuid incarnation;
    BrokerEpoch broker_epoch = kUnknownBrokerEpoch;
    Channel registration;  // registration and heartbeats
    Channel metadata;      // __cluster_metadata, as a raft observer
    Channel alter;         // AlterPartition
    Channel forwarding;    // what clients ask and only the controller can do; AllocateProducerIds
    Instant next_register{0};
    Duration register_backoff{0};
    Instant next_heartbeat{0};
    Instant next_metadata_fetch{0};
    Instant next_alter{0};
    Instant shutdown_gives_up = Instant::never();
    /// Meaningful once phase is Stopped: nothing was left undone.
    bool stopped_clean = true;
    void start();
    void run_lifecycle();
    /// How long a registration that failed waits before it is sent again; longer with each call.
    Duration next_register_backoff();
    void send_registration();
    void send_heartbeat();
    void heartbeat_answered(const wire::BrokerHeartbeatResponse& response);
    void begin_shutdown();
    /// Ends this life; complete_stop() follows at the end of the step, after the last answers.
    void finish_shutdown(bool clean);
    void complete_stop();
    [[nodiscard]] Instant lifecycle_deadline() const;

    // -- metadata_replay.cc
    MetadataImage image;
    ImageView view{image};
    /// Of the controller, -1 until its log tells; and of the last record applied.
    LeaderEpoch metadata_leader_epoch = kNoEpoch;
    LeaderEpoch metadata_last_epoch = kNoEpoch;
    /// The last failure that was logged, so that a retry which fails the same way is not.
    std::string metadata_failure;
    void fetch_metadata();
    void metadata_fetched(const Result<BytesView>& frame, std::int32_t correlation_id);
    void metadata_fetch_failed(const std::string& why);
    void apply_metadata_bytes(const Bytes& records);
    void apply_if_current();
    void apply_image();
    void apply_partition(const TopicImage& topic, std::int32_t index);
    Result<std::unique_ptr<PartitionLog>> open_log(const TopicImage& topic, const TopicPartition& name);
    std::unique_ptr<Partition> open_partition(const TopicImage& topic, const TopicPartition& name);
    Status claim_directory(const TopicImage& topic, const TopicPartition& name);

    // -- topic_removal.cc
    /// Partitions whose topic, or whose topic's id, the image does not have any more: files and all.
    void drop_removed_topics();
    void drop_partition(const TopicPartition& name);
    /// Directories of topics that were deleted while this broker was away, looked for once.
    void remove_strays();
    void remove_directory(const std::string& directory);

    // -- partitions
    std::map<TopicPartition, std::unique_ptr<Partition>> partitions;
    Checkpoints checkpoints;
    Instant next_isr_tick{0};
    [[nodiscard]] Partition* partition(const TopicPartition& name);
    void write_checkpoint();
    /// Events, finished produces, proposals, delayed fetches: everything that a partition's change sets off.
    void settle();
    /// What partitions did so far, before an event that comes after it.
    void drain_partition_events();

    // -- alter_partition_sender.cc
    struct Proposed {
        TopicPartition partition;
        AlterPartitionProposal proposal;
    };
    std::vector<Proposed> alter_in_flight;
    void send_proposals();
    void proposals_answered(const Result<BytesView>& frame);

    // -- requests.cc
    /// Set once the log was applied up to the first registration. Until then requests wait, as at Kafka's
    /// ports: all that is known by then is who led in a former life.
    bool serving = false;
    std::vector<FrameReceived> early;
    void receive(const FrameReceived& frame);
    void serve_early();
    void forget_early(ConnId conn);
    void handle_frame(ConnId conn, const Bytes& payload);
    /// What happens once every request of this kind is well formed. False: brokers do not serve the API.
    bool dispatch(ConnId conn, const wire::RequestFrame& frame);

    // -- metadata_request.cc
    void handle(const RequestId& id, const wire::RequestHeader& header, const wire::MetadataRequest& request);
    void handle(const RequestId& id, const wire::RequestHeader& header,
                const wire::DescribeClusterRequest& request);
    /// Any broker that clients can reach, for what they send to "the controller": this one if it is unfenced.
    [[nodiscard]] BrokerId any_broker() const;

    // -- describe_topic_partitions.cc
    void handle(const RequestId& id, const wire::RequestHeader& header,
                const wire::DescribeTopicPartitionsRequest& request);

    // -- find_coordinator.cc
    bool offsets_topic_asked = false;
    void handle(const RequestId& id, const wire::RequestHeader& header,
                const wire::FindCoordinatorRequest& request);
    void create_offsets_topic();
    /// nullopt: there is no __consumer_offsets yet.
    [[nodiscard]] std::optional<std::int32_t> group_partition(const std::string& group) const;

    // -- groups.cc
    /// The groups of one partition of __consumer_offsets that this broker leads.
    struct LedGroups {
        LeaderEpoch epoch = kNoEpoch;
        bool loaded = false;
        /// Its log could not be read: not tried again in this epoch.
        bool unreadable = false;
        std::unique_ptr<GroupCoordinator> coordinator;
        std::map<ProduceTicket, std::uint64_t> writes;
    };
    using GroupReply = std::function<void(const GroupResponse&)>;
    std::map<std::int32_t, LedGroups> led_groups;
    std::map<GroupCall, GroupReply> group_calls;
    GroupCall next_group_call = 1;
    /// True if it appended something, which may finish at once.
    bool run_groups();
    void follow_group_leadership();
    void load_groups(const TopicPartition& name, const Partition& held, LedGroups& led);
    bool write_groups(const TopicPartition& name, LedGroups& led);
    void answer_groups(LedGroups& led);
    /// False: the ticket is not of a group.
    bool finish_group_write(const TopicPartition& name, const FinishedProduce& finished);
    [[nodiscard]] Instant groups_deadline() const;

    // -- group_requests.cc
    struct Coordinated {
        /// nullptr: none here, for this reason.
        GroupCoordinator* coordinator = nullptr;
        wire::ErrorCode error = wire::ErrorCode::None;
    };
    [[nodiscard]] Coordinated coordinator_of(const std::string& group);
    [[nodiscard]] Coordinated coordinator_of_members(const std::string& group);
    GroupCall call_back(GroupReply reply);
    void handle(const RequestId& id, const wire::RequestHeader& header,
                const wire::JoinGroupRequest& request);
    void handle(const RequestId& id, const wire::RequestHeader& header,
                const wire::SyncGroupRequest& request);
    void handle(const RequestId& id, const wire::RequestHeader& header,
                const wire::HeartbeatRequest& request);
    void handle(const RequestId& id, const wire::RequestHeader& header,
                const wire::LeaveGroupRequest& request);
    void handle(const RequestId& id, const wire::RequestHeader& header,
                const wire::DescribeGroupsRequest& request);
    void handle(const RequestId& id, const wire::RequestHeader& header,
                const wire::ListGroupsRequest& request);
    void handle(const RequestId& id, const wire::RequestHeader& header,
                const wire::DeleteGroupsRequest& request);

    // -- group_offsets.cc
    void handle(const RequestId& id, const wire::RequestHeader& header,
                const wire::OffsetCommitRequest& request);
    void handle(const RequestId& id, const wire::RequestHeader& header,
                const wire::OffsetFetchRequest& request);

    // -- describe_configs.cc
    void handle(const RequestId& id, const wire::RequestHeader& header,
                const wire::DescribeConfigsRequest& request);

    // -- tool_requests.cc
    void handle(const RequestId& id, const wire::RequestHeader& header,
                const wire::DescribeLogDirsRequest& request);
    void handle(const RequestId& id, const wire::RequestHeader& header,
                const wire::ListPartitionReassignmentsRequest& request);

    // -- offsets.cc
    void handle(const RequestId& id, const wire::RequestHeader& header,
                const wire::ListOffsetsRequest& request);
    void handle(const RequestId& id, const wire::RequestHeader& header,
                const wire::OffsetForLeaderEpochRequest& request);
    /// For a partition that is not held here.
    [[nodiscard]] wire::ErrorCode why_not_held(const TopicPartition& name) const;

    // -- forward.cc
    /// Requests that wait for the controller's one connection, in order; each call sends one.
    std::deque<std::function<void()>> forwards;
    void forward_next();
    void handle(const RequestId& id, const wire::RequestHeader& header,
                const wire::CreateTopicsRequest& request);
    void handle(const RequestId& id, const wire::RequestHeader& header,
                const wire::DeleteTopicsRequest& request);
    void handle(const RequestId& id, const wire::RequestHeader& header,
                const wire::IncrementalAlterConfigsRequest& request);
    void handle(const RequestId& id, const wire::RequestHeader& header,
                const wire::ElectLeadersRequest& request);
    /// Sends it when its turn has come; `done` gets the controller's answer, or why there is none.
    template <class Response, class Request>
    void ask_controller(Request request, std::int16_t version,
                        std::function<void(const Result<Response>&)> done) {
        forwards.push_back([this, request = std::move(request), version, done = std::move(done)] {
            const std::int32_t correlation = forwarding.correlation_id() + 1;
            forwarding.request(now, request, version,
                               [this, version, correlation, done](Instant, const Result<BytesView>& frame) {
                                   const auto answer =
                                       frame ? wire::decode_response<Response>(*frame, version, correlation)
                                             : Result<Response>(tl::make_unexpected(frame.error()));
                                   done(answer);
                                   forward_next();
                               });
        });
        forward_next();
    }

    // -- producer_ids.cc
    struct WaitingInit {
        RequestId request;
        std::int16_t version = 0;
        std::int32_t correlation_id = 0;
    };
    /// The block in hand: [next, end).
    ProducerId next_producer_id = 0;
    ProducerId producer_ids_end = 0;
    bool producer_ids_asked = false;
    std::vector<WaitingInit> waiting_inits;
    void handle(const RequestId& id, const wire::RequestHeader& header,
                const wire::InitProducerIdRequest& request);
    void give_producer_ids();

    // -- produce.cc
    std::vector<DelayedProduce> produces;
    void handle(const RequestId& id, const wire::RequestHeader& header, const wire::ProduceRequest& request);
    void finish_produces();
    void expire_produces();
    void answer_produce(DelayedProduce& produce);

    // -- fetch.cc
    std::vector<DelayedFetch> fetches;
    void handle(const RequestId& id, const wire::RequestHeader& header, wire::FetchRequest request);
    void look_at_fetches();
    struct FetchRead {
        wire::FetchResponse response;
        std::size_t bytes = 0;
        /// An error, a divergence or anything else that must be told at once.
        bool urgent = false;
    };
    [[nodiscard]] FetchRead read_fetch(const wire::FetchRequest& fetch, std::int16_t version,
                                       bool update_state);

    void answer_fetch(const RequestId& id, std::int16_t version, std::int32_t correlation_id,
                      wire::FetchResponse& response);

    // -- leader_hints.cc
    void add_leader_hints(const RequestId& id, std::int16_t version, wire::ProduceResponse& response) const;
    void add_leader_hints(const RequestId& id, std::int16_t version, wire::FetchResponse& response) const;

    // -- fetchers.cc
    std::map<BrokerId, Fetcher> fetchers;
    void run_fetchers();
    void send_fetch(Fetcher& fetcher);
    void fetch_answered(BrokerId leader, const Result<BytesView>& frame, std::int32_t correlation_id);
};

}  // namespace highwater::node
