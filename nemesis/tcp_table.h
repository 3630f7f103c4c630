// The kernel's list of TCP sockets, IPv4 and IPv4 inside IPv6 (JVMs listen so), as /proc/net shows it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace highwater::nemesis {

struct TcpEnd {
    /// In host order: 127.0.0.1 is 0x7F000001.
    std::uint32_t address = 0;
    std::uint16_t port = 0;
    [[nodiscard]] std::string to_string() const;
};

enum class TcpState : std::uint8_t { Established = 1, Listen = 10, Other = 0 };

struct TcpSocket {
    TcpEnd local;
    TcpEnd remote;
    TcpState state = TcpState::Other;
    /// By which /proc/PID/fd names it: "socket:[inode]"; 0: nobody has it open.
    std::uint64_t inode = 0;
};

/// One file's text; lines of pure IPv6 sockets and lines that are none are left out.
std::vector<TcpSocket> parse_tcp_table(std::string_view text);
/// Both tables of this network namespace. Error: /proc/net/tcp cannot be read.
Result<std::vector<TcpSocket>> read_tcp_table();

}  // namespace highwater::nemesis
