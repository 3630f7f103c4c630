// Who listens where. Every run owns one slot R of 127.R.0.0/16, so that parallel runs never collide, and the
// address a process connects to names both ends of the connection: 127.R.S.D is "from S to D".
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/result.h"

namespace highwater::nemesis {

/// All below the kernel's range of ephemeral ports, so that no outgoing connection ever takes one.
inline constexpr std::uint16_t kClaimPort = 19090;
inline constexpr std::uint16_t kInternalPort = 19091;
inline constexpr std::uint16_t kClientPort = 19092;
inline constexpr std::uint16_t kDirectPort = 19093;
inline constexpr std::uint16_t kControllerPort = 19094;

inline constexpr BrokerId kFirstController = 100;
inline constexpr BrokerId kLastController = 119;
inline constexpr BrokerId kFirstClient = 150;
inline constexpr BrokerId kLastClient = 249;

inline bool is_broker(BrokerId id) { return id >= 1 && id < kFirstController; }
inline bool is_controller(BrokerId id) { return id >= kFirstController && id <= kLastController; }
inline bool is_client(BrokerId id) { return id >= kFirstClient && id <= kLastClient; }

/// The processes of one cluster and its workload clients, by id.
struct Members {
    std::vector<BrokerId> brokers;
    std::vector<BrokerId> controllers;
    std::vector<BrokerId> clients;
};

/// One connection kind that some process opens to another, through a relay.
struct Link {
    BrokerId source = kNoBroker;
    BrokerId destination = kNoBroker;
    std::uint16_t port = 0;
};

/// The addresses of slot R. A plain value; SlotClaim keeps the slot ours.
class AddressPlan {
public:
    /// slot in [1, 254].
    explicit AddressPlan(int slot);

    [[nodiscard]] int slot() const { return slot_; }
    /// "127.R.S.D": where the relay of conn(source, destination) listens; for source == destination the real
    /// address.
    [[nodiscard]] std::string address(BrokerId source, BrokerId destination) const;
    /// "127.R.D.D": where the process itself listens, on all of its ports.
    [[nodiscard]] std::string real_address(BrokerId id) const { return address(id, id); }
    /// "127.R.250.S": where relays of connections that S opened connect from.
    [[nodiscard]] std::string relay_source(BrokerId source) const;
    /// "127.R.251.S": where probes through relays connect from; they are no traffic of S.
    [[nodiscard]] std::string probe_source(BrokerId source) const;
    /// "127.R.252.1": what the harness itself binds when it talks to a real INTERNAL, CLIENT or CONTROLLER
    /// listener, so that it is no bypass. (DIRECT needs none.)
    [[nodiscard]] std::string observer_source() const;

    /// "b1" for brokers, "c100" for controllers: the names that processes advertise and look up.
    [[nodiscard]] static std::string name(BrokerId id);
    /// The port S uses to reach D through a relay: INTERNAL between brokers, CONTROLLER to a controller,
    /// CLIENT from a client to a broker; 0 where no connection is ever opened.
    [[nodiscard]] static std::uint16_t link_port(BrokerId source, BrokerId destination);
    /// Every connection that may be opened among these processes.
    [[nodiscard]] static std::vector<Link> links(const Members& members);
    /// The hosts file of process `source`: one line "127.R.S.D bD" per broker and controller, and localhost.
    /// A process finds itself at its real address.
    [[nodiscard]] std::string hosts_file(BrokerId source, const Members& members) const;

private:
    int slot_;
};

/// Holds a slot for the life of the run by a socket bound to 127.R.0.1 on the claim port.
class SlotClaim {
public:
    /// The lowest free slot. A slot in whose addresses something still listens (left by a run that was
    /// killed) is passed over. Error: none of 254 is free, or sockets cannot be opened at all.
    static Result<SlotClaim> claim();
    ~SlotClaim();
    SlotClaim(SlotClaim&& other) noexcept;
    SlotClaim& operator=(SlotClaim&& other) noexcept;

    [[nodiscard]] const AddressPlan& plan() const { return plan_; }

private:
    SlotClaim(int slot, int fd) : plan_(slot), fd_(fd) {}

    AddressPlan plan_;
    int fd_;
};

}  // namespace highwater::nemesis
