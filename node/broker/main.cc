// highwater-node: one broker or controller as a process.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <random>
#include <sstream>

#include "node/broker/command_line.h"
#include "node/broker/connection.h"
#include "node/broker/hosts.h"
#include "node/broker/log_line.h"
#include "node/broker/shell.h"
#include "node/log/file_storage.h"
#include "node/server/config.h"
#include "node/server/make_server.h"
#include "node/trace/trace_writer.h"

namespace highwater::node {
namespace {

Result<NodeConfig> load_config(const CommandLine& line) {
    std::ifstream in(line.properties_file, std::ios::binary);
    std::ostringstream text;
    if (in) text << in.rdbuf();
    if (!in || in.bad()) return failure(fmt::format("{}: cannot read it", line.properties_file));
    Result<Properties> properties = parse_properties(text.str(), line.properties_file);
    if (!properties) return tl::make_unexpected(properties.error());
    for (const auto& [key, value] : line.overrides) (*properties)[key] = Property{value, "--override"};
    return parse_config(*properties);
}

Limits limits_of(const NodeConfig& config) {
    Limits limits;
    limits.request_max_bytes = static_cast<std::size_t>(config.socket_request_max_bytes);
    limits.max_connections = static_cast<std::size_t>(config.max_connections);
    limits.max_connections_per_ip = static_cast<std::size_t>(config.max_connections_per_ip);
    if (config.queued_max_request_bytes > 0)
        limits.queued_request_bytes = static_cast<std::size_t>(config.queued_max_request_bytes);
    limits.max_idle = config.connections_max_idle;
    limits.pipelined_requests = static_cast<std::size_t>(config.max_pipelined_requests);
    limits.queued_response_bytes = static_cast<std::size_t>(config.max_queued_response_bytes);
    return limits;
}

std::uint64_t seed_from_system() {
    std::random_device device;
    return (std::uint64_t{device()} << 32U) ^ device();
}

void warn_of_bugs(const NodeConfig& config) {
    for (const BugInfo& bug : config.bugs.list()) {
        log_line(fmt::format("WARN bug {} ({}) is on: {}. This node is broken on purpose.", bug.name, bug.id,
                             bug.mechanism));
    }
}

int refuse(const Error& error) {
    fmt::print(stderr, "highwater-node: {}\n", error.message);
    return kExitUsage;
}

int fail(const Error& error) {
    log_line(fmt::format("ERROR {}", error.message));
    return kExitFailed;
}

int run(const std::vector<std::string>& arguments) {
    const Result<CommandLine> line = parse_command_line(arguments);
    if (!line) {
        fmt::print(stderr, "highwater-node: {}\n{}", line.error().message, kUsage);
        return kExitUsage;
    }
    if (line->help) {
        fmt::print("{}", kUsage);
        return 0;
    }
    const Result<NodeConfig> config = load_config(*line);
    if (!config) return refuse(config.error());
    ShellOptions options;
    options.description =
        fmt::format("{} {}", config->is_controller ? "controller" : "broker", config->node_id);
    options.limits = limits_of(*config);
    options.allow_non_loopback = config->allow_non_loopback;
    for (const Endpoint& endpoint : config->listeners) {
        const bool peers = !config->is_controller && endpoint.listener == config->inter_broker_listener;
        options.listeners.push_back({endpoint.listener, endpoint.host, endpoint.port, peers});
    }
    if (!config->hosts_file.empty()) {
        Result<Hosts> hosts = Hosts::load(config->hosts_file);
        if (!hosts) return refuse(hosts.error());
        options.hosts = std::move(*hosts);
    }
    if (const Status allowed = check_listeners(options); !allowed) return refuse(allowed.error());
    warn_of_bugs(*config);

    std::optional<TraceWriter> trace;
    if (!config->trace_file.empty()) {
        Result<TraceWriter> opened =
            TraceWriter::open(config->trace_file, config->node_id, config->incarnation);
        if (!opened) return fail(opened.error());
        trace = std::move(*opened);
    }
    FileStorage storage(config->log_dirs);
    Result<std::unique_ptr<Server>> server =
        make_server(monotonic_now(), wall_clock_ms(), *config, storage, Rng(seed_from_system()));
    if (!server) return fail(server.error());
    Shell shell(std::move(options), **server, storage, std::move(trace));
    if (const Status listening = shell.listen(); !listening) return fail(listening.error());
    return shell.run();
}

}  // namespace
}  // namespace highwater::node

int main(int argc, char** argv) { return highwater::node::run({argv + 1, argv + argc}); }
