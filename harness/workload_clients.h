// The client that a workload asks for, at the addresses of its own relays.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "model/scenario.h"
#include "workloads/client.h"
#include "workloads/socket.h"

namespace highwater::harness {

struct WorkloadClientOptions {
    std::string client_id;
    std::string topic;
    std::string run_id;
    /// As this client reaches each broker.
    std::map<BrokerId, workloads::SocketAddress> brokers;
    /// Around the relays, for a program that cannot be led through them.
    std::map<BrokerId, workloads::SocketAddress> direct;
    /// Where a program may keep its files.
    std::string directory;
};

std::unique_ptr<workloads::Client> make_workload_client(const WorkloadSpec& spec,
                                                        WorkloadClientOptions options);

/// Requests that a client repeats although its user is told nothing of them: at least so many more attempts
/// must be reckoned with for each append of `spec`.
std::int32_t hidden_retries_of(const WorkloadSpec& spec);

}  // namespace highwater::harness
