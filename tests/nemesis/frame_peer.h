// A server and a client of Kafka frames for the tests of the relays: blocking sockets, a deadline on every
// wait.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/bytes.h"
#include "base/time.h"
#include "wire/api_key.h"

namespace highwater::nemesis {

inline constexpr Duration kPatience = seconds(20);

/// Looks until it holds or patience is over; returns whether it held.
bool eventually(const std::function<bool()>& condition, Duration patience = kPatience);

struct Request {
    wire::ApiKey api = wire::ApiKey::Fetch;
    std::int32_t correlation_id = 0;
    std::size_t padding = 0;
};
/// The frame with its length.
Bytes encode(const Request& request);

/// Answers every frame with its correlation id and body; ApiVersions properly.
class FrameServer {
public:
    FrameServer(const std::string& address, std::uint16_t port);
    ~FrameServer();
    FrameServer(const FrameServer&) = delete;
    FrameServer& operator=(const FrameServer&) = delete;

    /// Correlation ids in the order they came, over all connections.
    [[nodiscard]] std::vector<std::int32_t> received() const;
    [[nodiscard]] std::size_t received_bytes() const { return received_bytes_; }
    [[nodiscard]] std::size_t accepted() const { return accepted_; }
    /// Connections that ended, however.
    [[nodiscard]] std::size_t ended() const { return ended_; }
    /// Address of the latest peer.
    [[nodiscard]] std::string peer() const;
    /// From now on nothing is read.
    void stop_reading() { reading_ = false; }
    void read_again() { reading_ = true; }

private:
    void accept_loop();
    void serve(int fd);
    bool answer(int fd, const Bytes& frame);

    int listener_;
    mutable std::mutex mutex_;
    std::vector<std::int32_t> received_;
    std::string peer_;
    std::list<std::thread> connections_;
    std::atomic<std::size_t> received_bytes_{0};
    std::atomic<std::size_t> accepted_{0};
    std::atomic<std::size_t> ended_{0};
    std::atomic<bool> stop_{false};
    std::atomic<bool> reading_{true};
    std::thread thread_;
};

class FrameClient {
public:
    FrameClient() = default;
    ~FrameClient() { close(); }
    FrameClient(FrameClient&& other) noexcept : fd_(other.fd_) { other.fd_ = -1; }
    FrameClient& operator=(FrameClient&&) = delete;

    /// 0, or errno. `source` "": any.
    int connect(const std::string& address, std::uint16_t port, const std::string& source = "");
    /// False if the connection is lost. Waits while the other side takes nothing.
    bool send(const Request& request) { return send_raw(encode(request)); }
    bool send_raw(const Bytes& bytes);
    /// As much as is taken at once; nullopt: lost.
    std::optional<std::size_t> send_some(BytesView bytes);
    /// Correlation id of the next answer; nullopt: closed, reset or out of patience, see `end`.
    std::optional<std::int32_t> receive(Duration patience = kPatience);
    /// So many bytes; fewer if the connection ended.
    Bytes receive_raw(std::size_t count);
    /// One request and its answer.
    bool round_trip(const Request& request) { return send(request) && receive() == request.correlation_id; }
    /// How the connection ended: 0 closed by the peer, ECONNRESET …; nullopt: it did not within patience.
    std::optional<int> wait_end();
    void close();

private:
    int fd_ = -1;
};

}  // namespace highwater::nemesis
