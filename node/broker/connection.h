// One TCP connection that carries frames with an int32 length prefix, in both directions, without ever
// blocking.
//   reads   stop while more than kPauseReadingAbove bytes wait to be written: a peer that asks without
//   reading waits writes  queue; a peer that lets more than kMaxQueuedBytes pile up is cut off, and no one
//   else notices
#pragma once

#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "node/server/server.h"

namespace highwater::node {

inline constexpr std::size_t kPauseReadingAbove = 1U << 20U;
inline constexpr std::size_t kMaxQueuedBytes = 64U << 20U;
/// Kafka's socket.request.max.bytes: no frame is ever longer.
inline constexpr std::size_t kMaxFrameBytes = 100U << 20U;

/// Who hears of what arrives. Called from the io_context, never from within a call of Connection.
class ConnectionOwner {
public:
    virtual ~ConnectionOwner() = default;
    virtual void on_frame(ConnId conn, Bytes payload) = 0;
    /// Once, unless close() was called before: the connection is gone.
    virtual void on_closed(ConnId conn, const std::string& reason) = 0;
};

class Connection : public std::enable_shared_from_this<Connection> {
public:
    /// `frame_limit`: longest frame accepted from the peer. `owner` outlives the connection.
    Connection(boost::asio::ip::tcp::socket socket, ConnId id, std::size_t frame_limit,
               ConnectionOwner& owner);

    void start();
    void send(Bytes payload);
    /// Writes what is queued, then closes; a peer that does not take it within a second loses it. No
    /// on_closed.
    void close();
    [[nodiscard]] bool idle() const { return queue_.empty(); }

private:
    struct Outgoing {
        std::array<std::uint8_t, 4> prefix;
        Bytes payload;
    };

    void read_more();
    void take(BytesView received);
    /// False if the connection is no longer to be read.
    bool begin_frame();
    void write_more();
    /// The peer broke a rule: into the log, too.
    void cut_off(const std::string& offence);
    void fail(const std::string& reason);
    void shut();

    boost::asio::ip::tcp::socket socket_;
    boost::asio::steady_timer linger_;
    ConnId id_;
    std::size_t frame_limit_;
    ConnectionOwner& owner_;
    std::string peer_;

    std::array<std::uint8_t, 64U << 10U> chunk_;
    std::array<std::uint8_t, 4> prefix_{};
    std::size_t prefix_size_ = 0;
    std::size_t frame_size_ = 0;
    Bytes frame_;

    std::deque<Outgoing> queue_;
    std::size_t queued_bytes_ = 0;
    bool reading_ = false;
    bool writing_ = false;
    bool closing_ = false;
    bool dead_ = false;
};

}  // namespace highwater::node
