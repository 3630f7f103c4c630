#include "nemesis/address_plan.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <set>
#include <utility>

#include "base/assert.h"
#include "nemesis/tcp_table.h"

namespace highwater::nemesis {
namespace {

constexpr int kRelaySourceGroup = 250;
constexpr int kProbeSourceGroup = 251;
constexpr int kObserverGroup = 252;
constexpr int kLastSlot = 254;

std::string dotted(int slot, int third, int fourth) {
    return fmt::format("127.{}.{}.{}", slot, third, fourth);
}

/// Slots R in which anything listens on 127.R.x.y.
Result<std::set<int>> slots_with_listeners() {
    auto sockets = read_tcp_table();
    if (!sockets) return tl::make_unexpected(sockets.error());
    std::set<int> slots;
    for (const TcpSocket& socket : *sockets) {
        const std::uint32_t address = socket.local.address;
        if (socket.state == TcpState::Listen && (address >> 24U) == 127U) {
            slots.insert(static_cast<int>((address >> 16U) & 0xFFU));
        }
    }
    return slots;
}

/// A socket bound to the claim port of the slot; -1 with errno if it cannot be had.
int bind_claim(int slot) {
    const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) return -1;
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(kClaimPort);
    address.sin_addr.s_addr = htonl(0x7F000001U | (static_cast<std::uint32_t>(slot) << 16U));
    if (::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0) return fd;
    const int error = errno;
    ::close(fd);
    errno = error;
    return -1;
}

}  // namespace

AddressPlan::AddressPlan(int slot) : slot_(slot) {
    HW_ASSERT(slot >= 1 && slot <= kLastSlot, "slot {}", slot);
}

std::string AddressPlan::address(BrokerId source, BrokerId destination) const {
    HW_ASSERT(source >= 1 && source <= kLastClient, "no process id: {}", source);
    HW_ASSERT(destination >= 1 && destination <= kLastClient, "no process id: {}", destination);
    return dotted(slot_, source, destination);
}

std::string AddressPlan::relay_source(BrokerId source) const {
    return dotted(slot_, kRelaySourceGroup, source);
}
std::string AddressPlan::probe_source(BrokerId source) const {
    return dotted(slot_, kProbeSourceGroup, source);
}
std::string AddressPlan::observer_source() const { return dotted(slot_, kObserverGroup, 1); }

std::string AddressPlan::name(BrokerId id) { return fmt::format("{}{}", is_controller(id) ? 'c' : 'b', id); }

std::uint16_t AddressPlan::link_port(BrokerId source, BrokerId destination) {
    if (source == destination) return 0;
    if (is_controller(destination)) return is_client(source) ? 0 : kControllerPort;
    if (!is_broker(destination)) return 0;
    if (is_client(source)) return kClientPort;
    return is_broker(source) ? kInternalPort : 0;
}

std::vector<Link> AddressPlan::links(const Members& members) {
    std::vector<BrokerId> everyone = members.brokers;
    everyone.insert(everyone.end(), members.controllers.begin(), members.controllers.end());
    everyone.insert(everyone.end(), members.clients.begin(), members.clients.end());
    std::vector<Link> links;
    for (const BrokerId source : everyone) {
        for (const BrokerId destination : everyone) {
            if (const std::uint16_t port = link_port(source, destination))
                links.push_back({source, destination, port});
        }
    }
    return links;
}

std::string AddressPlan::hosts_file(BrokerId source, const Members& members) const {
    std::string text = "127.0.0.1 localhost\n";
    for (const auto* group : {&members.brokers, &members.controllers}) {
        for (const BrokerId id : *group) text += fmt::format("{} {}\n", address(source, id), name(id));
    }
    return text;
}

Result<SlotClaim> SlotClaim::claim() {
    const auto busy = slots_with_listeners();
    if (!busy) return failure("cannot choose addresses", busy.error());
    int last_error = 0;
    for (int slot = 1; slot <= kLastSlot; ++slot) {
        if (busy->contains(slot)) continue;
        const int fd = bind_claim(slot);
        if (fd >= 0) return SlotClaim(slot, fd);
        last_error = errno;
        if (last_error != EADDRINUSE) break;
    }
    return failure(
        fmt::format("cannot claim a slot of 127.R.0.1:{}: {}", kClaimPort,
                    last_error == 0 ? "something listens in all of them" : std::strerror(last_error)));
}

SlotClaim::~SlotClaim() {
    if (fd_ >= 0) ::close(fd_);
}
SlotClaim::SlotClaim(SlotClaim&& other) noexcept : plan_(other.plan_), fd_(std::exchange(other.fd_, -1)) {}
SlotClaim& SlotClaim::operator=(SlotClaim&& other) noexcept {
    std::swap(plan_, other.plan_);
    std::swap(fd_, other.fd_);
    return *this;
}

}  // namespace highwater::nemesis
