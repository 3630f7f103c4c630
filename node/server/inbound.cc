#include "node/server/inbound.h"

namespace highwater::node {

void Inbound::accepted(ConnId conn, std::string listener, wire::ListenerKind kind, const std::string& peer) {
    Connection connection;
    connection.listener = std::move(listener);
    connection.kind = kind;
    connection.peer = "/" + peer;
    connections_.emplace(conn, std::move(connection));
}

bool Inbound::disconnected(ConnId conn) { return connections_.erase(conn) > 0; }

RequestId Inbound::begin(ConnId conn) {
    Connection& connection = connections_.at(conn);
    const RequestId request{conn, connection.next_number++};
    connection.slots.push_back({request.number, false, std::nullopt});
    return request;
}

void Inbound::answer(const RequestId& request, Bytes frame) { finish(request, std::move(frame)); }

void Inbound::answer_nothing(const RequestId& request) { finish(request, std::nullopt); }

void Inbound::finish(const RequestId& request, std::optional<Bytes> frame) {
    const auto found = connections_.find(request.conn);
    if (found == connections_.end()) return;
    Connection& connection = found->second;
    for (Slot& slot : connection.slots) {
        if (slot.number != request.number) continue;
        slot.done = true;
        slot.frame = std::move(frame);
        break;
    }
    while (!connection.slots.empty() && connection.slots.front().done) {
        Slot slot = std::move(connection.slots.front());
        connection.slots.pop_front();
        if (slot.frame) outbox_.send(request.conn, std::move(*slot.frame));
    }
}

void Inbound::close(ConnId conn, const std::string& reason) {
    if (connections_.erase(conn) == 0) return;
    outbox_.warn(fmt::format("closing connection {}: {}", conn, reason));
    outbox_.close(conn, reason);
}

}  // namespace highwater::node
