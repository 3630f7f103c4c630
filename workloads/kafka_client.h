// Our own client: finds the leader by Metadata, then one request is one attempt. It may be stale on purpose:
// the leader is looked up only after refresh().
#pragma once

#include <map>
#include <memory>
#include <string>

#include "workloads/client.h"
#include "workloads/socket.h"

namespace highwater::workloads {

struct KafkaClientOptions {
    std::string client_id;
    std::string topic;
    std::string run_id;
    /// CLIENT addresses as this client reaches them (its relays), by broker id.
    std::map<BrokerId, SocketAddress> brokers;
};

std::unique_ptr<Client> make_kafka_client(KafkaClientOptions options);

}  // namespace highwater::workloads
