#include "nemesis/probe.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/bytes.h"
#include "wire/frame.h"
#include "wire/messages/api_versions.h"

namespace highwater::nemesis {
namespace {

constexpr std::int32_t kCorrelationId = 0x70726F62;
constexpr std::size_t kLengthSize = 4;
/// ApiVersions v0 is six bytes per API.
constexpr std::size_t kMaxAnswer = 64 * 1024;

class Descriptor {
public:
    explicit Descriptor(int fd) : fd_(fd) {}
    ~Descriptor() {
        if (fd_ >= 0) ::close(fd_);
    }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    [[nodiscard]] int get() const { return fd_; }

private:
    int fd_;
};

sockaddr_in socket_address(const std::string& address, std::uint16_t port) {
    sockaddr_in result{};
    result.sin_family = AF_INET;
    result.sin_port = htons(port);
    ::inet_pton(AF_INET, address.c_str(), &result.sin_addr);
    return result;
}

Status last_error(const char* what) { return failure(fmt::format("{}: {}", what, std::strerror(errno))); }

/// Waits for poll events on the socket.
Status wait_for(int fd, short events, Instant deadline, const char* what) {
    while (true) {
        const Duration left = deadline - monotonic_now();
        if (left <= Duration::zero()) return failure(fmt::format("no {} in time", what));
        pollfd entry{fd, events, 0};
        const auto rounded = std::chrono::ceil<milliseconds>(left).count();
        const int ready = ::poll(&entry, 1, static_cast<int>(std::min<std::int64_t>(rounded, 60'000)));
        if (ready > 0) return {};
        if (ready < 0 && errno != EINTR) return last_error("poll");
    }
}

Status connect(int fd, const sockaddr_in& to, Instant deadline) {
    if (::connect(fd, reinterpret_cast<const sockaddr*>(&to), sizeof(to)) == 0) return {};
    if (errno != EINPROGRESS) return last_error("cannot connect to the relay");
    if (const Status ready = wait_for(fd, POLLOUT, deadline, "connection to the relay"); !ready) return ready;
    int error = 0;
    socklen_t size = sizeof(error);
    ::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size);
    errno = error;
    return error == 0 ? Status{} : last_error("cannot connect to the relay");
}

/// The answer's frame without its length.
Result<Bytes> receive_frame(int fd, Instant deadline) {
    Bytes received;
    while (true) {
        if (received.size() >= kLengthSize) {
            const std::uint32_t length = ByteReader(received).u32();
            if (length > kMaxAnswer)
                return failure(fmt::format("an answer of {} bytes is none to ApiVersions", length));
            if (received.size() >= kLengthSize + length) {
                return Bytes(received.begin() + kLengthSize, received.begin() + kLengthSize + length);
            }
        }
        if (const Status ready = wait_for(fd, POLLIN, deadline, "answer"); !ready) {
            return tl::make_unexpected(ready.error());
        }
        std::array<std::uint8_t, 4096> buffer{};
        const ssize_t count = ::recv(fd, buffer.data(), buffer.size(), 0);
        if (count == 0) return failure("the connection was closed without an answer");
        if (count < 0 && errno != EAGAIN && errno != EINTR)
            return tl::make_unexpected(last_error("no answer").error());
        if (count > 0) received.insert(received.end(), buffer.begin(), buffer.begin() + count);
    }
}

}  // namespace

Status probe_path(const AddressPlan& plan, BrokerId source, BrokerId destination, Instant deadline) {
    const std::uint16_t port = AddressPlan::link_port(source, destination);
    if (port == 0) return failure(fmt::format("{} opens no connection to {}", source, destination));
    const Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (socket.get() < 0) return last_error("socket");
    const int on = 1;
    ::setsockopt(socket.get(), IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof(on));
    const sockaddr_in from = socket_address(plan.probe_source(source), 0);
    if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&from), sizeof(from)) != 0)
        return last_error("bind");
    const sockaddr_in to = socket_address(plan.address(source, destination), port);
    if (const Status connected = connect(socket.get(), to, deadline); !connected) return connected;

    const Bytes request =
        wire::encode_request(wire::ApiVersionsRequest{}, 0, kCorrelationId, "highwater-probe");
    ByteWriter out;
    out.u32(static_cast<std::uint32_t>(request.size()));
    out.raw(request);
    // A few dozen bytes always fit into the buffer of a fresh connection.
    if (::send(socket.get(), out.bytes().data(), out.size(), MSG_NOSIGNAL) !=
        static_cast<ssize_t>(out.size())) {
        return last_error("cannot send the request");
    }
    const auto answer = receive_frame(socket.get(), deadline);
    if (!answer) return tl::make_unexpected(answer.error());
    const auto response = wire::decode_response<wire::ApiVersionsResponse>(*answer, 0, kCorrelationId);
    if (!response) return failure("not an answer to ApiVersions", response.error());
    return {};
}

namespace {

/// A process that talks to itself (a controller registers with the active one, which it may be) bypasses
/// nobody.
bool talks_to_itself(const std::vector<TcpSocket>& sockets, const TcpSocket& accepted,
                     const OwnsSocket& owns) {
    const auto same = [](const TcpEnd& a, const TcpEnd& b) {
        return a.address == b.address && a.port == b.port;
    };
    return owns && std::any_of(sockets.begin(), sockets.end(), [&](const TcpSocket& opened) {
               return same(opened.local, accepted.remote) && same(opened.remote, accepted.local) &&
                      owns(static_cast<BrokerId>(accepted.local.address & 0xFFU), opened.inode);
           });
}

}  // namespace

std::vector<std::string> find_bypasses(const std::vector<TcpSocket>& sockets, const AddressPlan& plan,
                                       const OwnsSocket& owns) {
    const auto third = [](std::uint32_t address) { return (address >> 8U) & 0xFFU; };
    const auto fourth = [](std::uint32_t address) { return address & 0xFFU; };
    const std::uint32_t ours = 0x7F00U | static_cast<std::uint32_t>(plan.slot());
    std::vector<std::string> found;
    for (const TcpSocket& socket : sockets) {
        if (socket.state != TcpState::Established) continue;
        const TcpEnd& local = socket.local;
        const bool real = local.address >> 16U == ours && third(local.address) == fourth(local.address);
        const bool relayed =
            local.port == kInternalPort || local.port == kClientPort || local.port == kControllerPort;
        if (!real || !relayed) continue;
        const std::string peer = socket.remote.to_string().substr(0, socket.remote.to_string().find(':'));
        const bool known = peer == plan.observer_source() ||
                           (socket.remote.address >> 16U == ours && third(socket.remote.address) == 250U);
        if (!known && !talks_to_itself(sockets, socket, owns))
            found.push_back(fmt::format("{} -> {}", socket.remote.to_string(), local.to_string()));
    }
    return found;
}

}  // namespace highwater::nemesis
