// The shell of a node: turns sockets, timers and signals into inputs of one Server and performs its Ready in
// order. Single thread. It decides nothing about replication.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "node/broker/admission.h"
#include "node/broker/hosts.h"
#include "node/log/storage.h"
#include "node/server/server.h"
#include "node/trace/trace_writer.h"

namespace highwater::node {

struct ShellOptions {
    /// "broker 1", for the readiness line.
    std::string description;
    struct Listener {
        std::string name;
        std::string host;  // dotted, or a name of the hosts file
        std::uint16_t port = 0;
        /// The one of the other brokers (Admission).
        bool peers = false;
    };
    std::vector<Listener> listeners;
    Hosts hosts;
    Limits limits;
    /// highwater.allow.non.loopback
    bool allow_non_loopback = false;
};

/// Every listener's host resolves, to an address in 127.0.0.0/8 unless others are allowed. Errors name the
/// listener.
Status check_listeners(const ShellOptions& options);

// Exit codes of the process beside 0 and Kafka's 128 + signal.
inline constexpr int kExitUsage = 64;
inline constexpr int kExitFailed = 70;

class Shell {
public:
    /// Storage and server outlive the shell.
    Shell(ShellOptions options, Server& server, Storage& storage, std::optional<TraceWriter> trace);
    ~Shell();

    /// Binds every listener. Errors name listener and address: as check_listeners, or one in use.
    Status listen();
    /// Until the server has stopped: 143 after SIGTERM and 130 after SIGINT, as Kafka; 70 if a file could not
    /// be written or the server ended by itself.
    int run();

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace highwater::node
