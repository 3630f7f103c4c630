#include "nemesis/node_spec.h"

#include <algorithm>
#include <utility>

namespace highwater::nemesis {
namespace {

bool contains(const std::vector<BrokerId>& ids, BrokerId id) {
    return std::find(ids.begin(), ids.end(), id) != ids.end();
}

std::vector<BrokerId> one_of(const std::vector<BrokerId>& holders, const std::vector<BrokerId>& named,
                             Rng& rng) {
    if (holders.empty()) return {};
    std::vector<BrokerId> others;
    std::copy_if(holders.begin(), holders.end(), std::back_inserter(others),
                 [&named](BrokerId id) { return !contains(named, id); });
    return {rng.pick(others.empty() ? holders : others)};
}

}  // namespace

std::vector<BrokerId> shuffled(std::vector<BrokerId> ids, Rng& rng) {
    for (std::size_t i = ids.size(); i > 1; --i) std::swap(ids[i - 1], ids[rng.below(i)]);
    return ids;
}

std::vector<BrokerId> NodeSpecs::resolve(const Role& role, Rng& rng) const {
    std::vector<BrokerId> ids;
    for (const Role& part : role.parts()) {
        const std::vector<BrokerId> holders = resolve_one(part, ids, rng);
        if (holders.empty()) return {};
        for (const BrokerId id : holders) {
            if (!contains(ids, id)) ids.push_back(id);
        }
    }
    return ids;
}

std::vector<BrokerId> NodeSpecs::resolve_one(const Role& role, const std::vector<BrokerId>& named,
                                             Rng& rng) const {
    const std::vector<BrokerId>& brokers = members_.brokers;
    const auto some = [&](std::size_t count) {
        std::vector<BrokerId> mixed = shuffled(brokers, rng);
        mixed.resize(std::min(count, mixed.size()));
        return mixed;
    };
    switch (role.kind) {
        case Role::Kind::TargetOf:
            return targets_of_(role.fault_id).value_or(std::vector<BrokerId>{});
        case Role::Kind::Client:
            return members_.clients;
        case Role::Kind::Brokers:
            return brokers;
        case Role::Kind::BrokerAny:
            return one_of(brokers, named, rng);
        case Role::Kind::Minority:
            return some(brokers.empty() ? 0 : (brokers.size() - 1) / 2);
        case Role::Kind::Majority:
            return some(brokers.size() / 2 + 1);
        case Role::Kind::FollowerAny:
            return one_of(facts_.resolve(role.to_string()), named, rng);
        case Role::Kind::Leader:
        case Role::Kind::FollowerAll:
        case Role::Kind::IsrLast:
        case Role::Kind::Controller:
        case Role::Kind::All:
        case Role::Kind::Id:
            return facts_.resolve(role.to_string());
        case Role::Kind::Several:
            break;
    }
    return {};
}

}  // namespace highwater::nemesis
