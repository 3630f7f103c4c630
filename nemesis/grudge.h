// Partitions as sets of paths: who no longer hears whom. Pure; a random order is the caller's.
#pragma once

#include <utility>
#include <vector>

#include "model/fault.h"
#include "nemesis/address_plan.h"

namespace highwater::nemesis {

/// (source, destination): what travels from the first to the second. Sorted, each once.
using Grudge = std::vector<std::pair<BrokerId, BrokerId>>;

/// Among brokers: data; with a controller: controller; with a client: client.
bool on_planes(BrokerId source, BrokerId destination, const Planes& planes);
/// Some connection carries bytes from source to destination, requests or responses.
bool carries(BrokerId source, BrokerId destination);

/// Every path between the sides. Out: only from the first to the second. Who stands on both sides is cut off
/// from nobody by that.
Grudge between(const std::vector<BrokerId>& first, const std::vector<BrokerId>& second, Way way,
               const Planes& planes);
/// Every path between `who` and everybody else; among themselves they go on. Out: only what they send.
Grudge isolate(const std::vector<BrokerId>& who, const Members& members, Way way, const Planes& planes);
/// Each hears only the majority that begins with itself in this order, seen as a ring: everybody hears a
/// majority and no two hear the same one.
Grudge ring(const std::vector<BrokerId>& order);
/// Two halves of `order` without `bridge`, which alone reaches both.
Grudge bridge(const std::vector<BrokerId>& order, BrokerId bridge);

}  // namespace highwater::nemesis
