// A blocking TCP connection that speaks length-prefixed Kafka frames, with a deadline on every call.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/bytes.h"
#include "base/result.h"
#include "base/time.h"

namespace highwater::workloads {

struct SocketAddress {
    std::string host;  // dotted IPv4, loopback
    std::uint16_t port = 0;
    [[nodiscard]] std::string to_string() const { return host + ":" + std::to_string(port); }
};

/// How far a call came before it failed: decides whether a request may have been executed.
enum class SocketFailure : std::uint8_t { Refused, ConnectTimeout, Lost, Timeout, Oversized, Malformed };
std::string_view socket_failure_name(SocketFailure failure);

class Socket {
public:
    Socket() = default;
    ~Socket();
    Socket(Socket&& other) noexcept;
    Socket& operator=(Socket&& other) noexcept;

    /// nullopt on success. `source`: local address to bind, "" for any.
    std::optional<SocketFailure> connect(const SocketAddress& to, Instant deadline);
    /// Writes the frame with its length prefix. nullopt on success.
    std::optional<SocketFailure> send_frame(BytesView payload, Instant deadline);
    /// The next frame without its prefix. Frames above 100 MiB are refused.
    tl::expected<Bytes, SocketFailure> receive_frame(Instant deadline);
    void close();
    [[nodiscard]] bool connected() const { return fd_ >= 0; }

private:
    std::optional<SocketFailure> wait_for(short events, Instant deadline) const;
    std::optional<SocketFailure> receive_exactly(std::uint8_t* into, std::size_t count,
                                                 Instant deadline) const;

    int fd_ = -1;
};

}  // namespace highwater::workloads
