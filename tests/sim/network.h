// A simulated network of connections. Each direction of a connection is a FIFO with a random delay per
// message; a path (everything that travels from one process to another) can be slowed, held, wholly or for
// one API, or lose everything; and a pair of processes can be cut, which resets what is open and refuses what
// is new. One connection never loses, doubles or reorders a message and goes on, as TCP does not. Across
// connections all of that happens: what was sent before a connection broke may arrive late, after its sender
// has asked again on a new one.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/ids.h"
#include "base/rng.h"
#include "node/server/server.h"
#include "tests/sim/scheduler.h"
#include "wire/api_key.h"

namespace highwater::sim {

using node::ConnId;

/// One process as the network sees it.
class Host {
public:
    virtual ~Host() = default;
    /// Someone connected; the number the host gives this connection.
    virtual ConnId accepted(const std::string& listener) = 0;
    virtual void connected(ConnId conn) = 0;
    virtual void received(ConnId conn, Bytes frame) = 0;
    virtual void disconnected(ConnId conn, const std::string& reason) = 0;
};

class Network {
public:
    Network(Scheduler& scheduler, Rng rng) : scheduler_(scheduler), rng_(rng) {}

    /// A host that is attached accepts connections. `host` stays until down().
    void up(BrokerId id, Host& host) { hosts_[id] = &host; }
    /// The process is gone: what it sent before still arrives, then its peers see a reset.
    void down(BrokerId id);

    void open(BrokerId from, ConnId conn, BrokerId to, const std::string& listener);
    void send(BrokerId from, ConnId conn, Bytes frame);
    void close(BrokerId from, ConnId conn, const std::string& reason);

    // -- faults
    // -----------------------------------------------------------------------------------------------------
    /// Every message takes between `low` and `high`; one in a hundred ten times as long.
    void set_delay(Duration low, Duration high) {
        low_ = low;
        high_ = high;
    }
    /// What travels from -> to waits from its first matching message on; without `api` everything matches,
    /// new connections and closes too. An API's requests travel from its asker, its responses the other way.
    void hold(BrokerId from, BrokerId to, std::optional<wire::ApiKey> api = std::nullopt);
    void release(BrokerId from, BrokerId to);
    void release(BrokerId from, BrokerId to, wire::ApiKey api);
    void release_all();
    void cut(BrokerId a, BrokerId b);
    /// As cut(), but what was on its way still arrives: the bytes were in the receivers' buffers already.
    void cut_late(BrokerId a, BrokerId b);
    void mend(BrokerId a, BrokerId b) { cut_.erase(std::minmax(a, b)); }
    /// One way only: a message from -> to is lost, and its connection with it. The receiver sees the reset
    /// at once, the sender a while later.
    void cut_path(BrokerId from, BrokerId to) { lossy_.insert({from, to}); }
    void mend_path(BrokerId from, BrokerId to) { lossy_.erase({from, to}); }
    /// Everything from -> to takes `more` longer.
    void slow_path(BrokerId from, BrokerId to, Duration more) {
        if (more == Duration{0})
            slowed_.erase({from, to});
        else
            slowed_[{from, to}] = more;
    }
    void heal();
    /// No fault between the two, in either direction.
    [[nodiscard]] bool clear(BrokerId a, BrokerId b) const;
    /// Messages that wait in a hold of this path now.
    [[nodiscard]] std::size_t waiting(BrokerId from, BrokerId to, wire::ApiKey api) const;

private:
    enum class Kind { Syn, SynAck, Frame, Fin };
    struct Message {
        Kind kind = Kind::Frame;
        Instant due;
        std::optional<wire::ApiKey> api;
        Bytes frame;
        std::string text;  // Syn: listener, Fin: reason
    };
    struct Side {
        BrokerId host = kNoBroker;
        ConnId conn = 0;
        /// The acceptor's side is open from the moment it accepted.
        bool open = true;
    };
    /// sides[0] opened it; lanes[i] carries what sides[i] sends.
    struct Link {
        std::array<Side, 2> sides;
        std::array<std::deque<Message>, 2> lanes;
        std::map<std::int32_t, wire::ApiKey> asked;
    };
    using LinkId = std::uint64_t;
    struct Held {
        BrokerId from = kNoBroker;
        BrokerId to = kNoBroker;
        std::optional<wire::ApiKey> api;
    };

    Duration delay();
    void push(LinkId id, std::size_t lane, Message message);
    void pump(LinkId id, std::size_t lane);
    void pump_all();
    void deliver(LinkId id, std::size_t lane, Message message);
    void lose(LinkId id, std::size_t lane);
    void reset_links(BrokerId a, BrokerId b, bool late);
    void deliver_syn(LinkId id, Message message);
    [[nodiscard]] bool held(const Link& link, std::size_t lane, const Message& message) const;
    [[nodiscard]] bool is_cut(BrokerId a, BrokerId b) const { return cut_.contains(std::minmax(a, b)); }
    void forget_if_done(LinkId id);
    [[nodiscard]] std::optional<std::pair<LinkId, std::size_t>> find(BrokerId host, ConnId conn) const;

    Scheduler& scheduler_;
    Rng rng_;
    Duration low_ = std::chrono::microseconds(50);
    Duration high_ = std::chrono::microseconds(500);
    std::map<BrokerId, Host*> hosts_;
    std::map<LinkId, Link> links_;
    std::map<std::pair<BrokerId, ConnId>, std::pair<LinkId, std::size_t>> ends_;
    LinkId next_link_ = 1;
    std::vector<Held> held_;
    std::set<std::pair<BrokerId, BrokerId>> cut_;
    std::set<std::pair<BrokerId, BrokerId>> lossy_;
    std::map<std::pair<BrokerId, BrokerId>, Duration> slowed_;
};

}  // namespace highwater::sim
