// One relayed connection: two directions, each a queue of pieces that leave in order when the rules let them.
// Lives in the relay thread.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/rng.h"
#include "nemesis/meter.h"
#include "nemesis/network.h"
#include "nemesis/rule_set.h"

namespace boost::asio {
class io_context;
}

namespace highwater::nemesis {

class Relay;

/// What all relays share; outlives them.
struct RelayContext {
    boost::asio::io_context& io;
    const NetworkOptions& options;
    RuleSet rules;
    Meter meter;
    Rng rng;
    /// One read at a time goes through here.
    Bytes scratch;
    /// Called once, when a relay is over; the relay stays valid during the call.
    std::function<void(Relay*)> ended;
};

struct RelayEnds {
    Link link;
    /// Dotted addresses.
    std::string upstream_address;
    std::string source_address;
    /// Opened by Network::probe: no traffic of the peers.
    bool probe = false;
};

struct Waiting {
    std::size_t frames = 0;
    /// Of connections whose sender has closed.
    std::size_t of_closed = 0;
};

class Relay {
public:
    virtual ~Relay() = default;
    virtual void start() = 0;
    /// Looks at the rules again: cuts, delivers, or goes on waiting.
    virtual void rules_changed() = 0;
    /// This Hold is about to be removed: if it is what stops a direction whose sender has closed, drops what
    /// waits there.
    virtual void discard_held_by(const PathRule& rule) = 0;
    virtual void close() = 0;
    /// Frames that this Hold keeps from leaving.
    [[nodiscard]] virtual Waiting waiting_for(const PathRule& rule) const = 0;
    /// Frames of one API that have come and not left.
    [[nodiscard]] virtual std::size_t waiting_frames(const Path& path, std::int16_t api_key) const = 0;
    [[nodiscard]] virtual std::size_t queued_bytes(BrokerId source, BrokerId destination) const = 0;
};

/// `accepted`: descriptor of the accepted connection, now the relay's.
std::shared_ptr<Relay> make_relay(RelayContext& context, const RelayEnds& ends, int accepted);

}  // namespace highwater::nemesis
