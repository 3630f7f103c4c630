// The invariants of the metadata log: what every broker has applied is what the controller decided, and the
// epochs of registrations rise.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "tests/sim/invariants.h"

namespace highwater::sim {

class MetadataInvariants {
public:
    explicit MetadataInvariants(std::vector<Violation>& violations) : violations_(violations) {}

    /// EpochMonotone of broker epochs. False if it only repeats what the broker had already.
    bool registered(Instant now, const node::BrokerRegistered& event);
    /// The controller's image after a step of it.
    void decided(Instant now, const node::MetadataImage& image);
    /// A broker's, after a step of it. MetadataLogMatching: the image of a prefix of the controller's log.
    void applied(Instant now, BrokerId broker, const node::MetadataImage& image);
    void stopped(BrokerId node) { ends_.erase(node); }

private:
    std::vector<Violation>& violations_;
    std::map<BrokerId, std::pair<Uuid, BrokerEpoch>> incarnations_;
    BrokerEpoch last_broker_epoch_ = kUnknownBrokerEpoch;
    /// The controller's images by the ends of its batches. Brokers apply whole batches.
    std::map<Offset, node::MetadataImage> images_;
    Offset decided_end_ = 0;
    std::map<BrokerId, Offset> ends_;
};

}  // namespace highwater::sim
