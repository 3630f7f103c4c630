// What others may cost this process: how many connections it accepts, and how many requests and bytes it
// takes in before it has answered. Numbers only; the shell acts on them.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>

#include "base/time.h"
#include "node/server/server.h"

namespace highwater::node {

/// Defaults: Kafka's. The keys are in docs/node.md.
struct Limits {
    std::size_t request_max_bytes = 104857600;
    std::size_t max_connections = INT32_MAX;
    std::size_t max_connections_per_ip = INT32_MAX;
    /// Of all requests that are being received or answered; nullopt: no bound.
    std::optional<std::size_t> queued_request_bytes;
    Duration max_idle = milliseconds(600000);
    /// Of one connection.
    std::size_t pipelined_requests = 64;
    /// Of one connection.
    std::size_t queued_response_bytes = 64U << 20U;
};

/// Connections that others opened.
class Admission {
public:
    explicit Admission(const Limits& limits) : limits_(limits) {}

    /// Why one more from this address must be turned away; nullopt: it may come. `peers`: it arrived on the
    /// listener of the other brokers, to which max.connections does not apply (as in Kafka).
    [[nodiscard]] std::optional<std::string> refusal(const std::string& address, bool peers) const;

    void opened(ConnId conn, const std::string& address, bool peers);
    /// Nothing if it is unknown.
    void closed(ConnId conn);

    /// Whether the next frame of the connection may be received now. Peers are held back only by their own
    /// requests: what clients wait for (acks=all) would otherwise wait for the peers, who wait for them.
    [[nodiscard]] bool may_begin(ConnId conn) const;
    /// A frame of `bytes` has begun; they count until it is answered.
    void begun(ConnId conn, std::size_t bytes);
    /// Of the frames that have begun, only the last `unanswered` still count.
    void answered(ConnId conn, std::size_t unanswered);

    [[nodiscard]] bool full() const {
        return limits_.queued_request_bytes && bytes_ >= *limits_.queued_request_bytes;
    }
    [[nodiscard]] std::size_t bytes() const { return bytes_; }
    [[nodiscard]] std::size_t count() const { return connections_.size(); }
    /// Accepted, and not on the peers' listener.
    [[nodiscard]] bool is_client(ConnId conn) const {
        const auto found = connections_.find(conn);
        return found != connections_.end() && !found->second.peers;
    }

private:
    struct Counted {
        std::string address;
        bool peers = false;
        /// Sizes of the frames that count, oldest first. Answers go out in the order of the requests.
        std::deque<std::size_t> frames;
    };

    Limits limits_;
    std::map<ConnId, Counted> connections_;
    std::map<std::string, std::size_t> of_address_;
    std::size_t bytes_ = 0;
};

}  // namespace highwater::node
