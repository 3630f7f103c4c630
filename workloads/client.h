// What a workload needs of a client, whoever implements it: our own (kafka_client) or librdkafka
// (rdkafka_client). Blocking, one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/time.h"
#include "model/history.h"
#include "workloads/outcome.h"

namespace highwater::workloads {

/// What makes a repeated append recognisable (idempotent producers).
struct ProducerIdentity {
    std::int64_t producer_id = -1;
    std::int16_t producer_epoch = -1;
    std::int32_t sequence = -1;
};

struct ProduceCall {
    std::int32_t partition = 0;
    Value value = 0;
    /// -1, 0 or 1.
    std::int16_t acks = -1;
    /// The broker's timeout.ms; the client gives up a second later.
    Duration timeout = milliseconds(3000);
    /// The record's value is padded to this many bytes.
    std::int32_t size = 0;
    std::optional<ProducerIdentity> identity;
};

struct ProduceReply {
    AttemptEnd end = SocketFailure::Refused;
    Offset offset = kUnknownOffset;
    /// Who was asked; kNoBroker if no leader was known, and then nothing was sent.
    BrokerId broker = kNoBroker;
    /// Produce requests that were sent for it: more than one only if the client repeats them by itself.
    std::int64_t requests = 1;
    /// Counts the clients that did the work, from 1: a library's producer that can go on no more is replaced
    /// by another one, with another producer id.
    std::int32_t incarnation = 1;
};

struct PollReply {
    AttemptEnd end = SocketFailure::Refused;
    std::vector<ReadRecord> records;
    /// Where the next read begins: after the last batch, also if it held nothing for us.
    Offset next = kUnknownOffset;
    Offset high_watermark = kUnknownOffset;
    Offset log_start = kUnknownOffset;
    BrokerId broker = kNoBroker;
    bool from_follower = false;
    /// When the records were asked for, if that was before the call: a library reads ahead.
    std::optional<Instant> asked;
};

struct OffsetReply {
    AttemptEnd end = SocketFailure::Refused;
    Offset offset = kUnknownOffset;
    LeaderEpoch leader_epoch = kNoEpoch;
    BrokerId broker = kNoBroker;
};

struct ProducerIdReply {
    AttemptEnd end = SocketFailure::Refused;
    std::int64_t producer_id = -1;
    std::int16_t producer_epoch = -1;
};

enum class ReadFrom : std::uint8_t { Leader, Follower };

/// Several appends of one client under way at once.
class Pipeline {
public:
    struct Completed {
        Value value = 0;
        ProduceReply reply;
    };
    virtual ~Pipeline() = default;
    /// Its reply is among the completed ones later.
    virtual void start(const ProduceCall& call) = 0;
    /// Waits for up to `wait` if nothing is completed.
    virtual std::vector<Completed> completed(Duration wait) = 0;
    /// Gives up what is under way; its replies still come.
    virtual void purge() = 0;
    /// Produce requests sent so far.
    [[nodiscard]] virtual std::int64_t requests() const = 0;
};

class Client {
public:
    virtual ~Client() = default;
    /// One request, one attempt; unless the client hides its attempts.
    virtual ProduceReply produce(const ProduceCall& call) = 0;
    /// produce() repeats requests by itself, and sees to the identity of an idempotent producer.
    [[nodiscard]] virtual bool hides_attempts() const { return false; }
    /// nullptr: this client has one append under way, which is produce().
    virtual Pipeline* pipeline() { return nullptr; }
    /// From the leader as this client knows it, or from a replica that does not lead; the same one until
    /// refresh(). `max_wait`: how long the broker may wait for a record.
    virtual PollReply poll(std::int32_t partition, Offset from, Duration max_wait, ReadFrom whom) = 0;
    /// ListOffsets latest (the leader's high watermark).
    virtual OffsetReply latest(std::int32_t partition) = 0;
    /// InitProducerId without a transactional id, of any broker.
    virtual ProducerIdReply init_producer_id() = 0;
    /// Forget the leader and the follower read from: look them up before the next request.
    virtual void refresh() = 0;
};

using ClientFactory = std::function<std::unique_ptr<Client>(const std::string& name)>;

}  // namespace highwater::workloads
