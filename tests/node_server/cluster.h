// One controller and some brokers in one thread, with virtual time and a network without delay: what a server
// wants sent is the other's next input. A process can be frozen (its inputs wait), killed and started again
// on what it had on disk. After everything due at an instant was done, each server's deadline must lie in the
// future, or a shell would spin.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "node/log/memory_storage.h"
#include "node/server/config.h"
#include "node/server/server.h"
#include "wire/frame.h"

namespace highwater::test {

using node::ConnId;

inline constexpr BrokerId kController = 100;

class Cluster {
public:
    using Settings = std::map<std::string, std::string>;

    /// Brokers 1 to `brokers` and the controller, none of them started. `settings` are for every node.
    explicit Cluster(int brokers, Settings settings = {});

    // -- processes
    /// The .properties text of a node.
    [[nodiscard]] std::string properties(BrokerId id) const;
    /// For this node alone, from its next start on.
    void configure(BrokerId id, const std::string& key, const std::string& value) { own_[id][key] = value; }
    void start(BrokerId id);
    /// The controller and every broker; returns when all brokers are unfenced.
    void start_all();
    void kill(BrokerId id);
    /// Delivers StopRequested.
    void terminate(BrokerId id);
    void freeze(BrokerId id) { frozen_.insert(id); }
    void thaw(BrokerId id) { frozen_.erase(id); }
    [[nodiscard]] bool running(BrokerId id) const { return nodes_.at(id).server != nullptr; }

    // -- time
    [[nodiscard]] Instant now() const { return now_; }
    /// Delivers everything that can be delivered at this instant.
    void settle();
    void advance(Duration by);
    /// True as soon as `condition` holds; false if it does not within `limit`.
    bool run_until(const std::function<bool()>& condition, Duration limit = seconds(30));

    // -- a client's connections
    ConnId connect(BrokerId id, const std::string& listener = "CLIENT");
    void send(ConnId client, Bytes frame);
    void disconnect(ConnId client);
    [[nodiscard]] std::vector<Bytes>& received(ConnId client) { return clients_.at(client).received; }
    [[nodiscard]] bool closed(ConnId client) const { return clients_.at(client).closed; }
    /// Sends on a connection of its own and runs until the answer is there.
    template <class Response, class Request>
    Result<Response> ask(BrokerId id, const Request& request, std::int16_t version,
                         const std::string& listener = "CLIENT", Duration limit = seconds(30)) {
        const ConnId client = connect(id, listener);
        send(client, wire::encode_request(request, version, 7, "test"));
        const bool done = run_until([&] { return closed(client) || !received(client).empty(); }, limit);
        if (!done) return failure("no answer");
        if (received(client).empty()) return failure("the connection was closed");
        auto response = wire::decode_response<Response>(received(client).front(), version, 7);
        disconnect(client);
        return response;
    }

    // -- what they did
    [[nodiscard]] node::MemoryStorage& storage(BrokerId id) { return nodes_.at(id).storage; }
    [[nodiscard]] const std::vector<node::Event>& events(BrokerId id) const { return nodes_.at(id).events; }
    [[nodiscard]] bool logged(BrokerId id, const std::string& part) const;
    /// Events of one kind of fact, in order.
    template <class Fact>
    [[nodiscard]] std::vector<Fact> facts(BrokerId id) const {
        std::vector<Fact> found;
        for (const node::Event& event : events(id)) {
            if (const auto* of_partition = std::get_if<node::PartitionEvent>(&event)) {
                if constexpr (std::is_constructible_v<node::PartitionFact, Fact>) {
                    if (const auto* fact = std::get_if<Fact>(&of_partition->fact)) found.push_back(*fact);
                }
            } else if (const auto* of_controller = std::get_if<node::ControllerEvent>(&event)) {
                if constexpr (std::is_constructible_v<node::ControllerEvent, Fact>) {
                    if (const auto* fact = std::get_if<Fact>(of_controller)) found.push_back(*fact);
                }
            } else if constexpr (std::is_constructible_v<node::ServerEvent, Fact>) {
                if (const auto* fact = std::get_if<Fact>(&std::get<node::ServerEvent>(event)))
                    found.push_back(*fact);
            }
        }
        return found;
    }
    /// Requests that arrived at `id`, as "Fetch by broker-2-fetcher-1".
    [[nodiscard]] const std::set<std::string>& requests_seen(BrokerId id) const {
        return nodes_.at(id).requests;
    }

    /// How many requests of this client id arrived at `id`.
    [[nodiscard]] std::size_t requests_from(BrokerId id, const std::string& client_id) const {
        const auto found = nodes_.at(id).requests_from.find(client_id);
        return found == nodes_.at(id).requests_from.end() ? 0 : found->second;
    }

private:
    struct Node {
        node::MemoryStorage storage;
        std::unique_ptr<node::Server> server;
        std::deque<node::Input> inbox;
        ConnId next_accepted = 2;
        std::vector<node::Event> events;
        std::vector<std::string> log;
        std::set<std::string> requests;
        std::map<std::string, std::size_t> requests_from;
        std::uint64_t starts = 0;
    };
    struct ClientConnection {
        std::vector<Bytes> received;
        bool closed = false;
    };
    /// kNoBroker: a client's end.
    using End = std::pair<BrokerId, ConnId>;

    void step(BrokerId id, const node::Input& input);
    void perform(BrokerId id, const node::NetworkAction& action);
    void deliver(const End& end, node::Input input);
    void sever(const End& end, const std::string& reason);
    ConnId accept(Node& at, const End& from, BrokerId id, const std::string& listener);
    [[nodiscard]] bool awake(BrokerId id) const { return running(id) && !frozen_.contains(id); }

    Settings settings_;
    std::map<BrokerId, Settings> own_;
    Instant now_{1'000'000'000};
    std::map<BrokerId, Node> nodes_;
    std::map<ConnId, ClientConnection> clients_;
    ConnId next_client_ = 1;
    std::map<End, End> links_;
    std::set<BrokerId> frozen_;
};

}  // namespace highwater::test
