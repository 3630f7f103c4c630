#include "node/server/config.h"

#include <fmt/format.h>

#include <charconv>
#include <concepts>
#include <functional>

namespace highwater::node {
namespace {

std::string_view trim(std::string_view text) {
    constexpr std::string_view kSpaces = " \t\r\f";
    const std::size_t begin = text.find_first_not_of(kSpaces);
    if (begin == std::string_view::npos) return {};
    return text.substr(begin, text.find_last_not_of(kSpaces) - begin + 1);
}

std::vector<std::string> split_list(std::string_view text) {
    std::vector<std::string> parts;
    while (!text.empty()) {
        const std::size_t comma = text.find(',');
        parts.emplace_back(trim(text.substr(0, comma)));
        text.remove_prefix(comma == std::string_view::npos ? text.size() : comma + 1);
    }
    return parts;
}

template <class Number>
Result<Number> number(std::string_view text, std::int64_t low, std::int64_t high) {
    std::int64_t value = 0;
    const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (status != std::errc{} || end != text.data() + text.size()) return failure("is no whole number");
    if (value < low || value > high) return failure(fmt::format("is {}, not in {} to {}", value, low, high));
    return static_cast<Number>(value);
}

/// "NAME://host:port"
Result<Endpoint> endpoint(const std::string& text) {
    const std::size_t scheme = text.find("://");
    const std::size_t colon = text.rfind(':');
    if (scheme == std::string::npos || colon == std::string::npos || colon < scheme + 3) {
        return failure(fmt::format("'{}' is not NAME://host:port", text));
    }
    const auto port = number<std::uint16_t>(std::string_view(text).substr(colon + 1), 1, 65535);
    if (!port) return failure(fmt::format("'{}': the port {}", text, port.error().message));
    return Endpoint{text.substr(0, scheme), text.substr(scheme + 3, colon - scheme - 3), *port};
}

Result<std::vector<Endpoint>> endpoints(const std::string& text) {
    std::vector<Endpoint> list;
    for (const std::string& part : split_list(text)) {
        auto one = endpoint(part);
        if (!one) return tl::make_unexpected(one.error());
        list.push_back(std::move(*one));
    }
    if (list.empty()) return failure("is empty");
    for (std::size_t i = 0; i < list.size(); ++i) {
        for (std::size_t j = 0; j < i; ++j) {
            if (list[i].listener == list[j].listener)
                return failure(fmt::format("names {} twice", list[i].listener));
        }
    }
    return list;
}

/// "100@c100:19094"
Result<Voter> voter(const std::string& text) {
    const std::vector<std::string> parts = split_list(text);
    if (parts.size() != 1)
        return failure(fmt::format("names {} voters; one controller is supported", parts.size()));
    const std::size_t at = parts[0].find('@');
    const std::size_t colon = parts[0].rfind(':');
    if (at == std::string::npos || colon == std::string::npos || colon < at) {
        return failure(fmt::format("'{}' is not id@host:port", parts[0]));
    }
    const auto id = number<BrokerId>(std::string_view(parts[0]).substr(0, at), 0, 1'000'000);
    const auto port = number<std::uint16_t>(std::string_view(parts[0]).substr(colon + 1), 1, 65535);
    if (!id || !port) return failure(fmt::format("'{}' is not id@host:port", parts[0]));
    return Voter{*id, parts[0].substr(at + 1, colon - at - 1), *port};
}

using Setter = std::function<Status(NodeConfig&, const std::string&)>;
using Getter = std::function<std::string(const NodeConfig&)>;

/// How a key is read and, where it has a default, shown.
struct Key {
    template <class Set>
        requires std::convertible_to<Set, Setter>
    Key(Set setter) : set(std::move(setter)) {}
    Key(Setter setter, ConfigType of_type, Getter getter)
        : set(std::move(setter)), type(of_type), get(std::move(getter)) {}
    Setter set;
    ConfigType type = ConfigType::String;
    Getter get;
};

template <class Parse, class Member>
Setter parsed(Member member, Parse parse) {
    return [member, parse](NodeConfig& config, const std::string& text) -> Status {
        auto value = parse(text);
        if (!value) return tl::make_unexpected(value.error());
        config.*member = std::move(*value);
        return {};
    };
}
constexpr Duration kLongest = milliseconds(std::int64_t{1} << 40U);

Key time_in(Duration unit, Duration NodeConfig::* member, std::int64_t low) {
    const auto parse = [low, unit](const std::string& text) -> Result<Duration> {
        const auto value = number<std::int64_t>(text, low, kLongest / unit);
        if (!value) return tl::make_unexpected(value.error());
        return Duration{unit * *value};
    };
    return {parsed(member, parse), ConfigType::Long,
            [member, unit](const NodeConfig& config) { return std::to_string(config.*member / unit); }};
}
Key time_ms(Duration NodeConfig::* member, std::int64_t low) { return time_in(milliseconds(1), member, low); }
Key whole(std::int32_t NodeConfig::* member, std::int64_t low) {
    const auto parse = [low](const std::string& text) { return number<std::int32_t>(text, low, INT32_MAX); };
    return {parsed(member, parse), ConfigType::Int,
            [member](const NodeConfig& config) { return std::to_string(config.*member); }};
}
/// Of a feature: 0 is off.
Key level(std::int32_t NodeConfig::* member, std::int32_t high) {
    const auto parse = [high](const std::string& text) { return number<std::int32_t>(text, 0, high); };
    return {parsed(member, parse), ConfigType::Int,
            [member](const NodeConfig& config) { return std::to_string(config.*member); }};
}
Key log_bytes(std::int32_t LogSettings::* member, std::int64_t low) {
    const auto set = [member, low](NodeConfig& config, const std::string& text) -> Status {
        const auto value = number<std::int32_t>(text, low, INT32_MAX);
        if (!value) return tl::make_unexpected(value.error());
        config.log.*member = *value;
        return {};
    };
    return {set, ConfigType::Int,
            [member](const NodeConfig& config) { return std::to_string(config.log.*member); }};
}
Key log_roll() {
    const auto set = [](NodeConfig& config, const std::string& text) -> Status {
        const auto value = number<std::int64_t>(text, 1, kLongest / milliseconds(1));
        if (!value) return tl::make_unexpected(value.error());
        config.log.roll = milliseconds(*value);
        return {};
    };
    return {set, ConfigType::Long,
            [](const NodeConfig& config) { return std::to_string(config.log.roll / milliseconds(1)); }};
}
Key log_flush_interval() {
    const auto set = [](NodeConfig& config, const std::string& text) -> Status {
        const auto value = number<std::int64_t>(text, 1, INT64_MAX);
        if (!value) return tl::make_unexpected(value.error());
        config.log.flush_interval_messages = *value;
        return {};
    };
    return {set, ConfigType::Long,
            [](const NodeConfig& config) { return std::to_string(config.log.flush_interval_messages); }};
}
Key flag(bool NodeConfig::* member) {
    const auto parse = [](const std::string& text) -> Result<bool> {
        if (text == "true" || text == "false") return text == "true";
        return failure(fmt::format("is '{}', not true or false", text));
    };
    return {parsed(member, parse), ConfigType::Boolean,
            [member](const NodeConfig& config) { return config.*member ? "true" : "false"; }};
}
Setter text_of(std::string NodeConfig::* member) {
    return parsed(member, [](const std::string& text) { return Result<std::string>(text); });
}
/// A key of Kafka's whose only value here is fixed.
Key only(std::string expected) {
    const auto set = [expected](NodeConfig&, const std::string& text) -> Status {
        if (text == expected) return {};
        return failure(fmt::format("is '{}'; only '{}' is supported", text, expected));
    };
    return {set, ConfigType::String, [expected](const NodeConfig&) { return expected; }};
}

Status set_roles(NodeConfig& config, const std::string& text) {
    if (text != "broker" && text != "controller")
        return failure(fmt::format("is '{}', not broker or controller", text));
    config.is_controller = text == "controller";
    return {};
}

Status check_security(NodeConfig&, const std::string& text) {
    for (const std::string& part : split_list(text)) {
        if (!part.ends_with(":PLAINTEXT"))
            return failure(fmt::format("'{}': only PLAINTEXT is supported", part));
    }
    return {};
}

const std::map<std::string, Key>& keys() {
    static const std::map<std::string, Key> kKeys = {
        {"node.id", whole(&NodeConfig::node_id, 0)},
        {"process.roles", set_roles},
        {"controller.quorum.voters", parsed(&NodeConfig::controller, voter)},
        {"listeners", parsed(&NodeConfig::listeners, endpoints)},
        {"advertised.listeners", parsed(&NodeConfig::advertised, endpoints)},
        {"inter.broker.listener.name", text_of(&NodeConfig::inter_broker_listener)},
        {"controller.listener.names", text_of(&NodeConfig::controller_listener)},
        {"listener.security.protocol.map", check_security},
        {"log.dirs", text_of(&NodeConfig::log_dirs)},
        {"broker.session.timeout.ms", time_ms(&NodeConfig::broker_session_timeout, 1)},
        {"broker.heartbeat.interval.ms", time_ms(&NodeConfig::broker_heartbeat_interval, 1)},
        {"replica.lag.time.max.ms", time_ms(&NodeConfig::replica_lag_time_max, 1)},
        {"replica.fetch.wait.max.ms", time_ms(&NodeConfig::replica_fetch_wait_max, 0)},
        {"replica.fetch.min.bytes", whole(&NodeConfig::replica_fetch_min_bytes, 0)},
        {"replica.fetch.backoff.ms", time_ms(&NodeConfig::replica_fetch_backoff, 0)},
        {"replica.fetch.max.bytes", whole(&NodeConfig::replica_fetch_max_bytes, 1)},
        {"replica.high.watermark.checkpoint.interval.ms",
         time_ms(&NodeConfig::high_watermark_checkpoint_interval, 1)},
        {"log.flush.offset.checkpoint.interval.ms",
         time_ms(&NodeConfig::recovery_point_checkpoint_interval, 1)},
        {"log.flush.start.offset.checkpoint.interval.ms",
         time_ms(&NodeConfig::log_start_checkpoint_interval, 1)},
        {"log.segment.bytes", log_bytes(&LogSettings::segment_bytes, 14)},
        {"log.roll.ms", log_roll()},
        {"log.index.interval.bytes", log_bytes(&LogSettings::index_interval_bytes, 0)},
        {"log.index.size.max.bytes", log_bytes(&LogSettings::index_size_max_bytes, 12)},
        {"log.flush.interval.messages", log_flush_interval()},
        {"producer.id.expiration.ms", time_ms(&NodeConfig::producer_id_expiration, 1)},
        {"min.insync.replicas", whole(&NodeConfig::min_insync_replicas, 1)},
        {"unclean.leader.election.enable", flag(&NodeConfig::unclean_leader_election)},
        {"unclean.leader.election.interval.ms", time_ms(&NodeConfig::unclean_election_interval, 1)},
        {"auto.leader.rebalance.enable", flag(&NodeConfig::auto_leader_rebalance)},
        {"leader.imbalance.check.interval.seconds",
         time_in(seconds(1), &NodeConfig::leader_imbalance_check_interval, 1)},
        {"default.replication.factor", whole(&NodeConfig::default_replication_factor, 1)},
        {"num.partitions", whole(&NodeConfig::num_partitions, 1)},
        {"message.max.bytes", whole(&NodeConfig::message_max_bytes, 1)},
        {"controlled.shutdown.enable", flag(&NodeConfig::controlled_shutdown)},
        {"offsets.topic.num.partitions", whole(&NodeConfig::offsets_topic_num_partitions, 1)},
        {"offsets.topic.replication.factor", whole(&NodeConfig::offsets_topic_replication_factor, 1)},
        {"offsets.commit.timeout.ms", time_ms(&NodeConfig::offsets_commit_timeout, 1)},
        {"offset.metadata.max.bytes", whole(&NodeConfig::offset_metadata_max_bytes, 0)},
        {"group.initial.rebalance.delay.ms", time_ms(&NodeConfig::group_initial_rebalance_delay, 0)},
        {"group.min.session.timeout.ms", time_ms(&NodeConfig::group_min_session_timeout, 1)},
        {"group.max.session.timeout.ms", time_ms(&NodeConfig::group_max_session_timeout, 1)},
        {"auto.create.topics.enable", only("false")},
        {"socket.request.max.bytes", whole(&NodeConfig::socket_request_max_bytes, 1)},
        {"max.connections", whole(&NodeConfig::max_connections, 0)},
        {"max.connections.per.ip", whole(&NodeConfig::max_connections_per_ip, 0)},
        {"queued.max.request.bytes",
         parsed(&NodeConfig::queued_max_request_bytes,
                [](const std::string& text) { return number<std::int64_t>(text, -1, INT64_MAX); })},
        {"connections.max.idle.ms", time_ms(&NodeConfig::connections_max_idle, 1)},
        {"highwater.max.pipelined.requests", whole(&NodeConfig::max_pipelined_requests, 1)},
        {"highwater.max.queued.response.bytes", whole(&NodeConfig::max_queued_response_bytes, 1)},
        {"highwater.allow.non.loopback", flag(&NodeConfig::allow_non_loopback)},
        {"highwater.eligible.leader.replicas.version", level(&NodeConfig::eligible_leader_replicas, 1)},
        {"highwater.bugs",
         parsed(&NodeConfig::bugs, [](const std::string& text) { return Bugs::parse(text); })},
        {"highwater.hosts.file", text_of(&NodeConfig::hosts_file)},
        {"highwater.trace.file", text_of(&NodeConfig::trace_file)},
        {"highwater.incarnation", whole(&NodeConfig::incarnation, 1)},
        {"highwater.cluster.id",
         parsed(&NodeConfig::cluster_id, [](const std::string& text) { return Uuid::parse(text); })},
    };
    return kKeys;
}

/// What no key can say alone. An error names the key at fault and, if it was given at all, where.
class CrossCheck {
public:
    CrossCheck(const Properties& properties, const NodeConfig& config)
        : properties_(properties), config_(config) {}

