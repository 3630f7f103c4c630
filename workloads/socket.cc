#include "workloads/socket.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "base/assert.h"

namespace highwater::workloads {
namespace {

constexpr std::size_t kMaxFrame = 100U << 20U;

}  // namespace

std::string_view socket_failure_name(SocketFailure failure) {
    switch (failure) {
        case SocketFailure::Refused:
            return "connection refused";
        case SocketFailure::ConnectTimeout:
            return "connect timed out";
        case SocketFailure::Lost:
            return "connection lost";
        case SocketFailure::Timeout:
            return "client timeout";
        case SocketFailure::Oversized:
            return "oversized frame";
        case SocketFailure::Malformed:
            return "malformed response";
    }
    return "?";
}

Socket::~Socket() { close(); }

Socket::Socket(Socket&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

Socket& Socket::operator=(Socket&& other) noexcept {
    if (this != &other) {
        close();
        fd_ = std::exchange(other.fd_, -1);
    }
    return *this;
}

void Socket::close() {
    if (fd_ >= 0) ::close(std::exchange(fd_, -1));
}

std::optional<SocketFailure> Socket::wait_for(short events, Instant deadline) const {
    while (true) {
        const Duration left = deadline - monotonic_now();
        const auto millis = std::chrono::ceil<std::chrono::milliseconds>(left).count();
        if (millis <= 0) return SocketFailure::Timeout;
        pollfd entry{.fd = fd_, .events = events, .revents = 0};
        const int ready = ::poll(&entry, 1, static_cast<int>(std::min<std::int64_t>(millis, 60'000)));
        if (ready > 0) return std::nullopt;
        if (ready < 0 && errno != EINTR) return SocketFailure::Lost;
    }
}

std::optional<SocketFailure> Socket::connect(const SocketAddress& to, Instant deadline) {
    close();
    fd_ = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd_ < 0) return SocketFailure::Refused;
    const int on = 1;
    ::setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(to.port);
    HW_ASSERT(::inet_pton(AF_INET, to.host.c_str(), &address.sin_addr) == 1, "'{}' is no IPv4 address",
              to.host);
    // The sockets API wants the generic address type.
    if (::connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return std::nullopt;
    if (errno == EINPROGRESS) {
        if (wait_for(POLLOUT, deadline)) {
            close();
            return SocketFailure::ConnectTimeout;
        }
        int error = 0;
        socklen_t size = sizeof error;
        if (::getsockopt(fd_, SOL_SOCKET, SO_ERROR, &error, &size) == 0 && error == 0) return std::nullopt;
    }
    close();
    return SocketFailure::Refused;
}

std::optional<SocketFailure> Socket::send_frame(BytesView payload, Instant deadline) {
    if (payload.size() > kMaxFrame) return SocketFailure::Oversized;
    ByteWriter frame;
    frame.u32(static_cast<std::uint32_t>(payload.size()));
    frame.raw(payload);
    const Bytes& bytes = frame.bytes();
    for (std::size_t sent = 0; sent < bytes.size();) {
        const ssize_t count = ::send(fd_, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
        if (count > 0) {
            sent += static_cast<std::size_t>(count);
        } else if (count < 0 && errno == EAGAIN) {
            if (const auto failed = wait_for(POLLOUT, deadline)) return failed;
        } else if (count < 0 && errno == EINTR) {
            continue;
        } else {
            return SocketFailure::Lost;
        }
    }
    return std::nullopt;
}

std::optional<SocketFailure> Socket::receive_exactly(std::uint8_t* into, std::size_t count,
                                                     Instant deadline) const {
    for (std::size_t received = 0; received < count;) {
        const ssize_t got = ::recv(fd_, into + received, count - received, 0);
        if (got > 0) {
            received += static_cast<std::size_t>(got);
        } else if (got < 0 && errno == EAGAIN) {
            if (const auto failed = wait_for(POLLIN, deadline)) return failed;
        } else if (got < 0 && errno == EINTR) {
            continue;
        } else {
            return SocketFailure::Lost;
        }
    }
    return std::nullopt;
}

tl::expected<Bytes, SocketFailure> Socket::receive_frame(Instant deadline) {
    std::array<std::uint8_t, 4> prefix{};
    if (const auto failed = receive_exactly(prefix.data(), prefix.size(), deadline))
        return tl::make_unexpected(*failed);
    const std::uint32_t size = ByteReader(prefix).u32();
    if (size > kMaxFrame) return tl::make_unexpected(SocketFailure::Oversized);
    Bytes payload(size);
    if (const auto failed = receive_exactly(payload.data(), size, deadline))
        return tl::make_unexpected(*failed);
    return payload;
}

}  // namespace highwater::workloads
