#include "tests/node_server/cluster.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/overloaded.h"
#include "node/server/make_server.h"

namespace highwater::test {
namespace {

const std::map<std::string, int> kPorts = {{"INTERNAL", 1}, {"CLIENT", 2}, {"DIRECT", 3}, {"CONTROLLER", 4}};

std::string host_of(BrokerId id) { return fmt::format("{}{}", id == kController ? 'c' : 'b', id); }

std::string endpoints_of(BrokerId id, const std::vector<std::string>& names) {
    std::string text;
    for (const std::string& name : names) {
        text += fmt::format("{}{}://{}:{}", text.empty() ? "" : ",", name, host_of(id), kPorts.at(name));
    }
    return text;
}

std::string listener_of(std::uint16_t port) {
    for (const auto& [name, number] : kPorts) {
        if (number == port) return name;
    }
    return "port " + std::to_string(port);
}

}  // namespace

Cluster::Cluster(int brokers, Settings settings) : settings_(std::move(settings)) {
    nodes_[kController];
    for (BrokerId id = 1; id <= brokers; ++id) nodes_[id];
}

std::string Cluster::properties(BrokerId id) const {
    const bool controller = id == kController;
    Settings all = {
        {"process.roles", controller ? "controller" : "broker"},
        {"node.id", std::to_string(id)},
        {"controller.quorum.voters",
         fmt::format("{}@{}:{}", kController, host_of(kController), kPorts.at("CONTROLLER"))},
        {"controller.listener.names", "CONTROLLER"},
        {"inter.broker.listener.name", "INTERNAL"},
        {"listeners",
         controller ? endpoints_of(id, {"CONTROLLER"}) : endpoints_of(id, {"INTERNAL", "CLIENT", "DIRECT"})},
        {"log.dirs", "data"},
        {"highwater.cluster.id", "Yag0zed1TaqtJD_IdOE8Ag"},
        {"broker.session.timeout.ms", "3000"},
        {"broker.heartbeat.interval.ms", "500"},
        {"replica.lag.time.max.ms", "3000"},
    };
    for (const auto& [key, value] : settings_) all[key] = value;
    if (const auto own = own_.find(id); own != own_.end()) {
        for (const auto& [key, value] : own->second) all[key] = value;
    }
    std::string text;
    for (const auto& [key, value] : all) text += key + "=" + value + "\n";
    return text;
}

void Cluster::start(BrokerId id) {
    Node& node = nodes_.at(id);
    ASSERT_EQ(node.server, nullptr) << "node " << id << " runs already";
    const auto read = node::parse_properties(properties(id), "server.properties");
    ASSERT_TRUE(read) << read.error().message;
    const auto config = node::parse_config(*read);
    ASSERT_TRUE(config) << config.error().message;
    const auto seed = static_cast<std::uint64_t>(id) * 1000 + ++node.starts;
    auto server = node::make_server(now_, now_.ns / 1'000'000, *config, node.storage, Rng(seed));
    ASSERT_TRUE(server) << server.error().message;
    node.server = std::move(*server);
    step(id, node::Tick{});
}

void Cluster::start_all() {
    for (const auto& [id, node] : nodes_) start(id);
    const std::size_t brokers = nodes_.size() - 1;
    ASSERT_TRUE(run_until([&] { return facts<node::BrokerUnfenced>(kController).size() >= brokers; }));
}

void Cluster::kill(BrokerId id) {
    Node& node = nodes_.at(id);
    node.server.reset();
    node.inbox.clear();
    frozen_.erase(id);
    std::vector<End> mine;
    for (const auto& [end, peer] : links_) {
        if (end.first == id) mine.push_back(end);
    }
    for (const End& end : mine) sever(end, "connection reset");
}

void Cluster::terminate(BrokerId id) {
    nodes_.at(id).inbox.emplace_back(node::StopRequested{});
    settle();
}

// -- time
// -----------------------------------------------------------------------------------------------------------

void Cluster::settle() {
    constexpr int kMostSteps = 100'000;
    int steps = 0;
    for (bool more = true; more;) {
        more = false;
        for (auto& [id, node] : nodes_) {
            if (!awake(id) || node.inbox.empty()) continue;
            const node::Input input = std::move(node.inbox.front());
            node.inbox.pop_front();
            step(id, input);
            more = true;
            ASSERT_LT(++steps, kMostSteps) << "the servers talk without end and without time";
        }
    }
}

void Cluster::advance(Duration by) {
    const Instant until = now_ + by;
    for (;;) {
        settle();
        Instant next = Instant::never();
        for (const auto& [id, node] : nodes_) {
            if (!awake(id)) continue;
            const Instant deadline = node.server->deadline();
            ASSERT_GT(deadline, now_) << "node " << id << " is due again at an instant where all was done";
            next = std::min(next, deadline);
        }
        if (next > until) break;
        now_ = next;
        for (const auto& [id, node] : nodes_) {
            if (awake(id) && node.server->deadline() <= now_) step(id, node::Tick{});
        }
    }
    now_ = until;
}

bool Cluster::run_until(const std::function<bool()>& condition, Duration limit) {
    const Instant until = now_ + limit;
    settle();
    while (!condition()) {
        if (now_ >= until || ::testing::Test::HasFatalFailure()) return false;
        advance(milliseconds(1));
        settle();
    }
    return true;
}

// -- one step
// ---------------------------------------------------------------------------------------------------------

void Cluster::step(BrokerId id, const node::Input& input) {
    Node& node = nodes_.at(id);
    if (const auto* frame = std::get_if<node::FrameReceived>(&input)) {
        const auto header = wire::decode_request_header(frame->payload);
        if (frame->conn % 2 == 0 && header) {
            ++node.requests_from[header->header.client_id.value_or("nobody")];
            node.requests.insert(fmt::format("{} v{} by {}", wire::api_name(header->header.api_key),
                                             header->header.api_version,
                                             header->header.client_id.value_or("nobody")));
        }
    }
    node.server->step(now_, now_.ns / 1'000'000, input);
    node::Ready ready = node.server->take_ready();
    for (node::Event& event : ready.events) node.events.push_back(std::move(event));
    for (std::string& line : ready.log) node.log.push_back(std::move(line));
    for (const node::WriteFile& file : ready.files) {
        const Status written =
            node.storage.replace_file(file.path, as_bytes_view(file.content), node::Durability::Flushed);
        ASSERT_TRUE(written) << written.error().message;
    }
    for (const node::NetworkAction& action : ready.network) perform(id, action);
    if (ready.stopped) kill(id);
}

void Cluster::perform(BrokerId id, const node::NetworkAction& action) {
    std::visit(overloaded{[&](const node::Open& open) {
                              const BrokerId to = std::stoi(open.host.substr(1));
                              if (!running(to)) {
                                  nodes_.at(id).inbox.emplace_back(node::Disconnected{open.conn, "refused"});
                                  return;
                              }
                              accept(nodes_.at(to), {id, open.conn}, to, listener_of(open.port));
                              nodes_.at(id).inbox.emplace_back(node::Connected{open.conn});
                          },
                          [&](const node::Send& send) {
                              const auto link = links_.find({id, send.conn});
                              // The peer may have closed it; the sender will hear of it.
                              if (link == links_.end()) return;
                              deliver(link->second, node::FrameReceived{link->second.second, send.payload});
                          },
                          [&](const node::Close& close) { sever({id, close.conn}, close.reason); }},
               action);
}

ConnId Cluster::accept(Node& at, const End& from, BrokerId id, const std::string& listener) {
    const ConnId conn = std::exchange(at.next_accepted, at.next_accepted + 2);
    links_[from] = {id, conn};
    links_[{id, conn}] = from;
    at.inbox.emplace_back(node::Accepted{conn, listener});
    return conn;
}

void Cluster::deliver(const End& end, node::Input input) {
    if (end.first != kNoBroker) {
        nodes_.at(end.first).inbox.push_back(std::move(input));
    } else if (auto* frame = std::get_if<node::FrameReceived>(&input)) {
        clients_.at(end.second).received.push_back(std::move(frame->payload));
    } else {
        clients_.at(end.second).closed = true;
    }
}

void Cluster::sever(const End& end, const std::string& reason) {
    const auto link = links_.find(end);
    if (link == links_.end()) return;
    const End peer = link->second;
    links_.erase(peer);
    links_.erase(end);
    deliver(peer, node::Disconnected{peer.second, reason});
}

// -- clients
// ----------------------------------------------------------------------------------------------------------

ConnId Cluster::connect(BrokerId id, const std::string& listener) {
    const ConnId client = next_client_++;
    clients_[client];
    accept(nodes_.at(id), {kNoBroker, client}, id, listener);
    return client;
}

void Cluster::send(ConnId client, Bytes frame) {
    const auto link = links_.find({kNoBroker, client});
    ASSERT_NE(link, links_.end()) << "connection " << client << " is closed";
    deliver(link->second, node::FrameReceived{link->second.second, std::move(frame)});
    settle();
}

void Cluster::disconnect(ConnId client) {
    sever({kNoBroker, client}, "the client went");
    settle();
}

bool Cluster::logged(BrokerId id, const std::string& part) const {
    for (const std::string& line : nodes_.at(id).log) {
        if (line.find(part) != std::string::npos) return true;
    }
    return false;
}

}  // namespace highwater::test
