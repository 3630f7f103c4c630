#include "tests/hostile/flood.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "base/assert.h"

namespace highwater::test {
namespace {

constexpr std::size_t kOpenAtMost = 256;

sockaddr_in address_of(const std::string& host, std::uint16_t port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    HW_ASSERT(::inet_pton(AF_INET, host.c_str(), &address.sin_addr) == 1, "{}", host);
    return address;
}

bool connect_from(int fd, const std::string& source, const workloads::SocketAddress& to) {
    const int on = 1;
    ::setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof(on));
    const sockaddr_in from = address_of(source, 0);
    const sockaddr_in where = address_of(to.host, to.port);
    return ::bind(fd, reinterpret_cast<const sockaddr*>(&from), sizeof(from)) == 0 &&
           ::connect(fd, reinterpret_cast<const sockaddr*>(&where), sizeof(where)) == 0;
}

}  // namespace

bool Flood::send(const workloads::SocketAddress& to, const Bytes& bytes) {
    if (open_.size() >= kOpenAtMost) drain(kOpenAtMost / 2, monotonic_now() + seconds(20));
    const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    HW_ASSERT(fd >= 0);
    const std::string& source = sources_[next_source_++ % sources_.size()];
    if (!connect_from(fd, source, to)) {
        ::close(fd);
        return false;
    }
    // The other side may have closed at the first bad frame: what does not get through any more is not
    // missed.
    static_cast<void>(::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL));
    ::shutdown(fd, SHUT_WR);
    open_.push_back(fd);
    return true;
}

int Flood::finish(Duration limit) { return drain(0, monotonic_now() + limit); }

int Flood::drain(std::size_t open, Instant deadline) {
    std::array<std::uint8_t, 4096> buffer;
    int held = 0;
    while (open_.size() > open) {
        const int fd = open_.front();
        open_.erase(open_.begin());
        bool answered = false;
        while (true) {
            pollfd wait{fd, POLLIN, 0};
            const auto left = std::chrono::duration_cast<milliseconds>(deadline - monotonic_now()).count();
            if (::poll(&wait, 1, static_cast<int>(std::max<std::int64_t>(left, 0))) == 0) {
                ++held;
                break;
            }
            const ssize_t got = ::recv(fd, buffer.data(), buffer.size(), 0);
            if (got <= 0) break;
            answered = true;
        }
        answered_ += answered ? 1 : 0;
        ::close(fd);
    }
    return held;
}

}  // namespace highwater::test
