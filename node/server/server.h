// A whole broker or controller as one sans-IO object. A shell (node/broker) or a simulation feeds inputs,
// takes the Ready and performs it in the order of its fields:
//   1. events       written to the trace with write(2)            (a killed process loses no evidence)
//   2. files        checkpoints                                   (Storage::replace_file)
//   3. opens, sends, closes                                       (network)
//   4. stopped      the process may exit
// Appends, reads and flushes of logs are synchronous calls on Storage inside step(). Everything is bounded:
// `deadline()` says when a Tick is due.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/bytes.h"
#include "base/ids.h"
#include "base/time.h"
#include "node/controller/events.h"
#include "node/replica/events.h"

namespace highwater::node {

/// A connection, numbered by whoever opened it: the shell numbers accepted ones (even), the server its own
/// (odd).
using ConnId = std::uint64_t;

// -- inputs
// -----------------------------------------------------------------------------------------------------------
struct Accepted {
    ConnId conn = 0;
    std::string listener;  // "INTERNAL", "CLIENT", "DIRECT", "CONTROLLER"
    std::string peer;      // "127.0.0.1"; "" if unknown
};
/// An Open succeeded.
struct Connected {
    ConnId conn = 0;
};
/// A connection ended, ours or theirs, or an Open failed.
struct Disconnected {
    ConnId conn = 0;
    std::string reason;
};
/// One frame without its length prefix.
struct FrameReceived {
    ConnId conn = 0;
    Bytes payload;
};
struct Tick {};
/// SIGTERM: controlled shutdown begins.
struct StopRequested {};
using Input = std::variant<Accepted, Connected, Disconnected, FrameReceived, Tick, StopRequested>;

// -- outputs
// ----------------------------------------------------------------------------------------------------------
struct ServerStarted {
    std::string role;  // "broker", "controller"
    Uuid incarnation;
    std::string bugs;  // comma separated, "" if none
};
/// This broker holds a new registration.
struct ServerRegistered {
    BrokerEpoch broker_epoch = kUnknownBrokerEpoch;
};
struct ServerStopped {
    bool clean = true;
};
struct CheckpointWritten {
    TopicPartition partition;
    Offset high_watermark = 0;
};
using ServerEvent = std::variant<ServerStarted, ServerRegistered, ServerStopped, CheckpointWritten>;
using Event = std::variant<PartitionEvent, ControllerEvent, ServerEvent>;

struct WriteFile {
    std::string path;  // relative to log.dirs
    std::string content;
};
/// Host names are resolved by the shell, in highwater.hosts.file first.
struct Open {
    ConnId conn = 0;
    std::string host;
    std::uint16_t port = 0;
};
struct Send {
    ConnId conn = 0;
    Bytes payload;  // one frame without its length prefix
};
struct Close {
    ConnId conn = 0;
    std::string reason;
};
using NetworkAction = std::variant<Open, Send, Close>;

struct Ready {
    std::vector<Event> events;
    std::vector<WriteFile> files;
    /// Opens, sends and closes in the order they must happen.
    std::vector<NetworkAction> network;
    /// Lines for the process log, level "INFO", "WARN" or "ERROR" first.
    std::vector<std::string> log;
    bool stopped = false;
};

class Server {
public:
    virtual ~Server() = default;
    virtual void step(Instant now, std::int64_t wall_ms, const Input& input) = 0;
    virtual Ready take_ready() = 0;
    /// When a Tick is due at the latest.
    [[nodiscard]] virtual Instant deadline() const = 0;
    /// Requests of a connection that others opened which are not answered yet. The shell stops reading a
    /// connection that has too many.
    [[nodiscard]] virtual std::size_t unanswered(ConnId conn) const = 0;
};

}  // namespace highwater::node
