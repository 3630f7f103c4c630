#include "node/broker/admission.h"

#include <fmt/format.h>

namespace highwater::node {

std::optional<std::string> Admission::refusal(const std::string& address, bool peers) const {
    const auto same = of_address_.find(address);
    if (same != of_address_.end() && same->second >= limits_.max_connections_per_ip)
        return fmt::format("{} has {} connections, max.connections.per.ip", address, same->second);
    if (limits_.max_connections_per_ip == 0) return "max.connections.per.ip is 0";
    if (!peers && connections_.size() >= limits_.max_connections)
        return fmt::format("there are {} connections, max.connections", connections_.size());
    return std::nullopt;
}

void Admission::opened(ConnId conn, const std::string& address, bool peers) {
    connections_.emplace(conn, Counted{address, peers, {}});
    ++of_address_[address];
}

void Admission::closed(ConnId conn) {
    const auto found = connections_.find(conn);
    if (found == connections_.end()) return;
    answered(conn, 0);
    const auto same = of_address_.find(found->second.address);
    if (--same->second == 0) of_address_.erase(same);
    connections_.erase(found);
}

bool Admission::may_begin(ConnId conn) const {
    const auto found = connections_.find(conn);
    if (found == connections_.end()) return true;
    if (found->second.frames.size() >= limits_.pipelined_requests) return false;
    return found->second.peers || !full();
}

void Admission::begun(ConnId conn, std::size_t bytes) {
    const auto found = connections_.find(conn);
    if (found == connections_.end()) return;
    found->second.frames.push_back(bytes);
    bytes_ += bytes;
}

void Admission::answered(ConnId conn, std::size_t unanswered) {
    const auto found = connections_.find(conn);
    if (found == connections_.end()) return;
    std::deque<std::size_t>& frames = found->second.frames;
    while (frames.size() > unanswered) {
        bytes_ -= frames.front();
        frames.pop_front();
    }
}

}  // namespace highwater::node
