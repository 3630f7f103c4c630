// A running server's state as the simulation's invariants read it. Every server that make_server returns is
// one too.
#pragma once

#include "base/partition.h"
#include "node/controller/metadata_image.h"
#include "node/replica/partition.h"

namespace highwater::node {

class ServerInspection {
public:
    virtual ~ServerInspection() = default;
    /// nullptr where there is no such replica, and always at a controller.
    [[nodiscard]] virtual const Partition* find_partition(const TopicPartition& id) const = 0;
    /// A controller's is the cluster as it decided; a broker's lags behind.
    [[nodiscard]] virtual const MetadataImage& metadata_image() const = 0;
};

}  // namespace highwater::node
