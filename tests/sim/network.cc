#include "tests/sim/network.h"

#include <algorithm>

#include "wire/frame.h"

namespace highwater::sim {

Duration Network::delay() {
    const Duration once{rng_.between(low_.count(), high_.count())};
    return rng_.chance(1) ? once * 10 : once;
}

std::optional<std::pair<Network::LinkId, std::size_t>> Network::find(BrokerId host, ConnId conn) const {
    const auto found = ends_.find({host, conn});
    if (found == ends_.end()) return std::nullopt;
    return found->second;
}

// -- what hosts do
// ------------------------------------------------------------------------------------------------

void Network::open(BrokerId from, ConnId conn, BrokerId to, const std::string& listener) {
    const LinkId id = next_link_++;
    Link link;
    link.sides = {Side{from, conn, true}, Side{to, 0, false}};
    links_.emplace(id, std::move(link));
    ends_[{from, conn}] = {id, 0};
    push(id, 0, {Kind::Syn, {}, {}, {}, listener});
}

void Network::send(BrokerId from, ConnId conn, Bytes frame) {
    const auto end = find(from, conn);
    if (!end) return;  // it ended a moment ago and the sender will be told
    const auto [id, lane] = *end;
    Message message{Kind::Frame, {}, {}, std::move(frame), {}};
    Link& link = links_.at(id);
    if (lane == 0) {
        if (const auto header = wire::peek_request_header(message.frame)) {
            message.api = header->api_key;
            link.asked[header->correlation_id] = header->api_key;
        }
    } else if (const auto asked = link.asked.find(ByteReader(message.frame).i32());
               asked != link.asked.end()) {
        message.api = asked->second;
        link.asked.erase(asked);
    }
    push(id, lane, std::move(message));
}

void Network::close(BrokerId from, ConnId conn, const std::string& reason) {
    const auto end = find(from, conn);
    if (!end) return;
    const auto [id, lane] = *end;
    links_.at(id).sides[lane].open = false;
    ends_.erase({from, conn});
    push(id, lane, {Kind::Fin, {}, {}, {}, reason});
}

void Network::down(BrokerId id) {
    hosts_.erase(id);
    std::vector<ConnId> conns;
    for (const auto& [end, link] : ends_) {
        if (end.first == id) conns.push_back(end.second);
    }
    for (const ConnId conn : conns) close(id, conn, "connection reset by peer");
}

// -- faults
// -------------------------------------------------------------------------------------------------------

void Network::hold(BrokerId from, BrokerId to, std::optional<wire::ApiKey> api) {
    held_.push_back({from, to, api});
}

void Network::release(BrokerId from, BrokerId to) {
    std::erase_if(held_, [&](const Held& held) { return held.from == from && held.to == to; });
    pump_all();
}

void Network::release(BrokerId from, BrokerId to, wire::ApiKey api) {
    std::erase_if(held_,
                  [&](const Held& held) { return held.from == from && held.to == to && held.api == api; });
    pump_all();
}

void Network::release_all() {
    held_.clear();
    pump_all();
}

void Network::cut(BrokerId a, BrokerId b) {
    cut_.insert(std::minmax(a, b));
    reset_links(a, b, false);
}

void Network::cut_late(BrokerId a, BrokerId b) {
    cut_.insert(std::minmax(a, b));
    reset_links(a, b, true);
}

void Network::reset_links(BrokerId a, BrokerId b, bool late) {
    for (auto& [id, link] : links_) {
        if (std::minmax(link.sides[0].host, link.sides[1].host) != std::minmax(a, b)) continue;
        for (std::size_t lane : {0U, 1U}) {
            // Each end learns of it by itself.
            if (!late) link.lanes[lane].clear();
            link.lanes[lane].push_back({Kind::Fin, scheduler_.now() + delay(), {}, {}, "connection reset"});
            scheduler_.at(link.lanes[lane].back().due, [this, id = id, lane] { pump(id, lane); });
        }
    }
}

/// The first message of this lane was lost, so the connection is.
void Network::lose(LinkId id, std::size_t lane) {
    Link& link = links_.at(id);
    link.lanes[lane].clear();
    link.lanes[1 - lane].clear();
    const Duration detected = milliseconds(rng_.between(100, 1500));
    for (const std::size_t towards : {lane, 1 - lane}) {
        const Duration after = towards == lane ? delay() : detected;
        link.lanes[towards].push_back({Kind::Fin, scheduler_.now() + after, {}, {}, "connection reset"});
        scheduler_.at(link.lanes[towards].back().due, [this, id, towards] { pump(id, towards); });
    }
}

bool Network::clear(BrokerId a, BrokerId b) const {
    const auto between = [&](BrokerId from, BrokerId to) {
        return std::minmax(from, to) == std::minmax(a, b);
    };
    return !is_cut(a, b) && !lossy_.contains({a, b}) && !lossy_.contains({b, a}) &&
           !slowed_.contains({a, b}) && !slowed_.contains({b, a}) &&
           std::none_of(held_.begin(), held_.end(),
                        [&](const Held& held) { return between(held.from, held.to); });
}

std::size_t Network::waiting(BrokerId from, BrokerId to, wire::ApiKey api) const {
    std::size_t count = 0;
    for (const auto& [id, link] : links_) {
        for (const std::size_t lane : {0U, 1U}) {
            if (link.sides[lane].host != from || link.sides[1 - lane].host != to) continue;
            if (link.lanes[lane].empty()) continue;
            const Message& first = link.lanes[lane].front();
            if (first.api == api && first.due <= scheduler_.now() && held(link, lane, first)) ++count;
        }
    }
    return count;
}

void Network::heal() {
    cut_.clear();
    lossy_.clear();
    slowed_.clear();
    release_all();
}

// -- lanes
// --------------------------------------------------------------------------------------------------------

bool Network::held(const Link& link, std::size_t lane, const Message& message) const {
    const BrokerId from = link.sides[lane].host;
    const BrokerId to = link.sides[1 - lane].host;
    return std::any_of(held_.begin(), held_.end(), [&](const Held& hold) {
        return hold.from == from && hold.to == to && (!hold.api || hold.api == message.api);
    });
}

void Network::push(LinkId id, std::size_t lane, Message message) {
    std::deque<Message>& queue = links_.at(id).lanes[lane];
    message.due = scheduler_.now() + delay();
    if (!slowed_.empty()) {
        const Link& link = links_.at(id);
        const auto slowed = slowed_.find({link.sides[lane].host, link.sides[1 - lane].host});
        if (slowed != slowed_.end()) message.due = message.due + slowed->second;
    }
    if (!queue.empty()) message.due = std::max(message.due, queue.back().due);
    scheduler_.at(message.due, [this, id, lane] { pump(id, lane); });
    queue.push_back(std::move(message));
}

void Network::pump(LinkId id, std::size_t lane) {
    while (true) {
        const auto found = links_.find(id);
        if (found == links_.end()) return;
        std::deque<Message>& queue = found->second.lanes[lane];
        if (queue.empty() || queue.front().due > scheduler_.now() || held(found->second, lane, queue.front()))
            return;
        Message message = std::move(queue.front());
        queue.pop_front();
        const auto& sides = found->second.sides;
        // A reset is what this end finds out by itself.
        if (message.kind != Kind::Fin && lossy_.contains({sides[lane].host, sides[1 - lane].host})) {
            lose(id, lane);
            continue;
        }
        deliver(id, lane, std::move(message));
        forget_if_done(id);
    }
}

void Network::pump_all() {
    std::vector<LinkId> ids;
    for (const auto& [id, link] : links_) ids.push_back(id);
    for (const LinkId id : ids) {
        pump(id, 0);
        pump(id, 1);
    }
}

void Network::deliver_syn(LinkId id, Message message) {
    Link& link = links_.at(id);
    const auto host = hosts_.find(link.sides[1].host);
    if (host == hosts_.end() || is_cut(link.sides[0].host, link.sides[1].host)) {
        push(id, 1, {Kind::Fin, {}, {}, {}, "connection refused"});
        return;
    }
    const ConnId conn = host->second->accepted(message.text);
    Side& acceptor = links_.at(id).sides[1];
    acceptor.conn = conn;
    acceptor.open = true;
    ends_[{acceptor.host, conn}] = {id, 1};
    push(id, 1, {Kind::SynAck, {}, {}, {}, {}});
}

void Network::deliver(LinkId id, std::size_t lane, Message message) {
    const Side to = links_.at(id).sides[1 - lane];
    if (message.kind == Kind::Syn) {
        if (links_.at(id).sides[0].open) deliver_syn(id, std::move(message));
        return;
    }
    if (message.kind == Kind::Fin) links_.at(id).sides[1 - lane].open = false;
    if (!to.open) return;
    if (message.kind == Kind::Fin) ends_.erase({to.host, to.conn});
    Host* const host = hosts_.at(to.host);
    switch (message.kind) {
        case Kind::SynAck:
            host->connected(to.conn);
            break;
        case Kind::Frame:
            host->received(to.conn, std::move(message.frame));
            break;
        case Kind::Fin:
            host->disconnected(to.conn, message.text);
            break;
        case Kind::Syn:
            break;
    }
}

void Network::forget_if_done(LinkId id) {
    const auto found = links_.find(id);
    if (found == links_.end()) return;
    const Link& link = found->second;
    const bool done =
        !link.sides[0].open && !link.sides[1].open && link.lanes[0].empty() && link.lanes[1].empty();
    if (done) links_.erase(found);
}

}  // namespace highwater::sim
