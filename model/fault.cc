// Spelling of fault kinds, roles and paths.
#include "model/fault.h"

#include <fmt/format.h>

#include <charconv>
#include <utility>

namespace highwater {
namespace {

constexpr std::pair<FaultKind, std::string_view> kKinds[] = {
    {FaultKind::Pause, "pause"},         {FaultKind::Resume, "resume"},
    {FaultKind::Terminate, "terminate"}, {FaultKind::Kill, "kill"},
    {FaultKind::Restart, "restart"},     {FaultKind::Wipe, "wipe"},
    {FaultKind::Elect, "elect"},         {FaultKind::Await, "await"},
    {FaultKind::Delay, "delay"},         {FaultKind::Throttle, "throttle"},
    {FaultKind::Hold, "hold"},           {FaultKind::Cut, "cut"},
    {FaultKind::Refuse, "refuse"},       {FaultKind::Flaky, "flaky"},
    {FaultKind::Partition, "partition"}, {FaultKind::Isolate, "isolate"},
    {FaultKind::Ring, "ring"},           {FaultKind::Bridge, "bridge"},
    {FaultKind::Release, "release"},     {FaultKind::ForgeFetch, "forge-fetch"}};

constexpr std::pair<Role::Kind, std::string_view> kRoles[] = {{Role::Kind::Leader, "leader"},
                                                              {Role::Kind::FollowerAny, "follower:any"},
                                                              {Role::Kind::FollowerAll, "follower:all"},
                                                              {Role::Kind::IsrLast, "isr:last"},
                                                              {Role::Kind::Controller, "controller"},
                                                              {Role::Kind::All, "all"},
                                                              {Role::Kind::Brokers, "brokers"},
                                                              {Role::Kind::BrokerAny, "broker:any"},
                                                              {Role::Kind::Minority, "minority"},
                                                              {Role::Kind::Majority, "majority"},
                                                              {Role::Kind::Client, "client"}};

constexpr std::pair<Way, std::string_view> kWays[] = {
    {Way::Both, "both"}, {Way::Out, "out"}, {Way::In, "in"}};

struct RateUnit {
    std::string_view name;
    std::int64_t bytes;
};
// Longest suffix first: "KB/s" ends with "B/s".
constexpr RateUnit kRateUnits[] = {{"MB/s", 1'000'000}, {"KB/s", 1'000}, {"B/s", 1}};

std::string_view trim(std::string_view part) {
    while (!part.empty() && part.front() == ' ') part.remove_prefix(1);
    while (!part.empty() && part.back() == ' ') part.remove_suffix(1);
    return part;
}

/// The parts between '+'.
std::vector<std::string_view> parts_of(std::string_view text) {
    std::vector<std::string_view> parts;
    while (true) {
        const std::size_t plus = text.find('+');
        parts.push_back(trim(text.substr(0, plus)));
        if (plus == std::string_view::npos) return parts;
        text.remove_prefix(plus + 1);
    }
}

}  // namespace

std::string_view fault_kind_name(FaultKind kind) {
    for (const auto& [value, name] : kKinds) {
        if (value == kind) return name;
    }
    return "?";
}

Result<FaultKind> parse_fault_kind(std::string_view text) {
    std::string known;
    for (const auto& [kind, name] : kKinds) {
        if (name == text) return kind;
        known += known.empty() ? std::string(name) : ", " + std::string(name);
    }
    return failure(fmt::format("unknown fault kind '{}' (known: {})", text, known));
}

bool is_path_rule(FaultKind kind) {
    return kind == FaultKind::Delay || kind == FaultKind::Throttle || kind == FaultKind::Hold ||
           kind == FaultKind::Cut || kind == FaultKind::Refuse;
}

bool is_partition(FaultKind kind) {
    return kind == FaultKind::Partition || kind == FaultKind::Isolate || kind == FaultKind::Ring ||
           kind == FaultKind::Bridge;
}

bool acts_on_path(FaultKind kind) {
    return is_path_rule(kind) || is_partition(kind) || kind == FaultKind::Flaky;
}

bool ends_process(FaultKind kind) {
    return kind == FaultKind::Terminate || kind == FaultKind::Kill || kind == FaultKind::Wipe;
}

bool is_momentary(FaultKind kind) {
    return kind == FaultKind::Resume || kind == FaultKind::Restart || kind == FaultKind::ForgeFetch ||
           has_no_target(kind);
}

bool has_no_target(FaultKind kind) {
    return kind == FaultKind::Elect || kind == FaultKind::Await || kind == FaultKind::Release;
}

std::string Role::to_string() const {
    if (kind == Kind::Id) return fmt::format("id:{}", id);
    if (kind == Kind::TargetOf) return fault_id + ".target";
    if (kind == Kind::Several) {
        std::string text;
        for (const Role& member : members) text += (text.empty() ? "" : "+") + member.to_string();
        return text;
    }
    for (const auto& [value, name] : kRoles) {
        if (value == kind) return std::string(name);
    }
    return "?";
}

std::vector<Role> Role::parts() const { return kind == Kind::Several ? members : std::vector<Role>{*this}; }

void Role::collect_fault_ids(std::vector<std::string>& into) const {
    if (kind == Kind::TargetOf) into.push_back(fault_id);
    for (const Role& member : members) member.collect_fault_ids(into);
}

Result<Role> parse_role(std::string_view text) {
    if (text.find('+') != std::string_view::npos) {
        Role several{.kind = Role::Kind::Several, .fault_id = {}};
        for (const std::string_view part : parts_of(text)) {
            auto member = parse_role(part);
            if (!member) return member;
            several.members.push_back(std::move(*member));
        }
        return several;
    }
    for (const auto& [kind, name] : kRoles) {
        if (name == text) return Role{.kind = kind, .fault_id = {}};
    }
    if (text.starts_with("id:")) {
        const std::string_view digits = text.substr(3);
        BrokerId id = 0;
        const auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), id);
        if (status == std::errc{} && end == digits.data() + digits.size() && id > 0) {
            return Role{.kind = Role::Kind::Id, .id = id, .fault_id = {}};
        }
    }
    constexpr std::string_view kTarget = ".target";
    if (text.ends_with(kTarget) && text.size() > kTarget.size()) {
        return Role{.kind = Role::Kind::TargetOf,
                    .fault_id = std::string(text.substr(0, text.size() - kTarget.size()))};
    }
    return failure(fmt::format(
        "unknown role '{}' (known: leader, follower:any, follower:all, isr:last, controller, all, "
        "brokers, broker:any, minority, majority, client, id:N, <fault id>.target; several with '+')",
        text));
}

std::string FaultRecord::struck() const {
    std::string text;
    const auto add = [&text](const std::string& one) { text += (text.empty() ? "" : ",") + one; };
    for (const auto& [source, destination] : paths) add(fmt::format("{}->{}", source, destination));
    if (!paths.empty()) return text;
    for (const BrokerId target : targets) add(std::to_string(target));
    return text;
}

std::string Planes::to_string() const {
    std::string text;
    const auto add = [&text](bool has, const char* name) {
        if (has) text += (text.empty() ? "" : "+") + std::string(name);
    };
    add(data, "data");
    add(controller, "controller");
    add(client, "client");
    return text;
}

Result<Planes> parse_planes(std::string_view text) {
    Planes planes{.data = false, .controller = false, .client = false};
    for (const std::string_view part : parts_of(text)) {
        if (part == "data") {
            planes.data = true;
        } else if (part == "controller") {
            planes.controller = true;
        } else if (part == "client") {
            planes.client = true;
        } else {
            return failure(
                fmt::format("'{}' is no plane (data, controller, client; several with '+')", part));
        }
    }
    return planes;
}

std::string_view way_name(Way way) {
    for (const auto& [value, name] : kWays) {
        if (value == way) return name;
    }
    return "?";
}

Result<Way> parse_way(std::string_view text) {
    for (const auto& [way, name] : kWays) {
        if (name == text) return way;
    }
    return failure(fmt::format("'{}' is no way (both, out, in)", text));
}

Result<std::int64_t> parse_byte_rate(std::string_view text) {
    for (const RateUnit& unit : kRateUnits) {
        if (!text.ends_with(unit.name)) continue;
        const std::string_view digits = text.substr(0, text.size() - unit.name.size());
        std::int64_t number = 0;
        const auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
        if (status != std::errc{} || end != digits.data() + digits.size() || number < 1 || number > 1'000'000)
            break;
        return number * unit.bytes;
    }
    return failure(fmt::format("'{}' is no bandwidth (like 64KB/s, 1MB/s, 500B/s)", text));
}

std::string format_byte_rate(std::int64_t bytes_per_second) {
    for (const RateUnit& unit : kRateUnits) {
        if (bytes_per_second % unit.bytes == 0)
            return fmt::format("{}{}", bytes_per_second / unit.bytes, unit.name);
    }
    return "";
}

Result<PathSpec> parse_path(std::string_view text) {
    const std::size_t arrow = text.find("->");
    if (arrow == std::string_view::npos) return failure(fmt::format("path '{}' has no '->'", text));
    auto source = parse_role(trim(text.substr(0, arrow)));
    if (!source) return failure(fmt::format("path '{}'", text), source.error());
    auto destination = parse_role(trim(text.substr(arrow + 2)));
    if (!destination) return failure(fmt::format("path '{}'", text), destination.error());
    return PathSpec{std::move(*source), std::move(*destination)};
}

}  // namespace highwater
