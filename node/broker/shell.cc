#include "node/broker/shell.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <csignal>
#include <set>
#include <unordered_map>

#include "base/overloaded.h"
#include "node/broker/connection.h"
#include "node/broker/log_line.h"

namespace highwater::node {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

namespace {

/// Kafka's socket.connection.setup.timeout.ms.
constexpr auto kConnectTimeout = std::chrono::seconds(10);
/// After the server has stopped, how long its last answers may take to leave.
constexpr auto kFarewell = std::chrono::seconds(1);
constexpr auto kFarewellCheck = std::chrono::milliseconds(5);
constexpr auto kAcceptRetry = std::chrono::milliseconds(100);

std::chrono::steady_clock::time_point to_time_point(Instant at) {
    return std::chrono::steady_clock::time_point(std::chrono::nanoseconds(at.ns));
}

Result<tcp::endpoint> bind_address(const ShellOptions& options, const ShellOptions::Listener& listener) {
    const Result<std::string> address = options.hosts.resolve(listener.host);
    if (!address) return failure(fmt::format("listener {}", listener.name), address.error());
    if (!is_loopback_address(*address) && !options.allow_non_loopback) {
        return failure(
            fmt::format("listener {}: {} is not a loopback address (127.0.0.0/8); this node has no security, "
                        "so it listens elsewhere only with highwater.allow.non.loopback=true",
                        listener.name, *address));
    }
    return tcp::endpoint(asio::ip::make_address_v4(*address), listener.port);
}

struct Listening {
    std::string name;
    bool peers;
    tcp::acceptor acceptor;
    asio::steady_timer retry;
};

/// An Open that is under way.
struct Dialing {
    tcp::socket socket;
    asio::steady_timer timeout;
};

}  // namespace

Status check_listeners(const ShellOptions& options) {
    for (const ShellOptions::Listener& listener : options.listeners) {
        if (const auto endpoint = bind_address(options, listener); !endpoint)
            return tl::make_unexpected(endpoint.error());
    }
    return {};
}

struct Shell::Impl final : ConnectionOwner {
    Impl(ShellOptions given, Server& of, Storage& on, std::optional<TraceWriter> into)
        : options(std::move(given)),
          server(of),
          storage(on),
          trace(std::move(into)),
          admission(options.limits) {}

    Status listen();
    void accept(Listening& listening);
    void accepted(Listening& listening, tcp::socket socket);
    void make_room(const Listening& listening);
    void wait_for_signal();
    void watch_idle();
    void close_idle();

    void step(const Input& input);
    Status write_evidence_and_files(Instant now, const Ready& ready);
    void perform(const NetworkAction& action);
    void open(const Open& action);
    void dialed(ConnId conn, const std::shared_ptr<Dialing>& dialing, const error_code& error);
    void resume_paused();
    void forget(ConnId conn);
    void arm_timer();
    void end(int code);
    void leave_when_idle(std::chrono::steady_clock::time_point at_latest);

    bool may_begin(ConnId conn) override;
    void on_begin(ConnId conn, std::size_t bytes) override { admission.begun(conn, bytes); }
    void on_frame(ConnId conn, Bytes payload) override { step(FrameReceived{conn, std::move(payload)}); }
    void on_closed(ConnId conn, const std::string& reason) override {
        forget(conn);
        step(Disconnected{conn, reason});
    }

    ShellOptions options;
    Server& server;
    Storage& storage;
    std::optional<TraceWriter> trace;
    Admission admission;

