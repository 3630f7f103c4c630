// Small parts of a scenario: durations, settings, expectations, topic defaults.
#include "model/scenario.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace highwater {
namespace {

struct Unit {
    std::string_view name;
    std::int64_t nanoseconds;
};
// Longest suffix first, so that "ms" is not read as minutes.
constexpr Unit kUnits[] = {
    {"ms", 1'000'000}, {"us", 1'000}, {"ns", 1}, {"s", 1'000'000'000}, {"m", 60'000'000'000}};

}  // namespace

Result<Duration> parse_duration(std::string_view text) {
    for (const Unit& unit : kUnits) {
        if (!text.ends_with(unit.name)) continue;
        const std::string_view digits = text.substr(0, text.size() - unit.name.size());
        double number = 0;
        const auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
        if (status != std::errc{} || end != digits.data() + digits.size() || !(number >= 0) || number > 1e9)
            break;
        return Duration{std::llround(number * static_cast<double>(unit.nanoseconds))};
    }
    return failure(fmt::format("'{}' is no duration (like 500ms, 3s, 1.5s, 2m)", text));
}

std::string format_duration(Duration duration) {
    for (const std::string_view name : {"s", "ms", "us"}) {
        for (const Unit& unit : kUnits) {
            if (unit.name == name && duration.count() % unit.nanoseconds == 0) {
                return fmt::format("{}{}", duration.count() / unit.nanoseconds, unit.name);
            }
        }
    }
    return fmt::format("{}ns", duration.count());
}

namespace {

bool has_all(const std::vector<std::int16_t>& acks) {
    return std::find(acks.begin(), acks.end(), std::int16_t{-1}) != acks.end();
}

}  // namespace

bool WorkloadSpec::appends_acks_all() const {
    if (rate && *rate <= 0) return false;
    if (phases.empty()) return has_all(acks);
    return std::any_of(phases.begin(), phases.end(),
                       [](const WorkloadPhase& phase) { return has_all(phase.acks); });
}

bool WorkloadSpec::appends_acks_all_to_the_end() const {
    if (rate && *rate <= 0) return false;
    if (phases.empty()) return has_all(acks);
    return phases.back().records == 0 && has_all(phases.back().acks);
}

std::string ExpectSpec::verdict_on(const std::string& sut) const {
    for (const std::string& name : {sut, std::string()}) {
        if (const auto found = verdict.find(name); found != verdict.end()) return found->second;
    }
    return "valid";
}

std::int32_t TopicSpec::min_insync_replicas() const {
    const auto found = configs.find("min.insync.replicas");
    std::int32_t value = 1;
    if (found != configs.end()) {
        std::from_chars(found->second.data(), found->second.data() + found->second.size(), value);
    }
    return value;
}

bool TopicSpec::unclean_leader_election() const {
    const auto found = configs.find("unclean.leader.election.enable");
    return found != configs.end() && found->second == "true";
}

Result<Setting> parse_setting(const std::string& text) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0) {
        return failure(fmt::format("'{}' is not key=value", text));
    }
    return Setting{text.substr(0, equals), text.substr(equals + 1)};
}

Result<Expectation> parse_expectation(const std::string& text) {
    Expectation expectation;
    expectation.text = text;
    std::size_t at = 0;
    const auto skip = [&] {
        while (at < text.size() && text[at] == ' ') ++at;
    };
    skip();
    while (at < text.size() && (std::isalnum(static_cast<unsigned char>(text[at])) != 0 || text[at] == '_')) {
        expectation.counter.push_back(text[at++]);
    }
    skip();
    for (const std::string_view op : {"==", "!=", ">=", "<=", ">", "<"}) {
        if (std::string_view(text).substr(at).starts_with(op)) {
            expectation.op = op;
            at += op.size();
            break;
        }
    }
    skip();
    const auto [end, status] =
        std::from_chars(text.data() + at, text.data() + text.size(), expectation.number);
    if (expectation.counter.empty() || expectation.op.empty() || status != std::errc{} ||
        end != text.data() + text.size()) {
        return failure(fmt::format("'{}' is no expectation (like \"lost_committed >= 1\")", text));
    }
    return expectation;
}

bool Expectation::met(std::int64_t value) const {
    if (op == "==") return value == number;
    if (op == "!=") return value != number;
    if (op == ">=") return value >= number;
    if (op == "<=") return value <= number;
    if (op == ">") return value > number;
    return value < number;
}

Status Scenario::runs_on(const std::string& sut) const {
    if (suts.empty() || std::find(suts.begin(), suts.end(), sut) != suts.end()) return {};
    return failure(fmt::format("scenario {} is for {} only (its key sut says so), not for {}", name,
                               fmt::join(suts, ", "), sut));
}

}  // namespace highwater