    Status run() const {
        for (const char* key :
             {"node.id", "process.roles", "controller.quorum.voters", "listeners", "log.dirs"}) {
            if (!properties_.contains(key)) return failure(fmt::format("the key {} is missing", key));
        }
        if (Status good = listeners(); !good) return good;
        return voter();
    }

private:
    tl::unexpected<Error> wrong(const std::string& key, const std::string& what) const {
        const auto given = properties_.find(key);
        const std::string place = given == properties_.end() ? "" : given->second.origin + ": ";
        return failure(fmt::format("{}{} {}", place, key, what));
    }

    Status listeners() const {
        const bool controller = config_.is_controller;
        const std::string& needed = controller ? config_.controller_listener : config_.inter_broker_listener;
        if (config_.listener(needed) == nullptr) {
            return wrong(controller ? "controller.listener.names" : "inter.broker.listener.name",
                         fmt::format("is {}, but listeners has no {}", needed, needed));
        }
        for (const Endpoint& advertised : config_.advertised) {
            if (config_.listener(advertised.listener) != nullptr) continue;
            return wrong("advertised.listeners",
                         fmt::format("names {0}, but listeners has no {0}", advertised.listener));
        }
        if (!controller && config_.advertised_listener(needed) == nullptr) {
            return wrong("advertised.listeners",
                         fmt::format("has no {}, where the other brokers look for this one", needed));
        }
        return {};
    }

