#include "nemesis/grudge.h"

#include <algorithm>

namespace highwater::nemesis {
namespace {

bool contains(const std::vector<BrokerId>& ids, BrokerId id) {
    return std::find(ids.begin(), ids.end(), id) != ids.end();
}

Grudge in_order(Grudge paths) {
    std::sort(paths.begin(), paths.end());
    paths.erase(std::unique(paths.begin(), paths.end()), paths.end());
    return paths;
}

}  // namespace

bool on_planes(BrokerId source, BrokerId destination, const Planes& planes) {
    if (is_client(source) || is_client(destination)) return planes.client;
    if (is_controller(source) || is_controller(destination)) return planes.controller;
    return planes.data;
}

bool carries(BrokerId source, BrokerId destination) {
    return AddressPlan::link_port(source, destination) != 0 ||
           AddressPlan::link_port(destination, source) != 0;
}

Grudge between(const std::vector<BrokerId>& first, const std::vector<BrokerId>& second, Way way,
               const Planes& planes) {
    Grudge paths;
    for (const BrokerId one : first) {
        for (const BrokerId other : second) {
            const bool apart = one != other && !contains(second, one) && !contains(first, other);
            if (!apart || !carries(one, other) || !on_planes(one, other, planes)) continue;
            if (way != Way::In) paths.emplace_back(one, other);
            if (way != Way::Out) paths.emplace_back(other, one);
        }
    }
    return in_order(std::move(paths));
}

Grudge isolate(const std::vector<BrokerId>& who, const Members& members, Way way, const Planes& planes) {
    std::vector<BrokerId> others;
    for (const auto* ids : {&members.brokers, &members.controllers, &members.clients}) {
        std::copy_if(ids->begin(), ids->end(), std::back_inserter(others),
                     [&who](BrokerId id) { return !contains(who, id); });
    }
    return between(who, others, way, planes);
}

Grudge ring(const std::vector<BrokerId>& order) {
    const std::size_t majority = order.size() / 2 + 1;
    Grudge paths;
    for (std::size_t hearer = 0; hearer < order.size(); ++hearer) {
        for (std::size_t distance = majority; distance < order.size(); ++distance) {
            paths.emplace_back(order[(hearer + distance) % order.size()], order[hearer]);
        }
    }
    return in_order(std::move(paths));
}

Grudge bridge(const std::vector<BrokerId>& order, BrokerId bridge) {
    std::vector<BrokerId> others = order;
    std::erase(others, bridge);
    const auto middle = others.begin() + static_cast<std::ptrdiff_t>(others.size() / 2);
    return between({others.begin(), middle}, {middle, others.end()}, Way::Both, {});
}

}  // namespace highwater::nemesis
