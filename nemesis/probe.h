// Looks from outside: does a path carry a round trip, and does anybody step around the relays.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "nemesis/address_plan.h"
#include "nemesis/tcp_table.h"

namespace highwater::nemesis {

/// See Network::probe.
Status probe_path(const AddressPlan& plan, BrokerId source, BrokerId destination, Instant deadline);

/// Does the process with this id hold this socket?
using OwnsSocket = std::function<bool(BrokerId id, std::uint64_t inode)>;
/// See Network::bypasses.
std::vector<std::string> find_bypasses(const std::vector<TcpSocket>& sockets, const AddressPlan& plan,
                                       const OwnsSocket& owns = {});

}  // namespace highwater::nemesis
