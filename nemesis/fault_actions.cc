#include "nemesis/fault_actions.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/assert.h"
#include "model/scenario.h"

namespace highwater::nemesis {
namespace {

void append(std::string& to, const std::string& more) {
    if (!more.empty()) to += (to.empty() ? "" : "; ") + more;
}

void add_once(std::vector<BrokerId>& ids, BrokerId id) {
    if (std::find(ids.begin(), ids.end(), id) == ids.end()) ids.push_back(id);
}

/// Whether a rule of this kind and part has anything to act on there.
bool can_act(const PathRule& rule) {
    const bool requests = AddressPlan::link_port(rule.source, rule.destination) != 0;
    const bool responses = AddressPlan::link_port(rule.destination, rule.source) != 0;
    if (rule.kind == FaultKind::Refuse || rule.part == FramePart::Request) return requests;
    if (rule.part == FramePart::Response) return responses;
    return requests || responses;
}

}  // namespace

Instant InForce::next_moment() const {
    Instant next = Instant::never();
    if (!moves.empty()) next = std::min(next, moves.front().at);
    if (!leaving.empty() && kill_at) next = std::min(next, *kill_at);
    return next;
}

PathRule FaultActions::rule_for(const FaultSpec& fault, BrokerId source, BrokerId destination) {
    PathRule rule;
    rule.id = fmt::format("{}/{}->{}", fault.id, source, destination);
    rule.source = source;
    rule.destination = destination;
    rule.kind = is_path_rule(fault.kind) ? fault.kind : fault.by;
    rule.delay = fault.delay;
    rule.jitter = fault.jitter;
    rule.rate = fault.rate;
    rule.api = fault.api;
    rule.part = fault.part;
    rule.discard_if_closed = fault.discard_if_closed;
    return rule;
}

void FaultActions::strike(const FaultSpec& fault, FaultRecord& record, InForce& force) {
    record.ok = true;
    if (fault.kind == FaultKind::Elect) {
        const FaultEffect effect = target_.elect(fault.unclean);
        record.effective = effect.effective;
        record.ok = effect.ok;
        append(record.detail, effect.detail);
        append(record.proof, effect.proof);
    } else if (fault.kind == FaultKind::Await) {
        record.effective = monotonic_now();
    } else if (acts_on_path(fault.kind)) {
        strike_paths(fault, record, force);
    } else {
        strike_processes(fault, record, force);
    }
}

FaultEffect FaultActions::act(const FaultSpec& fault, BrokerId id) {
    switch (fault.kind) {
        case FaultKind::Pause:
            return target_.pause(id);
        case FaultKind::Resume:
            return target_.resume(id);
        case FaultKind::Terminate:
            return target_.terminate(id);
        case FaultKind::Kill:
            return target_.kill(id);
        case FaultKind::Restart:
            return target_.restart(id);
        case FaultKind::Wipe:
            return target_.wipe(id);
        case FaultKind::ForgeFetch:
            return target_.forge_fetch(id);
        case FaultKind::Elect:
        case FaultKind::Await:
        case FaultKind::Delay:
        case FaultKind::Throttle:
        case FaultKind::Hold:
        case FaultKind::Cut:
        case FaultKind::Refuse:
        case FaultKind::Flaky:
        case FaultKind::Partition:
        case FaultKind::Isolate:
        case FaultKind::Ring:
        case FaultKind::Bridge:
        case FaultKind::Release:
            break;
    }
    HW_ASSERT(false, "{} is no process fault", fault_kind_name(fault.kind));
}

void FaultActions::strike_processes(const FaultSpec& fault, FaultRecord& record, InForce& force) {
    record.targets = specs_.resolve(*fault.target, rng_);
    for (const BrokerId id : record.targets) {
        const FaultEffect effect = act(fault, id);
        record.effective = std::max(record.effective, effect.effective);
        record.ok = record.ok && effect.ok;
        if (!effect.detail.empty()) append(record.detail, fmt::format("{}: {}", id, effect.detail));
        if (!effect.proof.empty()) append(record.proof, fmt::format("{}: {}", id, effect.proof));
        if (effect.ok && fault.kill_after) force.leaving.push_back(id);
    }
    if (fault.kill_after) force.kill_at = record.effective + *fault.kill_after;
}

Grudge FaultActions::paths_of(const FaultSpec& fault, FaultRecord& record) {
    const Members& members = specs_.members();
    if (fault.kind == FaultKind::Ring) {
        record.targets = shuffled(members.brokers, rng_);
        return ring(record.targets);
    }
    if (fault.kind == FaultKind::Bridge) {
        const Role any{.kind = Role::Kind::BrokerAny, .fault_id = {}};
        record.targets = specs_.resolve(fault.target.value_or(any), rng_);
        if (record.targets.empty()) return {};
        record.targets.resize(1);
        return bridge(shuffled(members.brokers, rng_), record.targets.front());
    }
    if (fault.kind == FaultKind::Isolate) {
        record.targets = specs_.resolve(*fault.target, rng_);
        return isolate(record.targets, members, fault.way, fault.planes);
    }
    if (fault.kind == FaultKind::Partition) {
        record.targets = specs_.resolve(fault.between->first, rng_);
        const std::vector<BrokerId> others = specs_.resolve(fault.between->second, rng_);
        if (others.empty()) record.targets.clear();
        return between(record.targets, others, fault.way, fault.planes);
    }
    Grudge paths;
    for (const BrokerId source : specs_.resolve(fault.path->source, rng_)) {
        for (const BrokerId destination : specs_.resolve(fault.path->destination, rng_)) {
            if (source == destination || !on_planes(source, destination, fault.planes)) continue;
            paths.emplace_back(source, destination);
            add_once(record.targets, destination);
        }
    }
    return paths;
}

void FaultActions::strike_paths(const FaultSpec& fault, FaultRecord& record, InForce& force) {
    Grudge paths = paths_of(fault, record);
    // Of several paths those are struck that carry what is meant; a single one that does not is a mistake.
    if (paths.size() > 1) {
        std::erase_if(paths,
                      [&](const auto& path) { return !can_act(rule_for(fault, path.first, path.second)); });
    }
    record.paths = paths;
    if (paths.empty()) {
        record.targets.clear();
        record.ok = false;
        return append(record.detail, "no path is meant by that");
    }
    if (fault.kind == FaultKind::Flaky) {
        plan_moves(fault, paths, force);
        record.effective = monotonic_now();
        return append(record.proof, fmt::format("{} paths are to be stopped and restored", paths.size()));
    }
    for (const auto& [source, destination] : paths) {
        const PathRule rule = rule_for(fault, source, destination);
        const FaultEffect effect = target_.add_rule(rule);
        if (effect.ok) force.rules.push_back(rule.id);
        record.effective = std::max(record.effective, effect.effective);
        record.ok = record.ok && effect.ok;
        append(record.detail, effect.detail);
    }
    if (record.ok) append(record.proof, fmt::format("{} rules in force in the relays", force.rules.size()));
}

void FaultActions::plan_moves(const FaultSpec& fault, const Grudge& paths, InForce& force) {
    std::vector<BrokerId> order(paths.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<BrokerId>(i);
    Instant at = monotonic_now();
    for (const bool stops : {true, false}) {
        for (const BrokerId index : shuffled(order, rng_)) {
            const auto& [source, destination] = paths[static_cast<std::size_t>(index)];
            force.moves.push_back({at, stops, rule_for(fault, source, destination)});
            at = at + fault.step;
        }
    }
}

Status FaultActions::move(const InForce::Move& move, FaultRecord& record, InForce& force) {
    const FaultEffect effect = move.stops ? target_.add_rule(move.rule) : target_.remove_rule(move.rule.id);
    if (!effect.ok) return failure(effect.detail);
    append(record.proof,
           fmt::format("{} {}->{}{}{}", move.stops ? "stopped" : "restored", move.rule.source,
                       move.rule.destination, move.stops ? "" : ": ", move.stops ? "" : effect.proof));
    if (move.stops) {
        force.rules.push_back(move.rule.id);
    } else {
        std::erase(force.rules, move.rule.id);
    }
    return {};
}

Status FaultActions::go_on(const FaultSpec& fault, FaultRecord& record, InForce& force, Instant now) {
    while (!force.moves.empty() && force.moves.front().at <= now) {
        const InForce::Move next = force.moves.front();
        force.moves.pop_front();
        if (Status moved = move(next, record, force); !moved) return moved;
        // A late one pushes the others back: each state is to be seen for a step.
        if (!force.moves.empty()) force.moves.front().at = std::max(force.moves.front().at, now + fault.step);
    }
    std::erase_if(force.leaving, [&](BrokerId id) {
        if (target_.running(id)) return false;
        append(record.proof, fmt::format("{}: gone after {:.2f} s", id, to_seconds(now - record.effective)));
        return true;
    });
    if (force.leaving.empty() || !force.kill_at || *force.kill_at > now) return {};
    for (const BrokerId id : std::exchange(force.leaving, {})) {
        const FaultEffect effect = target_.kill(id);
        if (!effect.ok && target_.running(id))
            return failure(fmt::format("{} did not end, and SIGKILL failed: {}", id, effect.detail));
        append(record.proof, fmt::format("{}: still there after {}, SIGKILL: {}", id,
                                         format_duration(*fault.kill_after), effect.proof));
        record.killed.emplace_back(id, effect.effective);
    }
    return {};
}

Status FaultActions::undo(const FaultSpec& fault, FaultRecord& record, InForce& force) {
    Status worst;
    force.moves.clear();
    for (const std::string& rule : std::exchange(force.rules, {})) {
        const FaultEffect effect = target_.remove_rule(rule);
        if (!effect.ok) worst = failure(effect.detail);
        append(record.proof, fmt::format("{}: {}", rule.substr(rule.rfind('/') + 1), effect.proof));
    }
    const bool restarts = ends_process(fault.kind);
    if (fault.kind == FaultKind::Pause || restarts) {
        for (const BrokerId id : record.targets) {
            // Somebody else may have ended a paused process, or started an ended one.
            const bool ours = target_.running(id) == (fault.kind == FaultKind::Pause);
            if (!ours && fault.kind != FaultKind::Terminate) continue;
            const FaultEffect effect = restarts ? target_.restart(id) : target_.resume(id);
            if (!effect.ok) worst = failure(fmt::format("{}: {}", id, effect.detail));
            append(record.proof, fmt::format("{}: {}", id, effect.proof));
        }
    }
    force.leaving.clear();
    record.undone = monotonic_now();
    return worst;
}

}  // namespace highwater::nemesis
