#include "model/scenario_workload.h"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace highwater {
namespace {

constexpr std::int32_t kRecordBytesMax = 1 << 20;

Result<std::int16_t> parse_acks(const std::string& text) {
    if (text == "all" || text == "-1") return std::int16_t{-1};
    if (text == "1") return std::int16_t{1};
    if (text == "0") return std::int16_t{0};
    return failure(fmt::format("is '{}', not all, 1 or 0", text));
}

/// acks = "all", or acks = ["all", "1"]: each append draws one.
void take_acks(Section& section, std::vector<std::int16_t>& into) {
    std::vector<std::string> texts;
    const toml::node* node = section.find("acks");
    if (node == nullptr) return;
    if (node->is_array()) {
        section.take_strings("acks", texts);
        if (texts.empty()) section.fail("acks", "is empty");
    } else if (auto text = section.take_text("acks")) {
        texts.push_back(std::move(*text));
    }
    std::vector<std::int16_t> acks;
    for (const std::string& text : texts) {
        const auto one = parse_acks(text);
        if (!one) return section.fail("acks", one.error().message);
        acks.push_back(*one);
    }
    if (!acks.empty()) into = std::move(acks);
}

Result<std::optional<double>> parse_rate(const std::string& text) {
    if (text == "closed") return std::optional<double>();
    if (text.ends_with("/s")) {
        double rate = 0;
        const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), rate);
        if (status == std::errc{} && end == text.data() + text.size() - 2 && rate >= 0 && rate <= 100'000) {
            return std::optional<double>(rate);
        }
    }
    return failure(fmt::format("is '{}', not a rate like 200/s, nor \"closed\"", text));
}

/// size = 400, or size = [100, 4000].
void take_size(Section& section, WorkloadSpec& spec) {
    const toml::node* node = section.find("size");
    if (node == nullptr) return;
    const toml::array* range = node->as_array();
    if (range == nullptr) {
        section.take_int("size", spec.size_max, 0, kRecordBytesMax);
        spec.size_min = spec.size_max;
        return;
    }
    const auto number = [&](std::size_t i) { return (*range)[i].value_exact<std::int64_t>(); };
    if (range->size() != 2 || !number(0) || !number(1))
        return section.fail("size", "is neither a number of bytes nor [least, most]");
    const std::int64_t low = *number(0);
    const std::int64_t high = *number(1);
    if (low < 0 || high < low || high > kRecordBytesMax)
        return section.fail("size",
                            fmt::format("is [{}, {}], not in 0..{} and rising", low, high, kRecordBytesMax));
    spec.size_min = static_cast<std::int32_t>(low);
    spec.size_max = static_cast<std::int32_t>(high);
}

Result<ReadMode> parse_read_mode(const std::string& text) {
    for (const ReadMode mode : {ReadMode::Follow, ReadMode::FromStart, ReadMode::Followers}) {
        if (read_mode_name(mode) == text) return mode;
    }
    return failure(fmt::format("is '{}', not follow, from-start or followers", text));
}

Result<ClientKind> parse_client_kind(const std::string& text) {
    for (const ClientKind kind : {ClientKind::Raw, ClientKind::Rdkafka, ClientKind::Kcat}) {
        if (client_kind_name(kind) == text) return kind;
    }
    return failure(fmt::format("is '{}', not raw, rdkafka or kcat", text));
}

/// What librdkafka cannot do, or would refuse when the cluster is already up.
void check_rdkafka(Section& section, const WorkloadSpec& spec) {
    if (spec.read == ReadMode::Followers)
        section.fail("read", "is followers, but client rdkafka reads from leaders");
    if (spec.idempotent && spec.retries == 0)
        section.fail("retries", "must be 1 or more: client rdkafka has no idempotent producer without");
    if (spec.delivery_timeout < spec.request_timeout)
        section.fail("delivery_timeout", "is shorter than request_timeout");
}

/// One process for each append: nothing outlives it.
void check_kcat(Section& section, const WorkloadSpec& spec) {
    if (spec.idempotent)
        section.fail("idempotent", "is true, but client kcat is another producer for each append");
    if (spec.retries > 0) section.fail("retries", "is more than 0, but client kcat has one attempt");
    if (spec.delivery_timeout < spec.request_timeout)
        section.fail("delivery_timeout", "is shorter than request_timeout");
}

bool only_all(const std::vector<std::int16_t>& acks) {
    return std::all_of(acks.begin(), acks.end(), [](std::int16_t one) { return one == -1; });
}

WorkloadPhase read_phase(Section& section, const WorkloadSpec& spec) {
    WorkloadPhase phase;
    phase.acks = spec.acks;
    take_acks(section, phase.acks);
    section.take_int("records", phase.records, 1, 1'000'000'000);
    section.take("after", phase.after);
    return phase;
}

}  // namespace

std::string_view read_mode_name(ReadMode mode) {
    constexpr std::array<std::string_view, 3> kNames{"follow", "from-start", "followers"};
    return kNames.at(static_cast<std::size_t>(mode));
}

std::string_view client_kind_name(ClientKind kind) {
    constexpr std::array<std::string_view, 3> kNames{"raw", "rdkafka", "kcat"};
    return kNames.at(static_cast<std::size_t>(kind));
}

WorkloadSpec read_workload(Section& section) {
    WorkloadSpec spec;
    section.take("kind", spec.kind);
    if (spec.kind != "append") section.fail("kind", fmt::format("is '{}', known: append", spec.kind));
    section.take_parsed("client", parse_client_kind, spec.client);
    take_acks(section, spec.acks);
    section.take_int("producers", spec.producers, 1, 100);
    section.take_int("consumers", spec.consumers, 0, 100);
    spec.rate = 100;
    section.take_parsed("rate", parse_rate, spec.rate);
    section.take_duration("request_timeout", spec.request_timeout);
    section.take_duration("delivery_timeout", spec.delivery_timeout);
    section.take_int("in_flight", spec.in_flight, 1, 1000);
    if (spec.in_flight > 1 && spec.client != ClientKind::Rdkafka)
        section.fail("in_flight", "is more than 1: only client rdkafka has several appends under way");
    section.take("idempotent", spec.idempotent);
    section.take_int("retries", spec.retries, 0, 1'000'000);
    take_size(section, spec);
    section.take_parsed("read", parse_read_mode, spec.read);
    section.take_tables("phase", [&](Section& s) {
        if (!spec.phases.empty() && spec.phases.back().records == 0)
            s.fail("records", "is missing in the phase before: only the last phase has no end");
        spec.phases.push_back(read_phase(s, spec));
    });
    if (spec.client == ClientKind::Rdkafka) check_rdkafka(section, spec);
    if (spec.client == ClientKind::Kcat) check_kcat(section, spec);
    if (spec.idempotent) {
        if (!only_all(spec.acks)) section.fail("acks", "must be all: the producer is idempotent");
        for (const WorkloadPhase& phase : spec.phases) {
            if (!only_all(phase.acks))
                section.fail("phase", "has acks other than all: the producer is idempotent");
        }
    }
    return spec;
}

}  // namespace highwater