    Status voter() const {
        const bool is_voter = config_.controller.id == config_.node_id;
        if (is_voter == config_.is_controller) return {};
        return wrong("controller.quorum.voters",
                     is_voter ? fmt::format("names node {}, which is this broker", config_.node_id)
                              : fmt::format("names node {}, but this controller is node {}",
                                            config_.controller.id, config_.node_id));
    }

    const Properties& properties_;
    const NodeConfig& config_;
};

}  // namespace

const Endpoint* NodeConfig::listener(std::string_view name) const {
    for (const Endpoint& one : listeners) {
        if (one.listener == name) return &one;
    }
    return nullptr;
}

const Endpoint* NodeConfig::advertised_listener(std::string_view name) const {
    for (const Endpoint& one : advertised) {
        if (one.listener == name) return &one;
    }
    return nullptr;
}

Result<Properties> parse_properties(std::string_view text, const std::string& file_name) {
    Properties properties;
    std::size_t line_number = 0;
    while (!text.empty()) {
        ++line_number;
        const std::size_t end = text.find('\n');
        const std::string_view line = trim(text.substr(0, end));
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
        if (line.empty() || line.front() == '#' || line.front() == '!') continue;
        const std::size_t equals = line.find('=');
        const std::string origin = fmt::format("{}:{}", file_name, line_number);
        if (equals == std::string_view::npos)
            return failure(fmt::format("{}: '{}' is not key=value", origin, line));
        properties[std::string(trim(line.substr(0, equals)))] = {std::string(trim(line.substr(equals + 1))),
                                                                 origin};
    }
    return properties;
}

Result<NodeConfig> parse_config(const Properties& properties) {
    NodeConfig config;
    for (const auto& [key, property] : properties) {
        const auto known = keys().find(key);
        if (known == keys().end()) return failure(fmt::format("{}: unknown key {}", property.origin, key));
        if (const Status set = known->second.set(config, property.value); !set) {
            return failure(fmt::format("{}: {} {}", property.origin, key, set.error().message));
        }
        config.given[key] = property.value;
    }
    if (config.advertised.empty()) config.advertised = config.listeners;
    if (const Status good = CrossCheck(properties, config).run(); !good)
        return tl::make_unexpected(good.error());
    return config;
}

std::vector<ConfigEntry> describe_config(const NodeConfig& config) {
    const NodeConfig defaults;
    std::vector<ConfigEntry> entries;
    for (const auto& [name, key] : keys()) {
        const auto given = config.given.find(name);
        if (given == config.given.end() && !key.get) continue;
        ConfigEntry& entry = entries.emplace_back();
        entry.name = name;
        entry.type = key.type;
        entry.given = given != config.given.end();
        entry.value = key.get ? key.get(config) : given->second;
        if (key.get) entry.default_value = key.get(defaults);
    }
    return entries;
}

}  // namespace highwater::node
