#include "tests/sim/invariants.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/overloaded.h"
#include "tests/sim/metadata_invariants.h"
#include "tests/sim/partition_invariants.h"

namespace highwater::sim {

// -- promises
// -----------------------------------------------------------------------------------------------------

bool Promises::add(Offset offset, const LogRecord& record) {
    const auto [known, added] = records_.emplace(offset, record);
    if (added) ++revision_;
    return known->second == record;
}

void Promises::cut_to(const std::vector<LogRecord>& log) {
    std::erase_if(records_, [&](const auto& entry) {
        return entry.first >= static_cast<Offset>(log.size()) ||
               !(log[static_cast<std::size_t>(entry.first)] == entry.second);
    });
    ++revision_;
}

std::optional<Offset> Promises::first_broken(const std::vector<LogRecord>& log) const {
    for (const auto& [offset, record] : records_) {
        if (offset >= static_cast<Offset>(log.size()) || !(log[static_cast<std::size_t>(offset)] == record))
            return offset;
    }
    return std::nullopt;
}

// -- all partitions
// -----------------------------------------------------------------------------------------------

Invariants::Invariants(const Inspector& inspector, const std::vector<TopicPartition>& partitions,
                       const std::vector<BrokerId>& brokers, std::int32_t effective_min_isr)
    : inspector_(inspector), metadata_(std::make_unique<MetadataInvariants>(violations_)) {
    for (const TopicPartition& id : partitions) {
        partitions_.emplace(id, std::make_unique<PartitionInvariants>(id, brokers, effective_min_isr,
                                                                      inspector, violations_));
    }
}

Invariants::~Invariants() = default;

void Invariants::after_step(Instant now, BrokerId node, const std::vector<node::Event>& events) {
    std::map<TopicPartition, std::vector<const node::PartitionFact*>> facts;
    for (const node::Event& event : events) {
        std::visit(
            overloaded{[&](const node::PartitionEvent& of) { facts[of.partition].push_back(&of.fact); },
                       [&](const node::ControllerEvent& of) { on_decision(now, of); },
                       [](const node::ServerEvent&) {}},
            event);
    }
    const bool controller = partitions_.empty() || !partitions_.begin()->second->replicas.contains(node);
    if (const node::MetadataImage* image = inspector_.image_of(node)) {
        if (controller)
            metadata_->decided(now, *image);
        else
            metadata_->applied(now, node, *image);
    }
    for (auto& [id, partition] : partitions_) {
        if (!controller) {
            partition->observe(now, node, facts[id]);
        } else if (const node::MetadataImage* image = inspector_.image()) {
            partition->check_image(now, *image);
        }
        partition->check(now);
    }
}

void Invariants::on_decision(Instant now, const node::ControllerEvent& event) {
    if (const auto* registered = std::get_if<node::BrokerRegistered>(&event)) {
        if (!metadata_->registered(now, *registered)) return;
        for (auto& [id, partition] : partitions_) {
            if (partition->replicas.contains(registered->broker)) partition->registered(*registered);
        }
    } else if (const auto* change = std::get_if<node::PartitionChanged>(&event)) {
        if (const auto found = partitions_.find(change->partition); found != partitions_.end()) {
            found->second->on_change(now, *change);
        }
    }
}

void Invariants::watch(Instant now) {
    for (auto& [id, partition] : partitions_) partition->watch(now);
}

void Invariants::lost_power(BrokerId node) {
    for (auto& [id, partition] : partitions_) {
        const auto view = partition->replicas.find(node);
        if (view == partition->replicas.end()) continue;
        view->second.lost_power = true;
        view->second.may_be_shorter = true;
    }
}

void Invariants::stopped(BrokerId node) {
    metadata_->stopped(node);
    for (auto& [id, partition] : partitions_) {
        if (partition->replicas.contains(node)) partition->stopped(node);
    }
}

bool Invariants::violated(const std::string& invariant) const {
    return std::any_of(violations_.begin(), violations_.end(),
                       [&](const Violation& of) { return of.invariant == invariant; });
}

const ReplicaView& Invariants::replica(BrokerId broker, const TopicPartition& id) const {
    return partitions_.at(id)->replicas.at(broker);
}

const Promises& Invariants::acknowledged(const TopicPartition& id) const {
    return partitions_.at(id)->acknowledged;
}

Offset Invariants::committed(const TopicPartition& id) const {
    return static_cast<Offset>(partitions_.at(id)->committed.size());
}

int Invariants::unclean_elections() const {
    int count = 0;
    for (const auto& [id, partition] : partitions_) count += partition->unclean_elections;
    return count;
}

}  // namespace highwater::sim
