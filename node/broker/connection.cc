#include "node/broker/connection.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>

#include "node/broker/log_line.h"

namespace highwater::node {

namespace asio = boost::asio;
using boost::system::error_code;

namespace {

/// How much of a frame is allocated before its bytes arrive: a length alone costs nobody 100 MiB.
constexpr std::size_t kReserveAtMost = 1U << 20U;
/// Frames in one writev.
constexpr std::size_t kGather = 32;

std::string peer_name(const asio::ip::tcp::socket& socket) {
    error_code error;
    const auto endpoint = socket.remote_endpoint(error);
    return error ? "a peer that is gone"
                 : fmt::format("{}:{}", endpoint.address().to_string(), endpoint.port());
}

}  // namespace

Connection::Connection(asio::ip::tcp::socket socket, ConnId id, Limits limits, ConnectionOwner& owner)
    : socket_(std::move(socket)),
      linger_(socket_.get_executor()),
      id_(id),
      limits_(limits),
      owner_(owner),
      peer_(peer_name(socket_)) {}

void Connection::start() {
    error_code error;
    socket_.set_option(asio::ip::tcp::no_delay(true), error);
    // A peer that closed already is noticed by the first read.
    read_more();
}

bool Connection::paused() {
    // Within a frame nothing is gained by waiting: its bytes are counted already.
    if (prefix_size_ > 0) return false;
    return queued_bytes_ > kPauseReadingAbove || !owner_.may_begin(id_);
}

void Connection::read_more() {
    if (reading_ || taking_ || dead_ || closing_ || !unread_.empty() || paused()) return;
    reading_ = true;
    socket_.async_read_some(
        asio::buffer(chunk_), [self = shared_from_this()](error_code error, std::size_t size) {
            self->reading_ = false;
            if (self->dead_ || self->closing_) return;
            if (error) {
                self->fail(error == asio::error::eof ? "closed by the peer" : error.message());
                return;
            }
            self->last_active_ = std::chrono::steady_clock::now();
            self->unread_ = BytesView(self->chunk_).first(size);
            self->take();
            self->read_more();
        });
}

void Connection::resume() {
    if (dead_ || closing_ || reading_) return;
    take();
    read_more();
}

void Connection::take() {
    taking_ = true;
    while (!unread_.empty() && !dead_ && !closing_ && !paused()) {
        if (prefix_size_ < prefix_.size()) {
            prefix_[prefix_size_++] = unread_.front();
            unread_ = unread_.subspan(1);
            if (prefix_size_ == prefix_.size() && !begin_frame()) break;
        } else {
            const std::size_t size = std::min(unread_.size(), frame_size_ - frame_.size());
            frame_.insert(frame_.end(), unread_.begin(), unread_.begin() + static_cast<std::ptrdiff_t>(size));
            unread_ = unread_.subspan(size);
        }
        if (prefix_size_ == prefix_.size() && frame_.size() == frame_size_) {
            prefix_size_ = 0;
            owner_.on_frame(id_, std::exchange(frame_, {}));
        }
    }
    taking_ = false;
}

bool Connection::begin_frame() {
    const auto size = ByteReader(prefix_).i32();
    if (size < 0 || static_cast<std::size_t>(size) > limits_.frame_bytes) {
        cut_off(fmt::format("a frame of {} bytes, the limit is {}", size, limits_.frame_bytes));
        return false;
    }
    frame_size_ = static_cast<std::size_t>(size);
    owner_.on_begin(id_, frame_size_);
    frame_.reserve(std::min(frame_size_, kReserveAtMost));
    return true;
}

void Connection::send(Bytes payload) {
    if (dead_ || closing_) return;
    if (queued_bytes_ > limits_.queued_bytes) {
        cut_off(fmt::format("{} bytes wait for a peer that does not read", queued_bytes_));
        return;
    }
    ByteWriter prefix;
    prefix.u32(static_cast<std::uint32_t>(payload.size()));
    Outgoing outgoing{{}, std::move(payload)};
    std::copy(prefix.bytes().begin(), prefix.bytes().end(), outgoing.prefix.begin());
    queued_bytes_ += outgoing.prefix.size() + outgoing.payload.size();
    queue_.push_back(std::move(outgoing));
    write_more();
}

void Connection::write_more() {
    if (writing_ || dead_ || queue_.empty()) return;
    writing_ = true;
    const std::size_t count = std::min(queue_.size(), kGather);
    std::vector<asio::const_buffer> buffers;
    buffers.reserve(2 * count);
    for (std::size_t i = 0; i < count; ++i) {
        buffers.emplace_back(asio::buffer(queue_[i].prefix));
        buffers.emplace_back(asio::buffer(queue_[i].payload));
    }
    // push_back leaves the queued frames where they are, so the buffers stay valid until the handler.
    asio::async_write(socket_, buffers,
                      [self = shared_from_this(), count](error_code error, std::size_t size) {
                          self->writing_ = false;
                          if (self->dead_) return;
                          if (error) {
                              if (self->closing_) return self->shut();
                              return self->fail(error.message());
                          }
                          self->last_active_ = std::chrono::steady_clock::now();
                          self->queued_bytes_ -= size;
                          self->queue_.erase(self->queue_.begin(),
                                             self->queue_.begin() + static_cast<std::ptrdiff_t>(count));
                          self->write_more();
                          if (self->closing_ && self->queue_.empty()) return self->shut();
                          self->resume();
                      });
}

void Connection::close() {
    if (dead_ || closing_) return;
    closing_ = true;
    if (queue_.empty()) return shut();
    linger_.expires_after(std::chrono::seconds(1));
    linger_.async_wait([self = shared_from_this()](error_code error) {
        if (!error) self->shut();
    });
}

void Connection::cut_off(const std::string& offence) {
    if (!dead_) log_line(fmt::format("WARN closing the connection with {}: {}", peer_, offence));
    fail(offence);
}

void Connection::fail(const std::string& reason) {
    if (dead_) return;
    shut();
    // The owner may be in the middle of a call of ours.
    asio::post(socket_.get_executor(),
               [self = shared_from_this(), reason] { self->owner_.on_closed(self->id_, reason); });
}

void Connection::shut() {
    if (dead_) return;
    dead_ = true;
    linger_.cancel();
    error_code ignored;  // a socket that cannot be closed is closed already
    socket_.close(ignored);
    // An aborted write still holds buffers into the queue until its handler ran.
    if (!writing_) queue_.clear();
}

}  // namespace highwater::node
