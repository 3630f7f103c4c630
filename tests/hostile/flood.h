// Connections that carry hostile bytes: many at once, each ended by its sender, so that none waits for an
// answer that never comes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "workloads/socket.h"

namespace highwater::test {

class Flood {
public:
    /// `sources`: local addresses to connect from, in turn. One alone has too few ports for a long flood.
    explicit Flood(std::vector<std::string> sources) : sources_(std::move(sources)) {}

    /// Sends `bytes` (length prefixes and all) to `to` on a connection of its own, then the end of it. Waits
    /// for earlier connections when too many are open. False if it could not connect.
    bool send(const workloads::SocketAddress& to, const Bytes& bytes);
    /// Until every connection was closed by the other side; those that were not within `limit` are counted.
    int finish(Duration limit);

    /// Connections whose other side sent anything back.
    [[nodiscard]] std::uint64_t answered() const { return answered_; }

private:
    /// Closes the oldest connections until at most `open` are left. The number that the other side held on
    /// to.
    int drain(std::size_t open, Instant deadline);

    std::vector<std::string> sources_;
    std::vector<int> open_;
    std::size_t next_source_ = 0;
    std::uint64_t answered_ = 0;
};

}  // namespace highwater::test
