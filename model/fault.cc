// Spelling of fault kinds, roles and paths.
#include "model/fault.h"

#include <fmt/format.h>

#include <charconv>
#include <utility>

namespace highwater {
namespace {

constexpr std::pair<FaultKind, std::string_view> kKinds[] = {
    {FaultKind::Pause, "pause"},    {FaultKind::Resume, "resume"},   {FaultKind::Terminate, "terminate"},
    {FaultKind::Kill, "kill"},      {FaultKind::Restart, "restart"}, {FaultKind::Delay, "delay"},
    {FaultKind::Hold, "hold"},      {FaultKind::Cut, "cut"},         {FaultKind::Refuse, "refuse"},
    {FaultKind::Release, "release"}};

constexpr std::pair<Role::Kind, std::string_view> kRoles[] = {{Role::Kind::Leader, "leader"},
                                                              {Role::Kind::FollowerAny, "follower:any"},
                                                              {Role::Kind::FollowerAll, "follower:all"},
                                                              {Role::Kind::IsrLast, "isr:last"},
                                                              {Role::Kind::Controller, "controller"},
                                                              {Role::Kind::All, "all"},
                                                              {Role::Kind::Client, "client"}};

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

bool acts_on_path(FaultKind kind) {
    return kind == FaultKind::Delay || kind == FaultKind::Hold || kind == FaultKind::Cut ||
           kind == FaultKind::Refuse;
}

std::string Role::to_string() const {
    if (kind == Kind::Id) return fmt::format("id:{}", id);
    if (kind == Kind::TargetOf) return fault_id + ".target";
    for (const auto& [value, name] : kRoles) {
        if (value == kind) return std::string(name);
    }
    return "?";
}

Result<Role> parse_role(std::string_view text) {
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
    return failure(
        fmt::format("unknown role '{}' (known: leader, follower:any, follower:all, isr:last, controller, "
                    "all, client, id:N, <fault id>.target)",
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

Result<PathSpec> parse_path(std::string_view text) {
    const std::size_t arrow = text.find("->");
    if (arrow == std::string_view::npos) return failure(fmt::format("path '{}' has no '->'", text));
    const auto trim = [](std::string_view part) {
        while (!part.empty() && part.front() == ' ') part.remove_prefix(1);
        while (!part.empty() && part.back() == ' ') part.remove_suffix(1);
        return part;
    };
    auto source = parse_role(trim(text.substr(0, arrow)));
    if (!source) return failure(fmt::format("path '{}'", text), source.error());
    auto destination = parse_role(trim(text.substr(arrow + 2)));
    if (!destination) return failure(fmt::format("path '{}'", text), destination.error());
    return PathSpec{std::move(*source), std::move(*destination)};
}

}  // namespace highwater
