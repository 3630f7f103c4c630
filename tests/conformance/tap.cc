#include "tests/conformance/tap.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <list>
#include <optional>
#include <thread>
#include <vector>

#include "base/assert.h"
#include "base/bytes.h"

namespace highwater::test {
namespace {

sockaddr_in to_sockaddr(const workloads::SocketAddress& address) {
    sockaddr_in out{};
    out.sin_family = AF_INET;
    out.sin_port = htons(address.port);
    HW_ASSERT(::inet_pton(AF_INET, address.host.c_str(), &out.sin_addr) == 1, "{}", address.host);
    return out;
}

/// The kernel's interface has no other.
const sockaddr* generic(const sockaddr_in& address) { return reinterpret_cast<const sockaddr*>(&address); }

/// Finds the headers in a stream of request frames: length, API key, version, correlation id, client id.
class HeaderReader {
public:
    explicit HeaderReader(RequestCounts& counts) : counts_(counts) {}

    void read(BytesView piece) {
        for (std::size_t at = 0; at < piece.size();) {
            if (header_.size() < kFixed) {
                header_.push_back(piece[at++]);
                if (header_.size() == kFixed) begin_frame();
                continue;
            }
            const std::size_t part = std::min(left_, piece.size() - at);
            const std::size_t wanted = std::min(part, kFixed + client_id_size_ - header_.size());
            header_.insert(header_.end(), piece.begin() + static_cast<std::ptrdiff_t>(at),
                           piece.begin() + static_cast<std::ptrdiff_t>(at + wanted));
            at += part;
            left_ -= part;
            if (left_ == 0) end_frame();
        }
    }

private:
    static constexpr std::size_t kFixed = 14;

    void begin_frame() {
        ByteReader in(header_);
        const auto length = static_cast<std::size_t>(in.i32());
        key_ = in.i16();
        version_ = in.i16();
        in.i32();
        const std::int16_t size = in.i16();
        client_id_size_ = size > 0 ? static_cast<std::size_t>(size) : 0;
        HW_ASSERT(length + 4 >= kFixed + client_id_size_, "a frame of {} bytes", length);
        left_ = length + 4 - kFixed;
        if (left_ == 0) end_frame();
    }
    void end_frame() {
        counts_.saw(std::string(header_.begin() + kFixed, header_.end()), static_cast<wire::ApiKey>(key_),
                    version_);
        header_.clear();
    }

    RequestCounts& counts_;
    Bytes header_;
    std::size_t left_ = 0;
    std::size_t client_id_size_ = 0;
    std::int16_t key_ = 0;
    std::int16_t version_ = 0;
};

bool send_all(int to, BytesView bytes) {
    while (!bytes.empty()) {
        const ssize_t sent = ::send(to, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (sent <= 0) return false;
        bytes = bytes.subspan(static_cast<std::size_t>(sent));
    }
    return true;
}

/// Until either end closes or `stop` becomes readable.
void relay(int client, int broker, int stop, RequestCounts& counts) {
    HeaderReader headers(counts);
    Bytes buffer(std::size_t{1} << 16U);
    std::array<pollfd, 3> ends{{{client, POLLIN, 0}, {broker, POLLIN, 0}, {stop, POLLIN, 0}}};
    while (::poll(ends.data(), ends.size(), -1) > 0 && ends[2].revents == 0) {
        for (const std::size_t from : {0U, 1U}) {
            if (ends[from].revents == 0) continue;
            const ssize_t got = ::recv(ends[from].fd, buffer.data(), buffer.size(), 0);
            if (got <= 0) return;
            const BytesView piece(buffer.data(), static_cast<std::size_t>(got));
            if (from == 0) headers.read(piece);
            if (!send_all(ends[1 - from].fd, piece)) return;
        }
    }
}

}  // namespace

void RequestCounts::saw(const std::string& client_id, wire::ApiKey key, std::int16_t version) {
    const std::lock_guard lock(mutex_);
    by_client_[client_id][key].insert(version);
}

RequestCounts::Versions RequestCounts::of(const std::string& prefix) const {
    const std::lock_guard lock(mutex_);
    Versions all;
    for (const auto& [client, versions] : by_client_) {
        if (!client.starts_with(prefix)) continue;
        for (const auto& [key, seen] : versions) all[key].insert(seen.begin(), seen.end());
    }
    return all;
}

RequestCounts::Versions RequestCounts::of_others(const std::vector<std::string>& prefixes) const {
    const std::lock_guard lock(mutex_);
    Versions all;
    for (const auto& [client, versions] : by_client_) {
        bool other = true;
        for (const std::string& prefix : prefixes) other = other && !client.starts_with(prefix);
        if (!other) continue;
        for (const auto& [key, seen] : versions) all[key].insert(seen.begin(), seen.end());
    }
    return all;
}

struct Tap::State {
    int listener = -1;
    /// Readable from the end on.
    int stop = -1;
    sockaddr_in broker{};
    RequestCounts& counts;
    std::thread acceptor;
    std::list<std::thread> connections;

    explicit State(RequestCounts& all) : counts(all) {}

    void serve(int client) {
        const int upstream = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        const int yes = 1;
        ::setsockopt(upstream, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
        ::setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
        // A broker that is down closes the client's connection, as its own port would refuse it.
        if (::connect(upstream, generic(broker), sizeof broker) == 0) relay(client, upstream, stop, counts);
        ::close(upstream);
        ::close(client);
    }
    void accept_all() {
        std::array<pollfd, 2> ends{{{listener, POLLIN, 0}, {stop, POLLIN, 0}}};
        while (::poll(ends.data(), ends.size(), -1) > 0 && ends[1].revents == 0) {
            const int client = ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
            if (client >= 0) connections.emplace_back([this, client] { serve(client); });
        }
    }
};

Tap::Tap(workloads::SocketAddress at, workloads::SocketAddress broker, RequestCounts& counts)
    : at_(std::move(at)), state_(std::make_unique<State>(counts)) {
    state_->broker = to_sockaddr(broker);
    state_->listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    state_->stop = ::eventfd(0, EFD_CLOEXEC);
    const int yes = 1;
    ::setsockopt(state_->listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    const sockaddr_in here = to_sockaddr(at_);
    HW_ASSERT(
        ::bind(state_->listener, generic(here), sizeof here) == 0 && ::listen(state_->listener, 128) == 0,
        "{}", at_.to_string());
    state_->acceptor = std::thread([state = state_.get()] { state->accept_all(); });
}

Tap::~Tap() {
    const std::uint64_t one = 1;
    HW_ASSERT(::write(state_->stop, &one, sizeof one) == sizeof one, "eventfd");
    state_->acceptor.join();
    for (std::thread& connection : state_->connections) connection.join();
    ::close(state_->listener);
    ::close(state_->stop);
}

}  // namespace highwater::test
