// What a workload needs of a client, whoever implements it (own: kafka_client, later librdkafka). Blocking,
// one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/time.h"
#include "model/history.h"
#include "workloads/outcome.h"

namespace highwater::workloads {

struct ProduceReply {
    AttemptEnd end = SocketFailure::Refused;
    Offset offset = kUnknownOffset;
    /// Who was asked; kNoBroker if no leader was known, and then nothing was sent.
    BrokerId broker = kNoBroker;
};

struct PollReply {
    AttemptEnd end = SocketFailure::Refused;
    std::vector<ReadRecord> records;
    /// Where the next read begins: after the last batch, also if it held nothing for us.
    Offset next = kUnknownOffset;
    Offset high_watermark = kUnknownOffset;
    Offset log_start = kUnknownOffset;
    BrokerId broker = kNoBroker;
};

struct OffsetReply {
    AttemptEnd end = SocketFailure::Refused;
    Offset offset = kUnknownOffset;
    LeaderEpoch leader_epoch = kNoEpoch;
    BrokerId broker = kNoBroker;
};

class Client {
public:
    virtual ~Client() = default;
    /// One request, one attempt. `timeout`: the broker's timeout.ms; the client gives up a second later.
    virtual ProduceReply produce(std::int32_t partition, Value value, std::int16_t acks,
                                 Duration timeout) = 0;
    /// From the leader as this client knows it. `max_wait`: how long the broker may wait for a record.
    virtual PollReply poll(std::int32_t partition, Offset from, Duration max_wait) = 0;
    /// ListOffsets latest (the leader's high watermark).
    virtual OffsetReply latest(std::int32_t partition) = 0;
    /// Forget the leader: look it up before the next request.
    virtual void refresh() = 0;
};

using ClientFactory = std::function<std::unique_ptr<Client>(const std::string& name)>;

}  // namespace highwater::workloads
