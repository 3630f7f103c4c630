// Raw requests to one broker, each one attempt, with the exact error and no memory of leaders. The observer,
// the final reads and KafkaClient are made of it. Blocking, one thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/history.h"
#include "wire/messages/create_topics.h"
#include "wire/messages/elect_leaders.h"
#include "wire/messages/metadata.h"
#include "workloads/client.h"
#include "workloads/socket.h"

namespace highwater::workloads {

/// What records of this run look like: "<run id>:p1-412", and, padded to `size` bytes, a blank and dots after
/// it. Other values are foreign and come out negative.
Bytes encode_value(const std::string& run_id, Value value, std::int32_t size = 0);
Value decode_value(const std::string& run_id, BytesView bytes, Offset offset);

struct FetchOptions {
    Offset from = 0;
    Duration max_wait{0};
    std::int32_t max_bytes = 1 << 20;
};

class BrokerClient {
public:
    BrokerClient(SocketAddress address, std::string client_id, std::string run_id)
        : address_(std::move(address)), client_id_(std::move(client_id)), run_id_(std::move(run_id)) {}

    ProduceReply produce(const std::string& topic, const ProduceCall& call, Instant deadline);
    ProducerIdReply init_producer_id(Instant deadline);
    PollReply fetch(const std::string& topic, std::int32_t partition, const FetchOptions& options,
                    Instant deadline);
    /// A Fetch of follower `as` from `offset`, which tells a leader that this follower has all below it. True
    /// or not: only authentication would keep a client from it. The answer's records are dropped.
    PollReply claim_fetched(const std::string& topic, std::int32_t partition, BrokerId as, Offset offset,
                            Instant deadline);
    /// `replica_id` -1: latest as a consumer sees it; -2: log end offset of any replica. timestamp -1 latest,
    /// -2 earliest.
    OffsetReply list_offset(const std::string& topic, std::int32_t partition, std::int32_t replica_id,
                            std::int64_t timestamp, Instant deadline);
    tl::expected<wire::MetadataResponse, AttemptEnd> metadata(const std::string& topic, Instant deadline);
    tl::expected<wire::CreateTopicsResponse, AttemptEnd> create_topics(
        const wire::CreateTopicsRequest& request, Instant deadline);
    tl::expected<wire::ElectLeadersResponse, AttemptEnd> elect_leaders(
        const wire::ElectLeadersRequest& request, Instant deadline);
    void disconnect() { socket_.close(); }

private:
    template <class Response, class Request>
    tl::expected<Response, SocketFailure> ask(const Request& request, std::int16_t version, Instant deadline);
    std::optional<SocketFailure> send(BytesView frame, Instant deadline);

    SocketAddress address_;
    std::string client_id_;
    std::string run_id_;
    Socket socket_;
    std::int32_t correlation_ = 0;
};

}  // namespace highwater::workloads
