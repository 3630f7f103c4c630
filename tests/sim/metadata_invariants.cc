#include "tests/sim/metadata_invariants.h"

#include <fmt/format.h>

#include <algorithm>

namespace highwater::sim {

bool MetadataInvariants::registered(Instant now, const node::BrokerRegistered& event) {
    // The same incarnation may ask again, if the answer was lost, and keeps what it got.
    auto& [incarnation, epoch] = incarnations_[event.broker];
    if (incarnation == event.incarnation && epoch == event.broker_epoch) return false;
    if (event.broker_epoch <= last_broker_epoch_) {
        violations_.push_back({"EpochMonotone",
                               fmt::format("broker {} got broker epoch {} after {}", event.broker,
                                           event.broker_epoch, last_broker_epoch_),
                               now});
    }
    incarnation = event.incarnation;
    epoch = event.broker_epoch;
    last_broker_epoch_ = std::max(last_broker_epoch_, event.broker_epoch);
    return true;
}

void MetadataInvariants::decided(Instant now, const node::MetadataImage& image) {
    const Offset end = image.end_offset();
    if (end == decided_end_) return;
    if (end < decided_end_) {
        violations_.push_back(
            {"MetadataLogMatching",
             fmt::format("the controller's log ended at {} and ends at {}", decided_end_, end), now});
    }
    decided_end_ = end;
    images_.insert_or_assign(end, image);
}

void MetadataInvariants::applied(Instant now, BrokerId broker, const node::MetadataImage& image) {
    const Offset end = image.end_offset();
    Offset& before = ends_[broker];
    if (end == before) return;
    const bool back = end < before;
    before = end;
    if (back) {
        violations_.push_back(
            {"MetadataLogMatching", fmt::format("broker {} went back to {}", broker, end), now});
        return;
    }
    // Beyond the newest image there are only control records (a new epoch of the controller), which change
    // nothing. Where a step decided twice, the first batch ends where no image was taken.
    const auto decided = end > decided_end_ ? images_.find(decided_end_) : images_.find(end);
    if (decided == images_.end()) return;
    const node::MetadataImage& expected = decided->second;
    if (expected.brokers() == image.brokers() && expected.topics() == image.topics()) return;
    violations_.push_back(
        {"MetadataLogMatching",
         fmt::format("broker {} applied something else than the controller decided up to {}", broker, end),
         now});
}

}  // namespace highwater::sim