    asio::io_context io{1};
    asio::signal_set signals{io, SIGTERM, SIGINT};
    asio::steady_timer tick{io};
    asio::steady_timer farewell{io};
    asio::steady_timer idle_check{io};
    Instant armed_for = Instant::never();
    std::vector<std::unique_ptr<Listening>> listeners;
    std::unordered_map<ConnId, std::shared_ptr<Connection>> connections;
    /// Of these, those that may_begin has refused.
    std::set<ConnId> paused;
    std::unordered_map<ConnId, std::shared_ptr<Dialing>> dialing;
    /// Accepted connections have even numbers, the server's own odd ones.
    ConnId next_accepted = 2;
    std::optional<int> stop_signal;
    std::optional<int> exit_code;
};

// -- listeners
// --------------------------------------------------------------------------------------------------------

Status Shell::Impl::listen() {
    for (const ShellOptions::Listener& listener : options.listeners) {
        const Result<tcp::endpoint> endpoint = bind_address(options, listener);
        if (!endpoint) return tl::make_unexpected(endpoint.error());
        auto listening = std::make_unique<Listening>(
            Listening{listener.name, listener.peers, tcp::acceptor(io), asio::steady_timer(io)});
        error_code error;
        // NOLINTBEGIN(bugprone-unused-return-value): every call reports into `error`
        listening->acceptor.open(tcp::v4(), error);
        if (!error) listening->acceptor.set_option(tcp::acceptor::reuse_address(true), error);
        if (!error) listening->acceptor.bind(*endpoint, error);
        if (!error) listening->acceptor.listen(asio::socket_base::max_listen_connections, error);
        // NOLINTEND(bugprone-unused-return-value)
        if (error) {
            return failure(fmt::format("listener {}: cannot listen on {}:{}: {}", listener.name,
                                       endpoint->address().to_string(), endpoint->port(), error.message()));
        }
        listeners.push_back(std::move(listening));
    }
    return {};
}

void Shell::Impl::accept(Listening& listening) {
    listening.acceptor.async_accept([this, &listening](const error_code& error, tcp::socket socket) {
        if (error == asio::error::operation_aborted) return;
        if (!error) {
            accepted(listening, std::move(socket));
            return accept(listening);
        }
        // Out of descriptors, or a peer that left at once: the next one may succeed.
        log_line(fmt::format("WARN listener {}: cannot accept: {}", listening.name, error.message()));
        listening.retry.expires_after(kAcceptRetry);
        listening.retry.async_wait([this, &listening](const error_code& cancelled) {
            if (!cancelled) accept(listening);
        });
    });
}

void Shell::Impl::accepted(Listening& listening, tcp::socket socket) {
    if (exit_code) return;
    error_code gone;
    const tcp::endpoint peer = socket.remote_endpoint(gone);
    if (gone) return;
    const std::string address = peer.address().to_string();
    if (listening.peers) make_room(listening);
    if (const auto why = admission.refusal(address, listening.peers)) {
        log_line(fmt::format("WARN refusing a connection to {}: {}", listening.name, *why));
        return;
    }
    const ConnId conn = next_accepted;
    next_accepted += 2;
    const auto connection = std::make_shared<Connection>(
        std::move(socket), conn,
        Connection::Limits{options.limits.request_max_bytes, options.limits.queued_response_bytes}, *this);
    connections.emplace(conn, connection);
    admission.opened(conn, address, listening.peers);
    step(Accepted{conn, listening.name, address});
    connection->start();
}

/// A peer is let in above max.connections, and the client that was quiet longest goes.
void Shell::Impl::make_room(const Listening& listening) {
    if (admission.count() < options.limits.max_connections) return;
    std::shared_ptr<Connection> quietest;
    for (const auto& [conn, connection] : connections) {
        if (!admission.is_client(conn)) continue;
        if (!quietest || connection->last_active() < quietest->last_active()) quietest = connection;
    }
    if (!quietest) return;
    log_line(
        fmt::format("WARN closing a client's connection for one to {}: max.connections", listening.name));
    quietest->abandon("max.connections");
}

void Shell::Impl::watch_idle() {
    // A quarter late at most.
    const Duration period = std::clamp<Duration>(options.limits.max_idle / 4, milliseconds(10), seconds(60));
    idle_check.expires_after(period);
    idle_check.async_wait([this](const error_code& cancelled) {
        if (cancelled || exit_code) return;
        close_idle();
        watch_idle();
    });
}

void Shell::Impl::close_idle() {
    const auto limit = std::chrono::steady_clock::now() - options.limits.max_idle;
    for (const auto& [conn, connection] : connections) {
        const bool accepted_here = conn % 2 == 0;
        // Whoever waits for an answer may be quiet.
        if (!accepted_here || connection->last_active() > limit || server.unanswered(conn) > 0) continue;
        log_line("INFO closing an idle connection: connections.max.idle.ms");
        connection->abandon("idle");
    }
}

void Shell::Impl::wait_for_signal() {
    signals.async_wait([this](const error_code& error, int number) {
        if (error) return;
        wait_for_signal();
        if (stop_signal) {
            log_line(fmt::format("WARN signal {} again: already stopping", number));
            return;
        }
        stop_signal = number;
        log_line(fmt::format("INFO signal {}: stopping", number));
        step(StopRequested{});
    });
}

// -- one step
// ---------------------------------------------------------------------------------------------------------

void Shell::Impl::step(const Input& input) {
    if (exit_code) return;
    const Instant now = monotonic_now();
    server.step(now, wall_clock_ms(), input);
    Ready ready = server.take_ready();
    for (const std::string& line : ready.log) log_line(line);
    if (const Status written = write_evidence_and_files(now, ready); !written) {
        // What is not recorded must not be sent either.
        log_line(fmt::format("ERROR {}", written.error().message));
        return end(kExitFailed);
    }
    for (const NetworkAction& action : ready.network) perform(action);
    if (ready.stopped) return end(stop_signal ? 128 + *stop_signal : kExitFailed);
    arm_timer();
    resume_paused();
}

bool Shell::Impl::may_begin(ConnId conn) {
    admission.answered(conn, server.unanswered(conn));
    if (admission.may_begin(conn)) return true;
    paused.insert(conn);
    return false;
}

void Shell::Impl::resume_paused() {
    if (paused.empty()) return;
    if (admission.full()) {
        for (const auto& [conn, connection] : connections) admission.answered(conn, server.unanswered(conn));
    }
    for (auto at = paused.begin(); at != paused.end();) {
        admission.answered(*at, server.unanswered(*at));
        if (!admission.may_begin(*at)) {
            ++at;
            continue;
        }
        // Not from here: this step may be one of a frame that the connection is handing over.
        if (const auto found = connections.find(*at); found != connections.end())
            asio::post(io, [connection = found->second] { connection->resume(); });
        at = paused.erase(at);
    }
}

void Shell::Impl::forget(ConnId conn) {
    connections.erase(conn);
    paused.erase(conn);
    const bool was_full = admission.full();
    admission.closed(conn);
    if (was_full) resume_paused();
}

Status Shell::Impl::write_evidence_and_files(Instant now, const Ready& ready) {
    if (trace && !ready.events.empty()) {
        if (Status written = trace->write(now, ready.events); !written) return written;
    }
    for (const WriteFile& file : ready.files) {
        const Status replaced =
            storage.replace_file(file.path, as_bytes_view(file.content), Durability::Flushed);
        if (!replaced) return failure(fmt::format("cannot write {}", file.path), replaced.error());
    }
    return {};
}

void Shell::Impl::perform(const NetworkAction& action) {
    std::visit(overloaded{[&](const Open& of) { open(of); },
                          [&](const Send& of) {
                              // A connection may have ended while the server was working; it will be told.
                              const auto found = connections.find(of.conn);
                              if (found != connections.end()) found->second->send(of.payload);
                          },
                          [&](const Close& of) {
                              if (const auto found = dialing.find(of.conn); found != dialing.end()) {
                                  error_code ignored;
                                  found->second->socket.close(ignored);
                                  dialing.erase(found);
                              }
                              if (const auto found = connections.find(of.conn); found != connections.end()) {
                                  found->second->close();
                                  forget(of.conn);
                              }
                          }},
               action);
}

void Shell::Impl::open(const Open& action) {
    const auto refuse = [&](std::string reason) {
        asio::post(io,
                   [this, conn = action.conn, text = std::move(reason)] { step(Disconnected{conn, text}); });
    };
    const Result<std::string> address = options.hosts.resolve(action.host);
    if (!address) return refuse(address.error().message);
    const auto started = std::make_shared<Dialing>(Dialing{tcp::socket(io), asio::steady_timer(io)});
    dialing.emplace(action.conn, started);
    started->timeout.expires_after(kConnectTimeout);
    started->timeout.async_wait([started](const error_code& cancelled) {
        error_code ignored;
        if (!cancelled) started->socket.close(ignored);
    });
    started->socket.async_connect(tcp::endpoint(asio::ip::make_address_v4(*address), action.port),
                                  [this, conn = action.conn, started](const error_code& error) {
                                      started->timeout.cancel();
                                      dialed(conn, started, error);
                                  });
}

void Shell::Impl::dialed(ConnId conn, const std::shared_ptr<Dialing>& started, const error_code& error) {
    const auto found = dialing.find(conn);
    if (found == dialing.end() || found->second != started) return;  // closed by the server meanwhile
    dialing.erase(found);
    if (error || !started->socket.is_open()) {
        const bool timed_out = !error || error == asio::error::operation_aborted;
        return step(Disconnected{conn, timed_out ? "no connection within 10 s" : error.message()});
    }
    const auto connection = std::make_shared<Connection>(
        std::move(started->socket), conn,
        Connection::Limits{kMaxAnswerBytes, options.limits.queued_response_bytes}, *this);
    connections.emplace(conn, connection);
    connection->start();
    step(Connected{conn});
}

void Shell::Impl::arm_timer() {
    const Instant due = server.deadline();
    if (due == armed_for) return;
    armed_for = due;
    tick.cancel();
    if (due == Instant::never()) return;
    tick.expires_at(to_time_point(due));
    tick.async_wait([this](const error_code& cancelled) {
        if (cancelled || exit_code) return;
        // Forgotten before the step, so that the same deadline is armed again if the server insists on it.
        armed_for = Instant::never();
        step(Tick{});
    });
}

// -- the end
// ----------------------------------------------------------------------------------------------------------

void Shell::Impl::end(int code) {
    if (exit_code) return;
    exit_code = code;
    tick.cancel();
    idle_check.cancel();
    for (const auto& listening : listeners) {
        error_code ignored;
        listening->acceptor.close(ignored);
        listening->retry.cancel();
    }
    for (const auto& [conn, connection] : connections) connection->close();
    leave_when_idle(std::chrono::steady_clock::now() + kFarewell);
}

void Shell::Impl::leave_when_idle(std::chrono::steady_clock::time_point at_latest) {
    const bool idle = std::all_of(connections.begin(), connections.end(),
                                  [](const auto& entry) { return entry.second->idle(); });
    if (idle || std::chrono::steady_clock::now() >= at_latest) return io.stop();
    farewell.expires_after(kFarewellCheck);
    farewell.async_wait([this, at_latest](const error_code&) { leave_when_idle(at_latest); });
}

Shell::Shell(ShellOptions options, Server& server, Storage& storage, std::optional<TraceWriter> trace)
    : impl_(std::make_unique<Impl>(std::move(options), server, storage, std::move(trace))) {}
Shell::~Shell() = default;

Status Shell::listen() { return impl_->listen(); }

int Shell::run() {
    Impl& impl = *impl_;
    std::signal(SIGPIPE, SIG_IGN);
    impl.wait_for_signal();
    impl.watch_idle();
    for (const auto& listening : impl.listeners) impl.accept(*listening);
    std::vector<std::string> addresses;
    for (const auto& listening : impl.listeners) {
        const tcp::endpoint local = listening->acceptor.local_endpoint();
        addresses.push_back(
            fmt::format("{} {}:{}", listening->name, local.address().to_string(), local.port()));
    }
    log_line(fmt::format("INFO started {} on {}", impl.options.description, fmt::join(addresses, ", ")));
    // The server's first outputs (its start event, the first connections) need no input of ours.
    asio::post(impl.io, [&impl] { impl.step(Tick{}); });
    impl.io.run();
    return impl.exit_code.value_or(kExitFailed);
}

}  // namespace highwater::node
