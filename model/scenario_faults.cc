// Reads faults, nemeses and mixes; what a kind of fault may have is written down in one table.
#include "model/scenario_faults.h"

#include <fmt/format.h>

#include <algorithm>

#include "model/nemeses.h"

namespace highwater {
namespace {

/// What each key is for; a key of another kind would do nothing and is refused.
struct KeyRule {
    std::string_view key;
    bool (*fits)(FaultKind);
    std::string_view meant;
};

bool narrows(FaultKind kind) { return acts_on_path(kind) && kind != FaultKind::Refuse; }
bool computes_paths(FaultKind kind) { return is_partition(kind) || kind == FaultKind::Flaky; }

constexpr KeyRule kKeyRules[] = {
    {"path", [](FaultKind k) { return is_path_rule(k) || k == FaultKind::Flaky; },
     "is for delay, throttle, hold, cut, refuse and flaky"},
    {"between", [](FaultKind k) { return k == FaultKind::Partition; }, "is for partition"},
    {"way", [](FaultKind k) { return k == FaultKind::Partition || k == FaultKind::Isolate; },
     "is for partition and isolate"},
    {"by", computes_paths, "is for partition, isolate, ring, bridge and flaky"},
    {"plane", acts_on_path, "is for faults of paths"},
    {"api", narrows, "narrows nothing here: it is for faults of what travels on paths"},
    {"part", narrows, "narrows nothing here: it is for faults of what travels on paths"},
    {"delay", [](FaultKind k) { return k == FaultKind::Delay; }, "is for delay"},
    {"jitter", [](FaultKind k) { return k == FaultKind::Delay; }, "is for delay"},
    {"rate", [](FaultKind k) { return k == FaultKind::Throttle; }, "is for throttle"},
    {"if_closed", [](FaultKind k) { return k == FaultKind::Hold || computes_paths(k); },
     "is for hold, partitions and flaky"},
    {"step", [](FaultKind k) { return k == FaultKind::Flaky; }, "is for flaky"},
    {"kill_after", [](FaultKind k) { return k == FaultKind::Terminate; }, "is for terminate"},
    {"election", [](FaultKind k) { return k == FaultKind::Elect; }, "is for elect"},
};

/// after = "lag" or "lag + 1s"
void take_after(Section& section, FaultSpec& spec) {
    std::string text;
    section.take("after", text);
    if (text.empty()) return;
    if (section.has("at")) return section.fail("after", "and at are both given");
    const std::size_t plus = text.find('+');
    spec.after = text.substr(0, text.find_last_not_of(" ", plus == std::string::npos ? plus : plus - 1) + 1);
    if (plus == std::string::npos) return;
    const std::size_t begin = text.find_first_not_of(' ', plus + 1);
    auto delay = parse_duration(begin == std::string::npos ? "" : std::string_view(text).substr(begin));
    if (!delay) return section.fail("after", delay.error().message);
    spec.after_delay = *delay;
}

void take_lasts(Section& section, FaultSpec& spec) {
    section.take_parsed("for", [](const std::string& text) { return parse_duration(text); }, spec.lasts);
}

/// One of a few words.
template <class Into>
void take_word(Section& section, std::string_view key, Into& into,
               std::initializer_list<std::pair<std::string_view, Into>> words) {
    const auto text = section.take_string(key);
    if (!text) return;
    std::string known;
    for (const auto& [word, value] : words) {
        if (word == *text) {
            into = value;
            return;
        }
        known += (known.empty() ? "" : ", ") + std::string(word);
    }
    section.fail(key, fmt::format("is '{}', not one of: {}", *text, known));
}

void take_between(Section& section, FaultSpec& spec) {
    if (!section.has("between")) {
        if (spec.kind == FaultKind::Partition)
            section.fail("between", "is missing: two sides, [\"leader\", \"follower:all\"]");
        section.find("between");
        return;
    }
    std::vector<std::string> sides;
    section.take_strings("between", sides);
    if (sides.size() != 2) return section.fail("between", "does not name two sides");
    auto first = parse_role(sides[0]);
    auto second = parse_role(sides[1]);
    if (!first) return section.fail("between", first.error().message);
    if (!second) return section.fail("between", second.error().message);
    spec.between = {std::move(*first), std::move(*second)};
}

void take_whom(Section& section, FaultSpec& spec) {
    section.take_parsed("path", [](const std::string& text) { return parse_path(text); }, spec.path);
    take_between(section, spec);
    if (spec.kind == FaultKind::Release) {
        section.take("target", spec.release_of);
        if (spec.release_of.empty()) section.fail("target", "is missing: the id of the fault to release");
        return;
    }
    section.take_parsed("target", [](const std::string& text) { return parse_role(text); }, spec.target);
    const bool has_path = is_path_rule(spec.kind) || spec.kind == FaultKind::Flaky;
    const bool has_target =
        spec.kind == FaultKind::Isolate || (!acts_on_path(spec.kind) && !has_no_target(spec.kind));
    if (has_path && !spec.path) section.fail("path", "is missing: \"leader->follower:any\"");
    if (has_path && spec.target) section.fail("target", "is for processes; this kind has a path");
    if (has_target && !spec.target) section.fail("target", "is missing");
    if (spec.target && spec.kind == FaultKind::Elect)
        section.fail("target", "is decided by the controller: elect has none");
    if (spec.target && spec.kind == FaultKind::Await)
        section.fail("target", "is for faults; await does nothing");
    if (spec.target && is_partition(spec.kind) && spec.kind != FaultKind::Isolate &&
        spec.kind != FaultKind::Bridge)
        section.fail("target", "is for isolate and bridge");
}

void take_how(Section& section, FaultSpec& spec) {
    section.take_parsed("way", [](const std::string& text) { return parse_way(text); }, spec.way);
    take_word<FaultKind>(section, "by", spec.by,
                         {{"hold", FaultKind::Hold}, {"cut", FaultKind::Cut}, {"refuse", FaultKind::Refuse}});
    // A partition is about the cluster; its clients are struck when they are named.
    if (is_partition(spec.kind)) spec.planes.client = false;
    section.take_parsed("plane", [](const std::string& text) { return parse_planes(text); }, spec.planes);
    section.take("api", spec.api);
    take_word<FramePart>(
        section, "part", spec.part,
        {{"request", FramePart::Request}, {"response", FramePart::Response}, {"both", FramePart::Both}});
    if (spec.by == FaultKind::Refuse && (!spec.api.empty() || spec.part != FramePart::Both))
        section.fail("by", "is refuse, which is about connections and cannot be narrowed");
    section.take_duration("delay", spec.delay);
    section.take_duration("jitter", spec.jitter);
    if (spec.kind == FaultKind::Delay && spec.delay.count() == 0) section.fail("delay", "is missing");
    section.take_parsed("rate", [](const std::string& text) { return parse_byte_rate(text); }, spec.rate);
    if (spec.kind == FaultKind::Throttle && spec.rate == 0) section.fail("rate", "is missing: \"64KB/s\"");
    take_word<bool>(section, "if_closed", spec.discard_if_closed, {{"deliver", false}, {"discard", true}});
    section.take_duration("step", spec.step);
    if (spec.step.count() <= 0) section.fail("step", "is no time at all");
    section.take_parsed(
        "kill_after", [](const std::string& text) { return parse_duration(text); }, spec.kill_after);
    take_word<bool>(section, "election", spec.unclean, {{"preferred", false}, {"unclean", true}});
}

FaultSpec read_plain(Section& section, std::size_t index) {
    FaultSpec spec;
    spec.id = fmt::format("fault-{}", index);
    section.take("id", spec.id);
    section.take_duration("at", spec.at);
    take_after(section, spec);
    if (!section.has("kind")) section.fail("kind", "is missing");
    section.take_parsed("kind", [](const std::string& text) { return parse_fault_kind(text); }, spec.kind);
    for (const KeyRule& rule : kKeyRules) {
        if (section.has(rule.key) && !rule.fits(spec.kind)) section.fail(rule.key, std::string(rule.meant));
    }
    take_whom(section, spec);
    take_how(section, spec);
    take_lasts(section, spec);
    section.take_parsed("until", [](const std::string& text) { return Condition::parse(text); }, spec.until);
    if (spec.kind == FaultKind::Await && !spec.until)
        section.fail("until", "is missing: await is for nothing else");
    section.take_duration("deadline", spec.deadline);
    section.take("optional", spec.optional);
    return spec;
}

std::vector<FaultSpec> read_nemesis(Section& section, std::size_t index) {
    FaultSpec base;
    base.id = fmt::format("fault-{}", index);
    section.take("id", base.id);
    section.take_duration("at", base.at);
    take_after(section, base);
    NemesisRequest request;
    section.take("nemesis", request.name);
    request.id = base.id;
    section.take_parsed("target", [](const std::string& text) { return parse_role(text); }, request.target);
    section.take_parsed("for", [](const std::string& text) { return parse_duration(text); }, request.lasts);
    section.take_parsed("rate", [](const std::string& text) { return parse_byte_rate(text); }, request.rate);
    section.take_duration("deadline", request.deadline);
    auto steps = expand_nemesis(request);
    if (!steps) {
        section.fail("nemesis", steps.error().message);
        return {};
    }
    for (FaultSpec& step : *steps) {
        if (!step.after.empty()) continue;
        step.at = base.at;
        step.after = base.after;
        step.after_delay = base.after_delay;
    }
    return std::move(*steps);
}

}  // namespace

std::vector<FaultSpec> read_fault(Section& section, std::size_t index) {
    if (section.has("nemesis")) return read_nemesis(section, index);
    std::vector<FaultSpec> faults;
    faults.push_back(read_plain(section, index));
    return faults;
}

MixSpec read_mix(Section& section, std::size_t index) {
    MixSpec mix;
    mix.id = index == 1 ? "mix" : fmt::format("mix{}", index);
    section.take("id", mix.id);
    section.take_duration("at", mix.at);
    section.take_duration("for", mix.lasts);
    section.take_duration("every", mix.every);
    section.take_duration("shortest", mix.shortest);
    section.take_duration("longest", mix.longest);
    section.take_duration("settle", mix.settle);
    section.take_int("most", mix.most, 1, 99);
    if (mix.every < milliseconds(10)) section.fail("every", "is below 10ms");
    if (mix.longest < mix.shortest) section.fail("longest", "is below shortest");
    for (const auto& [name, weight] : section.take_numbers("weights")) {
        const auto kind = parse_fault_kind(name);
        if (!kind) {
            section.fail("weights", kind.error().message);
        } else if (*kind == FaultKind::Resume || *kind == FaultKind::Restart || *kind == FaultKind::Release ||
                   *kind == FaultKind::Await) {
            section.fail("weights", fmt::format("'{}' undoes others; a mix does that by itself", name));
        } else if (*kind == FaultKind::ForgeFetch) {
            section.fail("weights",
                         fmt::format("'{}' lies to the cluster, which need not survive that", name));
        } else if (weight < 0 || weight > 1'000'000) {
            section.fail("weights", fmt::format("'{}' is {}, not in 0..1000000", name, weight));
        } else if (weight > 0) {
            mix.weights[name] = static_cast<std::int32_t>(weight);
        }
    }
    if (mix.weights.empty()) section.fail("weights", "gives no kind a weight: { pause = 2, kill = 1 }");
    return mix;
}

}  // namespace highwater
