// The numbers Kafka's replication talks about, with the width each has on the wire.
#pragma once

#include <cstdint>

namespace highwater {

/// node.id of a broker or controller. Brokers 1-99, controllers 100-119 in our address plan. -1: none / a
/// consumer.
using BrokerId = std::int32_t;
/// Position of a record in a partition, from 0. -1: unknown.
using Offset = std::int64_t;
/// Number of a leadership of one partition, +1 at every leader change, from 0. -1: unknown / none.
using LeaderEpoch = std::int32_t;
/// Version of a partition's registration at the controller, +1 at every change, from 0.
using PartitionEpoch = std::int32_t;
/// Number of a broker's registration: the metadata offset of its RegisterBroker record. -1: unknown, skips
/// checks.
using BrokerEpoch = std::int64_t;
using ProducerId = std::int64_t;

inline constexpr BrokerId kNoBroker = -1;
inline constexpr LeaderEpoch kNoEpoch = -1;
inline constexpr Offset kUnknownOffset = -1;
inline constexpr BrokerEpoch kUnknownBrokerEpoch = -1;

/// A point in a log together with the epoch it belongs to.
struct OffsetAndEpoch {
    Offset offset = kUnknownOffset;
    LeaderEpoch epoch = kNoEpoch;
    friend bool operator==(const OffsetAndEpoch&, const OffsetAndEpoch&) = default;
};

}  // namespace highwater
