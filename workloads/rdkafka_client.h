// librdkafka behind our interface: what an application sees. It repeats requests by itself, so one call of
// produce() may be several attempts, and it reads ahead of poll(). docs/clients.md tells how its answers are
// understood.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "workloads/client.h"
#include "workloads/socket.h"

namespace highwater::workloads {

struct RdkafkaClientOptions {
    std::string client_id;
    std::string topic;
    std::string run_id;
    /// CLIENT addresses as this client reaches them (its relays), by broker id.
    std::map<BrokerId, SocketAddress> brokers;
    /// The host names under which the brokers advertise those listeners. No other name is resolved, so that
    /// no connection steps around the relays.
    std::map<BrokerId, std::string> names;
    bool idempotent = false;
    /// Librdkafka's `retries`: attempts after the first that it counts. An idempotent producer needs one.
    std::int32_t retries = 0;
    /// `request.timeout.ms`, what the broker waits for its followers; a connection whose answer is a second
    /// later than that is closed.
    Duration request_timeout = milliseconds(3000);
    /// `delivery.timeout.ms`: all attempts of one append together.
    Duration delivery_timeout = seconds(30);
};

/// Connects to nobody before the first call. A client that the library refuses to make answers each call with
/// the library's reason.
std::unique_ptr<Client> make_rdkafka_client(RdkafkaClientOptions options);

}  // namespace highwater::workloads
