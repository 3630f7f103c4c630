#include "tests/nemesis/frame_peer.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>

#include "base/assert.h"

namespace highwater::nemesis {
namespace {

constexpr Duration kLook = milliseconds(1);

sockaddr_in socket_address(const std::string& address, std::uint16_t port) {
    sockaddr_in result{};
    result.sin_family = AF_INET;
    result.sin_port = htons(port);
    HW_ASSERT(::inet_pton(AF_INET, address.c_str(), &result.sin_addr) == 1);
    return result;
}

bool wait_for(int fd, short events, Instant deadline) {
    while (monotonic_now() < deadline) {
        pollfd entry{fd, events, 0};
        const auto left = std::chrono::ceil<milliseconds>(deadline - monotonic_now()).count();
        if (::poll(&entry, 1, static_cast<int>(std::max<std::int64_t>(left, 0))) > 0) return true;
    }
    return false;
}

}  // namespace

bool eventually(const std::function<bool()>& condition, Duration patience) {
    const Instant deadline = monotonic_now() + patience;
    while (!condition()) {
        if (monotonic_now() > deadline) return false;
        std::this_thread::sleep_for(kLook);
    }
    return true;
}

Bytes encode(const Request& request) {
    ByteWriter out;
    out.u32(static_cast<std::uint32_t>(8 + request.padding));
    out.i16(static_cast<std::int16_t>(request.api));
    out.i16(0);
    out.i32(request.correlation_id);
    out.raw(Bytes(request.padding, 0x55));
    return out.take();
}

FrameServer::FrameServer(const std::string& address, std::uint16_t port)
    : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const int on = 1;
    ::setsockopt(listener_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    const sockaddr_in to = socket_address(address, port);
    HW_ASSERT(::bind(listener_, reinterpret_cast<const sockaddr*>(&to), sizeof(to)) == 0, "{}:{}", address,
              port);
    HW_ASSERT(::listen(listener_, 128) == 0);
    thread_ = std::thread([this] { accept_loop(); });
}

FrameServer::~FrameServer() {
    stop_ = true;
    reading_ = true;
    thread_.join();
    for (std::thread& connection : connections_) connection.join();
    ::close(listener_);
}

std::vector<std::int32_t> FrameServer::received() const {
    const std::lock_guard lock(mutex_);
    return received_;
}
std::string FrameServer::peer() const {
    const std::lock_guard lock(mutex_);
    return peer_;
}

void FrameServer::accept_loop() {
    while (!stop_) {
        if (!wait_for(listener_, POLLIN, monotonic_now() + milliseconds(20))) continue;
        sockaddr_in peer{};
        socklen_t size = sizeof(peer);
        const int fd = ::accept4(listener_, reinterpret_cast<sockaddr*>(&peer), &size, SOCK_CLOEXEC);
        if (fd < 0) continue;
        std::array<char, INET_ADDRSTRLEN> text{};
        ::inet_ntop(AF_INET, &peer.sin_addr, text.data(), text.size());
        const std::lock_guard lock(mutex_);
        peer_ = text.data();
        connections_.emplace_back([this, fd] {
            serve(fd);
            ::close(fd);
            ++ended_;
        });
        ++accepted_;
    }
}

void FrameServer::serve(int fd) {
    Bytes pending;
    std::vector<std::uint8_t> buffer(64 * 1024);
    while (!stop_) {
        if (!reading_ || !wait_for(fd, POLLIN, monotonic_now() + milliseconds(20))) {
            if (!reading_) std::this_thread::sleep_for(kLook);
            continue;
        }
        const ssize_t count = ::recv(fd, buffer.data(), buffer.size(), 0);
        if (count <= 0) return;
        received_bytes_ += static_cast<std::size_t>(count);
        pending.insert(pending.end(), buffer.begin(), buffer.begin() + count);
        while (pending.size() >= 4) {
            const std::size_t length = ByteReader(pending).u32();
            if (length > (64U << 20U)) {
                // No frame: an echo, for streams that are not Kafka's.
                if (::send(fd, pending.data(), pending.size(), MSG_NOSIGNAL) < 0) return;
                pending.clear();
                break;
            }
            if (pending.size() < 4 + length) break;
            const auto end = pending.begin() + static_cast<std::ptrdiff_t>(4 + length);
            if (!answer(fd, Bytes(pending.begin() + 4, end))) return;
            pending.erase(pending.begin(), end);
        }
    }
}

bool FrameServer::answer(int fd, const Bytes& frame) {
    ByteReader reader(frame);
    const std::int16_t api = reader.i16();
    reader.i16();
    const std::int32_t correlation_id = reader.i32();
    {
        const std::lock_guard lock(mutex_);
        received_.push_back(correlation_id);
    }
    ByteWriter body;
    body.i32(correlation_id);
    if (api == static_cast<std::int16_t>(wire::ApiKey::ApiVersions)) {
        body.i16(0);
        body.i32(0);
    } else {
        body.raw(reader.raw(reader.remaining()));
    }
    ByteWriter out;
    out.u32(static_cast<std::uint32_t>(body.size()));
    out.raw(body.bytes());
    std::size_t sent = 0;
    while (sent < out.size()) {
        const ssize_t count =
            ::send(fd, out.bytes().data() + sent, out.size() - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (count > 0) sent += static_cast<std::size_t>(count);
        if (count < 0 && errno != EAGAIN) return false;
        if (count < 0 && !wait_for(fd, POLLOUT, monotonic_now() + milliseconds(20)) && stop_) return false;
    }
    return true;
}

int FrameClient::connect(const std::string& address, std::uint16_t port, const std::string& source) {
    close();
    fd_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const int on = 1;
    ::setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    if (!source.empty()) {
        const sockaddr_in from = socket_address(source, 0);
        if (::bind(fd_, reinterpret_cast<const sockaddr*>(&from), sizeof(from)) != 0) return errno;
    }
    const sockaddr_in to = socket_address(address, port);
    return ::connect(fd_, reinterpret_cast<const sockaddr*>(&to), sizeof(to)) == 0 ? 0 : errno;
}

bool FrameClient::send_raw(const Bytes& bytes) {
    const Instant deadline = monotonic_now() + kPatience;
    BytesView left = bytes;
    while (!left.empty()) {
        const auto count = send_some(left);
        if (!count) return false;
        left = left.subspan(*count);
        if (*count == 0 && !wait_for(fd_, POLLOUT, deadline)) return false;
    }
    return true;
}

std::optional<std::size_t> FrameClient::send_some(BytesView bytes) {
    const ssize_t count = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count < 0) return errno == EAGAIN ? std::optional<std::size_t>{0} : std::nullopt;
    return static_cast<std::size_t>(count);
}

std::optional<std::int32_t> FrameClient::receive(Duration patience) {
    if (!wait_for(fd_, POLLIN, monotonic_now() + patience)) return std::nullopt;
    const Bytes length = receive_raw(4);
    if (length.size() < 4) return std::nullopt;
    const std::size_t size = ByteReader(length).u32();
    const Bytes body = receive_raw(size);
    if (body.size() < size || size < 4) return std::nullopt;
    return ByteReader(body).i32();
}

Bytes FrameClient::receive_raw(std::size_t count) {
    const Instant deadline = monotonic_now() + kPatience;
    Bytes received(count);
    std::size_t at = 0;
    while (at < count && wait_for(fd_, POLLIN, deadline)) {
        const ssize_t got = ::recv(fd_, received.data() + at, count - at, 0);
        if (got <= 0) break;
        at += static_cast<std::size_t>(got);
    }
    received.resize(at);
    return received;
}

std::optional<int> FrameClient::wait_end() {
    const Instant deadline = monotonic_now() + kPatience;
    std::array<std::uint8_t, 4096> buffer{};
    while (wait_for(fd_, POLLIN, deadline)) {
        const ssize_t count = ::recv(fd_, buffer.data(), buffer.size(), 0);
        if (count == 0) return 0;
        if (count < 0) return errno;
    }
    return std::nullopt;
}

void FrameClient::close() {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
}

}  // namespace highwater::nemesis
