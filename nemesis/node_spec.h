// Who is meant by a role, at the moment a fault strikes.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/rng.h"
#include "model/condition.h"
#include "model/fault.h"
#include "nemesis/address_plan.h"

namespace highwater::nemesis {

/// In random order; every order is as likely.
std::vector<BrokerId> shuffled(std::vector<BrokerId> ids, Rng& rng);

class NodeSpecs {
public:
    using TargetsOf = std::function<std::optional<std::vector<BrokerId>>(const std::string& fault_id)>;
    NodeSpecs(const ClusterFacts& facts, Members members, TargetsOf targets_of)
        : facts_(facts), members_(std::move(members)), targets_of_(std::move(targets_of)) {}

    /// Empty if nobody holds the role, or one part of several is held by nobody. Each id once, in the order
    /// of the role's parts. A random part takes nobody whom an earlier part has named, if there is anybody
    /// else.
    [[nodiscard]] std::vector<BrokerId> resolve(const Role& role, Rng& rng) const;
    [[nodiscard]] const Members& members() const { return members_; }

private:
    [[nodiscard]] std::vector<BrokerId> resolve_one(const Role& role, const std::vector<BrokerId>& named,
                                                    Rng& rng) const;

    const ClusterFacts& facts_;
    Members members_;
    TargetsOf targets_of_;
};

}  // namespace highwater::nemesis
