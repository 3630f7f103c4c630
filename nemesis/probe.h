// Looks from outside: does a path carry a round trip, and does anybody step around the relays.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "nemesis/address_plan.h"
#include "nemesis/tcp_table.h"

namespace highwater::nemesis {

/// See Network::probe.
Status probe_path(const AddressPlan& plan, BrokerId source, BrokerId destination, Instant deadline);

/// See Network::bypasses.
std::vector<std::string> find_bypasses(const std::vector<TcpSocket>& sockets, const AddressPlan& plan);

}  // namespace highwater::nemesis
