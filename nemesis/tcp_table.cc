// Columns of /proc/net/tcp and tcp6: "sl: local remote state", five that are not looked at, the inode, then
// others. Addresses are the hex of 32-bit words in the machine's byte order, ports plain hex.
#include "nemesis/tcp_table.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <charconv>
#include <cstring>
#include <fstream>
#include <optional>
#include <sstream>

namespace highwater::nemesis {
namespace {

std::optional<std::uint32_t> hex_word(std::string_view text) {
    std::uint32_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return value;
}

std::optional<TcpEnd> parse_end(std::string_view text) {
    const std::size_t colon = text.find(':');
    if (colon == std::string_view::npos) return std::nullopt;
    std::string_view address = text.substr(0, colon);
    if (address.size() == 32) {
        // IPv4-mapped: ::ffff:a.b.c.d. The third word is compared in network order.
        const auto third = hex_word(address.substr(16, 8));
        if (address.substr(0, 16) != "0000000000000000" || !third || *third != htonl(0xFFFFU))
            return std::nullopt;
        address = address.substr(24);
    }
    const auto word = hex_word(address);
    const auto port = hex_word(text.substr(colon + 1));
    if (address.size() != 8 || !word || !port || *port > 0xFFFFU) return std::nullopt;
    return TcpEnd{ntohl(*word), static_cast<std::uint16_t>(*port)};
}

}  // namespace

std::string TcpEnd::to_string() const {
    return fmt::format("{}.{}.{}.{}:{}", address >> 24U, (address >> 16U) & 0xFFU, (address >> 8U) & 0xFFU,
                       address & 0xFFU, port);
}

std::vector<TcpSocket> parse_tcp_table(std::string_view text) {
    std::vector<TcpSocket> sockets;
    std::istringstream lines{std::string(text)};
    std::string line;
    while (std::getline(lines, line)) {
        std::istringstream words(line);
        std::string number, local, remote, state;
        if (!(words >> number >> local >> remote >> state)) continue;
        const auto local_end = parse_end(local);
        const auto remote_end = parse_end(remote);
        const auto state_number = hex_word(state);
        if (!local_end || !remote_end || !state_number) continue;
        TcpSocket socket{*local_end, *remote_end, TcpState::Other, 0};
        std::string skipped;
        for (int column = 0; column < 5; ++column) words >> skipped;
        words >> socket.inode;
        if (*state_number == 1) socket.state = TcpState::Established;
        if (*state_number == 10) socket.state = TcpState::Listen;
        sockets.push_back(socket);
    }
    return sockets;
}

Result<std::vector<TcpSocket>> read_tcp_table() {
    std::vector<TcpSocket> sockets;
    for (const char* path : {"/proc/net/tcp", "/proc/net/tcp6"}) {
        std::ifstream file(path);
        if (!file) {
            // A kernel without IPv6 has no tcp6.
            if (std::string_view(path) == "/proc/net/tcp6") break;
            return failure(fmt::format("cannot read {}: {}", path, std::strerror(errno)));
        }
        std::ostringstream text;
        text << file.rdbuf();
        for (const TcpSocket& socket : parse_tcp_table(text.str())) sockets.push_back(socket);
    }
    return sockets;
}

}  // namespace highwater::nemesis
