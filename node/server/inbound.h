// Connections that others opened. Answers go out in the order of the requests, whatever order they become
// known in.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>

#include "node/server/outbox.h"
#include "wire/api_table.h"

namespace highwater::node {

/// Longest request that carries no records: what is short on the wire may be long in memory (an array of
/// empty names), so it is bounded before it is decoded. Room for tens of thousands of partitions.
inline constexpr std::size_t kMaxRequestWithoutRecords = 2U << 20U;
inline bool too_long(wire::ApiKey key, std::size_t bytes) {
    return key != wire::ApiKey::Produce && bytes > kMaxRequestWithoutRecords;
}

/// A request that is owed an answer. Invalid once its connection has closed: answering is then a no-op.
struct RequestId {
    ConnId conn = 0;
    std::uint64_t number = 0;
    friend auto operator<=>(const RequestId&, const RequestId&) = default;
};

class Inbound {
public:
    explicit Inbound(Outbox& outbox) : outbox_(outbox) {}

    void accepted(ConnId conn, std::string listener, wire::ListenerKind kind, const std::string& peer = "");
    /// False if the connection was not one of these.
    bool disconnected(ConnId conn);
    [[nodiscard]] bool knows(ConnId conn) const { return connections_.contains(conn); }
    [[nodiscard]] const std::string& listener(ConnId conn) const { return connections_.at(conn).listener; }
    [[nodiscard]] wire::ListenerKind kind(ConnId conn) const { return connections_.at(conn).kind; }
    /// As Kafka writes it, "/127.0.0.1".
    [[nodiscard]] const std::string& peer(ConnId conn) const { return connections_.at(conn).peer; }
    [[nodiscard]] bool open(const RequestId& request) const { return connections_.contains(request.conn); }

    /// Requests that have begun and whose answer has not gone out.
    [[nodiscard]] std::size_t unanswered(ConnId conn) const {
        const auto found = connections_.find(conn);
        return found == connections_.end() ? 0 : found->second.slots.size();
    }

    RequestId begin(ConnId conn);
    /// Sends as soon as every earlier request of the connection was answered.
    void answer(const RequestId& request, Bytes frame);
    /// acks=0: there is no answer.
    void answer_nothing(const RequestId& request);
    /// Hostile or broken bytes: the connection goes, the process stays.
    void close(ConnId conn, const std::string& reason);

private:
    struct Slot {
        std::uint64_t number = 0;
        bool done = false;
        std::optional<Bytes> frame;
    };
    struct Connection {
        std::string listener;
        std::string peer;
        wire::ListenerKind kind = wire::ListenerKind::Client;
        std::uint64_t next_number = 1;
        std::deque<Slot> slots;
    };
    void finish(const RequestId& request, std::optional<Bytes> frame);

    Outbox& outbox_;
    std::map<ConnId, Connection> connections_;
};

}  // namespace highwater::node
