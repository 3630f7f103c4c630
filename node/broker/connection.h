// One TCP connection that carries frames with an int32 length prefix, in both directions, without ever
// blocking.
//   reads   stop between two frames while more than kPauseReadingAbove bytes wait to be written, or while the
//           owner takes no more: a peer that asks without reading waits for itself, and no one else notices
//   writes  queue; a peer that lets more than its limit pile up (by requests whose answers all become known
//           at once) is cut off
#pragma once

#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "node/server/server.h"

namespace highwater::node {

inline constexpr std::size_t kPauseReadingAbove = 1U << 20U;
/// Longest answer accepted from a peer that this node asked.
inline constexpr std::size_t kMaxAnswerBytes = 100U << 20U;

/// Who hears of what arrives. Called from the io_context, never from within a call of Connection.
class ConnectionOwner {
public:
    virtual ~ConnectionOwner() = default;
    /// Whether the next frame may be received. If not, resume() is called when it may.
    virtual bool may_begin(ConnId conn) = 0;
    /// The length of the next frame is known.
    virtual void on_begin(ConnId conn, std::size_t bytes) = 0;
    virtual void on_frame(ConnId conn, Bytes payload) = 0;
    /// Once, unless close() was called before: the connection is gone.
    virtual void on_closed(ConnId conn, const std::string& reason) = 0;
};

class Connection : public std::enable_shared_from_this<Connection> {
public:
    struct Limits {
        /// Longest frame accepted from the peer.
        std::size_t frame_bytes = 0;
        /// Waiting to be written; the frame that passes it is still queued, the next one ends the connection.
        std::size_t queued_bytes = 0;
    };
    /// `owner` outlives the connection.
    Connection(boost::asio::ip::tcp::socket socket, ConnId id, Limits limits, ConnectionOwner& owner);

    void start();
    void send(Bytes payload);
    /// Reads again what may_begin had refused. Not from within a call of ConnectionOwner.
    void resume();
    /// Ends it at once, with on_closed.
    void abandon(const std::string& reason) { fail(reason); }
    /// When bytes last came or went.
    [[nodiscard]] std::chrono::steady_clock::time_point last_active() const { return last_active_; }
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
    [[nodiscard]] bool paused();
    /// Hands over the frames in the chunk until it is used up or the connection pauses.
    void take();
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
    Limits limits_;
    ConnectionOwner& owner_;
    std::string peer_;

    std::array<std::uint8_t, 64U << 10U> chunk_;
    /// What of the chunk has not been taken yet.
    BytesView unread_;
    std::array<std::uint8_t, 4> prefix_{};
    std::size_t prefix_size_ = 0;
    std::size_t frame_size_ = 0;
    Bytes frame_;

    std::deque<Outgoing> queue_;
    std::size_t queued_bytes_ = 0;
    std::chrono::steady_clock::time_point last_active_ = std::chrono::steady_clock::now();
    bool taking_ = false;
    bool reading_ = false;
    bool writing_ = false;
    bool closing_ = false;
    bool dead_ = false;
};

}  // namespace highwater::node
