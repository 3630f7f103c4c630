#include "model/nemeses.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "model/scenario.h"
#include "model/scenario_faults.h"

namespace highwater {
namespace {

constexpr std::string_view kAllDown = "kill-all-restart-in-order";

constexpr std::array kNemeses = {
    Nemesis{"N1", "hold-fetch-response",
            "a follower gets the old leader's fetch response after the leader has changed", "follower:any",
            "500ms",
            R"toml(
[[fault]]
id = "$id.hold"
kind = "hold"
path = "leader->$target"
api = "Fetch"
part = "response"
[[fault]]
id = "$id.change"
after = "$id.hold"
kind = "pause"
target = "leader"
until = "leader != $id.change.target and leader != none"
[[fault]]
id = "$id.late"
after = "$id.change + $for"
kind = "release"
target = "$id.hold"
[[fault]]
id = "$id"
after = "$id.late"
kind = "resume"
target = "$id.change.target"
)toml"},
    Nemesis{"N2", "hold-metadata", "a broker hears nothing of the cluster's changes, its data paths are open",
            "leader", "5s",
            R"toml(
[[fault]]
id = "$id"
kind = "hold"
path = "controller->$target"
api = "Fetch"
part = "response"
for = "$for"
)toml"},
    Nemesis{"N3", "hold-alter-partition-request", "the leader's proposal of a smaller ISR is on its way",
            "follower:any", "1s",
            R"toml(
[[fault]]
id = "$id.hold"
kind = "hold"
path = "leader->controller"
api = "AlterPartition"
part = "request"
[[fault]]
id = "$id.starve"
after = "$id.hold"
kind = "hold"
path = "leader->$target"
api = "Fetch"
part = "response"
until = "held(AlterPartition request leader->controller)"
[[fault]]
id = "$id.feed"
after = "$id.starve + $for"
kind = "release"
target = "$id.starve"
[[fault]]
id = "$id"
after = "$id.feed"
kind = "release"
target = "$id.hold"
)toml"},
    Nemesis{"N4", "hold-alter-partition-response",
            "the controller has a smaller ISR, the leader does not know it", "follower:any", "1s",
            R"toml(
[[fault]]
id = "$id.hold"
kind = "hold"
path = "controller->leader"
api = "AlterPartition"
part = "response"
[[fault]]
id = "$id.starve"
after = "$id.hold"
kind = "hold"
path = "leader->$target"
api = "Fetch"
part = "response"
until = "held(AlterPartition response controller->leader)"
[[fault]]
id = "$id.feed"
after = "$id.starve + $for"
kind = "release"
target = "$id.starve"
[[fault]]
id = "$id"
after = "$id.feed"
kind = "release"
target = "$id.hold"
)toml"},
    Nemesis{"N5", "hold-metadata-after-response",
            "the leader knows its new ISR from the response, and its metadata record comes late",
            "follower:any", "1s",
            R"toml(
[[fault]]
id = "$id.hold"
kind = "hold"
path = "controller->leader"
api = "Fetch"
part = "response"
[[fault]]
id = "$id.starve"
after = "$id.hold"
kind = "hold"
path = "leader->$target"
api = "Fetch"
part = "response"
until = "passed(AlterPartition response controller->leader)"
[[fault]]
id = "$id.feed"
after = "$id.starve + $for"
kind = "release"
target = "$id.starve"
[[fault]]
id = "$id"
after = "$id.feed"
kind = "release"
target = "$id.hold"
)toml"},
    Nemesis{"N6", "leader-flap", "leadership goes away and comes back without a write, then there is one",
            "leader", "0s",
            R"toml(
[[fault]]
id = "$id.quiet"
kind = "hold"
path = "client->brokers"
api = "Produce"
part = "request"
[[fault]]
id = "$id.first"
after = "$id.quiet"
kind = "pause"
target = "$target"
until = "leader != $id.first.target and leader != none"
[[fault]]
id = "$id.awake"
after = "$id.first + $for"
kind = "resume"
target = "$id.first.target"
until = "isr == all"
[[fault]]
id = "$id.second"
after = "$id.awake"
kind = "pause"
target = "leader"
until = "leader != $id.second.target and leader != none"
[[fault]]
id = "$id.again"
after = "$id.second + $for"
kind = "resume"
target = "$id.second.target"
until = "isr == all"
[[fault]]
id = "$id"
after = "$id.again"
kind = "release"
target = "$id.quiet"
)toml"},
    Nemesis{"N7", "lag-then-kill-leader",
            "a follower is one round behind, still in sync, when the leader dies", "follower:any", "1s",
            R"toml(
[[fault]]
id = "$id.behind"
kind = "hold"
path = "leader->$target"
api = "Fetch"
part = "response"
until = "leo > leo($id.behind.target)"
[[fault]]
id = "$id.death"
after = "$id.behind"
kind = "kill"
target = "leader"
until = "leader != $id.death.target"
[[fault]]
id = "$id.feed"
after = "$id.death"
kind = "release"
target = "$id.behind"
[[fault]]
id = "$id"
after = "$id.feed + $for"
kind = "restart"
target = "$id.death.target"
)toml"},
    Nemesis{"N8", "isolate-from-controller", "leader and one follower go on together, without the controller",
            "leader+follower:any", "8s",
            R"toml(
[[fault]]
id = "$id"
kind = "partition"
between = ["$target", "controller"]
for = "$for"
)toml"},
    Nemesis{"N9", "hold-heartbeats", "a broker is fenced although all else it says is heard", "leader", "1s",
            R"toml(
[[fault]]
id = "$id.silent"
kind = "isolate"
target = "$target"
way = "out"
plane = "controller"
api = "BrokerHeartbeat"
part = "request"
until = "fenced($id.silent.target)"
[[fault]]
id = "$id"
after = "$id.silent + $for"
kind = "release"
target = "$id.silent"
)toml"},
    Nemesis{"N11", "throttle-replica-link", "one replica gets less than is written", "follower:any", "10s",
            R"toml(
[[fault]]
id = "$id"
kind = "throttle"
path = "leader->$target"
rate = "$rate"
for = "$for"
)toml"},
    Nemesis{"N12", "terminate-under-load", "SIGTERM to a broker that is being written to", "leader", "1s",
            R"toml(
[[fault]]
id = "$id.leaves"
kind = "terminate"
target = "$target"
kill_after = "30s"
[[fault]]
id = "$id"
after = "$id.leaves + $for"
kind = "restart"
target = "$id.leaves.target"
)toml"},
    // Its restarts are as many as its target has parts: see restart_in_order.
    Nemesis{"N13", kAllDown, "everybody dies and comes back in this order", "id:3+id:2+id:1", "500ms",
            R"toml(
[[fault]]
id = "$id.death"
kind = "kill"
target = "$target"
)toml"},
};

constexpr std::int64_t kSlowLink = 64'000;

std::string filled(std::string text, const std::vector<std::pair<std::string_view, std::string>>& values) {
    for (const auto& [name, value] : values) {
        for (std::size_t at = text.find(name); at != std::string::npos;
             at = text.find(name, at + value.size()))
            text.replace(at, name.size(), value);
    }
    return text;
}

/// One restart for each part of the role, `lasts` apart, in its order; the last one bears the nemesis's id.
void restart_in_order(const NemesisRequest& request, const Role& role, Duration lasts,
                      std::vector<FaultSpec>& steps) {
    const std::vector<Role> order = role.parts();
    for (std::size_t i = 0; i < order.size(); ++i) {
        FaultSpec restart;
        restart.kind = FaultKind::Restart;
        restart.id = i + 1 == order.size() ? request.id : fmt::format("{}.{}", request.id, i + 1);
        restart.after = steps.back().id;
        restart.after_delay = lasts;
        restart.target = order[i];
        steps.push_back(std::move(restart));
    }
}

}  // namespace

std::span<const Nemesis> nemeses() { return kNemeses; }

Result<std::vector<FaultSpec>> expand_nemesis(const NemesisRequest& request) {
    const auto found = std::find_if(kNemeses.begin(), kNemeses.end(), [&](const Nemesis& nemesis) {
        return nemesis.name == request.name || nemesis.number == request.name;
    });
    if (found == kNemeses.end()) {
        std::string known;
        for (const Nemesis& nemesis : kNemeses)
            known += (known.empty() ? "" : ", ") + std::string(nemesis.name);
        return failure(fmt::format("is '{}', known: {}", request.name, known));
    }
    if (request.rate && found->recipe.find("$rate") == std::string_view::npos)
        return failure(fmt::format("{} uses no rate", found->name));
    const std::string target = request.target ? request.target->to_string() : std::string(found->target);
    const std::string lasts = request.lasts ? format_duration(*request.lasts) : std::string(found->lasts);
    const std::string text =
        filled(std::string(found->recipe), {{"$id", request.id},
                                            {"$target", target},
                                            {"$for", lasts},
                                            {"$rate", format_byte_rate(request.rate.value_or(kSlowLink))}});
    auto steps = parse_faults(text, std::string(found->name));
    if (!steps) return steps;
    if (found->name == kAllDown) {
        const auto role = parse_role(target);
        const auto gap = parse_duration(lasts);
        if (!role || !gap)
            return failure(fmt::format("{}: {} or {} is not understood", found->name, target, lasts));
        restart_in_order(request, *role, *gap, *steps);
    }
    for (FaultSpec& step : *steps) step.deadline = request.deadline;
    return steps;
}

}  // namespace highwater
