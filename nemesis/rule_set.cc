#include "nemesis/rule_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "wire/api_table.h"

namespace highwater::nemesis {
namespace {

/// A throttled path sends no more at once: about what its rate allows in this time, within these bounds.
constexpr Duration kChunkTime = milliseconds(20);
constexpr std::int64_t kLeastChunk = 256;
constexpr std::int64_t kMostChunk = std::int64_t{16} << 10;

std::size_t chunk_of(std::int64_t rate) {
    return static_cast<std::size_t>(std::clamp(rate / (seconds(1) / kChunkTime), kLeastChunk, kMostChunk));
}

bool has_link(const Members& members, BrokerId source, BrokerId destination) {
    const std::vector<Link> links = AddressPlan::links(members);
    return std::any_of(links.begin(), links.end(), [source, destination](const Link& link) {
        return link.source == source && link.destination == destination;
    });
}

Status check_kind(const PathRule& rule) {
    if (!is_path_rule(rule.kind))
        return failure(fmt::format("{} is no fault of a path", fault_kind_name(rule.kind)));
    if (rule.kind == FaultKind::Delay) {
        if (rule.delay < Duration::zero() || rule.jitter < Duration::zero())
            return failure("a negative delay");
        if (rule.jitter > rule.delay)
            return failure("jitter above the delay would need time to run backwards");
        if (rule.delay == Duration::zero()) return failure("a delay of nothing");
    }
    if (rule.kind == FaultKind::Throttle && rule.rate <= 0) return failure("a bandwidth of nothing");
    if (rule.kind == FaultKind::Refuse && (!rule.api.empty() || rule.part != FramePart::Both)) {
        return failure("refuse is about connections and cannot be narrowed to an API or a part");
    }
    return {};
}

}  // namespace

Result<std::int16_t> parse_api(const std::string& api) {
    if (api.empty()) return kUnknownApi;
    if (const wire::ApiInfo* info = wire::find_api(api)) return static_cast<std::int16_t>(info->key);
    std::int16_t number = 0;
    const auto [end, error] = std::from_chars(api.data(), api.data() + api.size(), number);
    if (error == std::errc{} && end == api.data() + api.size() && number >= 0) return number;
    return failure(fmt::format("no API is called '{}' (a number works for any)", api));
}

Status RuleSet::add(const PathRule& rule, const Members& members) {
    const std::string context = fmt::format("rule '{}' on {}->{}", rule.id, rule.source, rule.destination);
    const bool taken = std::any_of(entries_.begin(), entries_.end(),
                                   [&rule](const Entry& entry) { return entry.rule.id == rule.id; });
    if (taken) return failure(context, {"a rule of this id is in force"});
    if (const Status kind = check_kind(rule); !kind) return failure(context, kind.error());
    const auto api_key = parse_api(rule.api);
    if (!api_key) return failure(context, api_key.error());
    const bool requests = has_link(members, rule.source, rule.destination);
    const bool responses = has_link(members, rule.destination, rule.source);
    const bool carried = rule.kind == FaultKind::Refuse     ? requests
                         : rule.part == FramePart::Request  ? requests
                         : rule.part == FramePart::Response ? responses
                                                            : requests || responses;
    if (!carried) return failure(context, {"no connection carries this"});
    entries_.push_back({rule, *api_key});
    return {};
}

Result<PathRule> RuleSet::remove(const std::string& id) {
    const auto found = std::find_if(entries_.begin(), entries_.end(),
                                    [&id](const Entry& entry) { return entry.rule.id == id; });
    if (found == entries_.end()) return failure(fmt::format("no rule '{}' is in force", id));
    PathRule rule = std::move(found->rule);
    entries_.erase(found);
    return rule;
}

bool RuleSet::matches(const Entry& entry, const Path& path, std::int16_t api_key) {
    const PathRule& rule = entry.rule;
    return rule.source == path.source && rule.destination == path.destination &&
           (rule.part == FramePart::Both || rule.part == path.part) &&
           (entry.api_key == kUnknownApi || entry.api_key == api_key);
}

RuleSet::Judgement RuleSet::judge(const Path& path, std::int16_t api_key) const {
    Judgement judgement;
    for (const Entry& entry : entries_) {
        if (!matches(entry, path, api_key)) continue;
        if (entry.rule.kind == FaultKind::Cut) judgement.cut = true;
        if (entry.rule.kind == FaultKind::Hold) judgement.hold = true;
        if (entry.rule.kind == FaultKind::Delay) {
            judgement.delay += entry.rule.delay;
            judgement.jitter += entry.rule.jitter;
        }
        if (entry.rule.kind == FaultKind::Throttle) {
            const std::size_t chunk = chunk_of(entry.rule.rate);
            judgement.chunk = judgement.chunk == 0 ? chunk : std::min(judgement.chunk, chunk);
        }
    }
    return judgement;
}

Instant RuleSet::book(const Path& path, std::int16_t api_key, std::size_t bytes, Instant now) {
    Instant leaves = now;
    for (Entry& entry : entries_) {
        if (entry.rule.kind != FaultKind::Throttle || !matches(entry, path, api_key)) continue;
        const double took = static_cast<double>(bytes) / static_cast<double>(entry.rule.rate);
        entry.free_at = std::max(entry.free_at, now) + Duration{static_cast<std::int64_t>(took * 1e9)};
        leaves = std::max(leaves, entry.free_at);
    }
    return leaves;
}

bool RuleSet::refuses(BrokerId source, BrokerId destination) const {
    return std::any_of(entries_.begin(), entries_.end(), [source, destination](const Entry& entry) {
        return entry.rule.kind == FaultKind::Refuse && entry.rule.source == source &&
               entry.rule.destination == destination;
    });
}

bool RuleSet::holds(const PathRule& rule, const Path& path, std::int16_t api_key) {
    if (rule.kind != FaultKind::Hold) return false;
    const auto api = parse_api(rule.api);
    return api && matches({rule, *api}, path, api_key);
}

std::vector<PathRule> RuleSet::rules() const {
    std::vector<PathRule> rules;
    for (const Entry& entry : entries_) rules.push_back(entry.rule);
    return rules;
}

}  // namespace highwater::nemesis
