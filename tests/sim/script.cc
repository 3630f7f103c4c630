#include "tests/sim/script.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "wire/api_table.h"

namespace highwater::sim {
namespace {

constexpr Duration kPatience = seconds(20);
constexpr Duration kRequestTimeout = seconds(40);

}  // namespace

Client& Script::client() {
    const auto number = static_cast<BrokerId>(150 + clients_.size());
    clients_.push_back(std::make_unique<Client>(number, cluster_.scheduler(), cluster_.network()));
    return *clients_.back();
}

void Script::start() {
    if (!cluster_.start() && !over()) wrong_ = "script: the cluster did not start";
}

void Script::append(BrokerId at, int count, std::int16_t acks) {
    for (int i = 0; i < count && !over(); ++i) {
        wire::ErrorCode error = wire::ErrorCode::UnknownServerError;
        Client& producer = client();
        const std::uint64_t value = ++sent_;
        producer.call<wire::ProduceResponse>(
            at, test::produce_request(kTopic, 0, acks, 10'000, test::batch_of({value}, 0)),
            test::kProduceVersion, kRequestTimeout, [&](const Result<wire::ProduceResponse>& answer) {
                if (!answer) return;
                const auto& of = answer->responses.at(0).partition_responses.at(0);
                error = of.error_code;
                if (error == wire::ErrorCode::None && acks == -1)
                    box_.acknowledged(id(), of.base_offset, value);
            });
        until("an append", [&] { return !producer.busy(); });
        if (!over() && error != wire::ErrorCode::None)
            wrong_ = fmt::format("script: an append to {} failed: {}", at, wire::error_name(error));
        cluster_.network().down(static_cast<BrokerId>(150 + clients_.size() - 1));
    }
}

void Script::send(BrokerId at) {
    if (over()) return;
    const std::uint64_t value = ++sent_;
    client().call<wire::ProduceResponse>(
        at, test::produce_request(kTopic, 0, -1, 30'000, test::batch_of({value}, 0)), test::kProduceVersion,
        kRequestTimeout, [this, value](const Result<wire::ProduceResponse>& answer) {
            if (!answer) return;
            const auto& of = answer->responses.at(0).partition_responses.at(0);
            if (of.error_code == wire::ErrorCode::None) box_.acknowledged(id(), of.base_offset, value);
        });
    const Offset before = replica(at) != nullptr ? replica(at)->log().log_end_offset() : 0;
    until("a record to arrive",
          [&] { return replica(at) != nullptr && replica(at)->log().log_end_offset() > before; });
}

void Script::offer(BrokerId at) {
    if (over()) return;
    const std::uint64_t value = ++sent_;
    wire::ErrorCode error = wire::ErrorCode::UnknownServerError;
    Client& producer = client();
    producer.call<wire::ProduceResponse>(
        at, test::produce_request(kTopic, 0, -1, 10'000, test::batch_of({value}, 0)), test::kProduceVersion,
        kRequestTimeout, [&](const Result<wire::ProduceResponse>& answer) {
            if (!answer) return;
            const auto& of = answer->responses.at(0).partition_responses.at(0);
            error = of.error_code;
            if (error == wire::ErrorCode::None) box_.acknowledged(id(), of.base_offset, value);
        });
    until("an answer", [&] { return !producer.busy(); });
    if (!over() && error != wire::ErrorCode::None && error != wire::ErrorCode::NotEnoughReplicas)
        wrong_ = fmt::format("script: an append to {} failed: {}", at, wire::error_name(error));
}

void Script::read(BrokerId at) {
    if (over()) return;
    Client& consumer = client();
    consumer.call<wire::FetchResponse>(at, test::fetch_request(kTopic, 0, 0, 0), test::kFetchVersion,
                                       kRequestTimeout, [this](const Result<wire::FetchResponse>& answer) {
                                           if (!answer) return;
                                           const auto& of = answer->responses.at(0).partitions.at(0);
                                           const auto records =
                                               test::records_of(of.records.value_or(Bytes{}));
                                           if (!records) return;
                                           for (const wire::Record& record : *records)
                                               box_.read(id(), record.offset, test::value_of(record));
                                       });
    until("a read", [&] { return !consumer.busy(); });
}

void Script::elect_preferred() {
    if (over()) return;
    Client& admin = client();
    wire::ErrorCode error = wire::ErrorCode::UnknownServerError;
    admin.call<wire::ElectLeadersResponse>(
        3, test::elect_preferred_request(kTopic, 0), test::kElectLeadersVersion, kRequestTimeout,
        [&](const Result<wire::ElectLeadersResponse>& answer) {
            if (answer) error = answer->replica_election_results.at(0).partition_result.at(0).error_code;
        });
    until("an election", [&] { return !admin.busy(); });
    if (!over() && error != wire::ErrorCode::None)
        wrong_ = fmt::format("script: no preferred election: {}", wire::error_name(error));
}

void Script::hold(BrokerId from, BrokerId to, std::optional<wire::ApiKey> api) {
    cluster_.say(fmt::format("hold {} -> {}", from, to));
    cluster_.network().hold(from, to, api);
}

void Script::release(BrokerId from, BrokerId to) {
    cluster_.say(fmt::format("release {} -> {}", from, to));
    if (!over()) cluster_.network().release(from, to);
}

void Script::release(BrokerId from, BrokerId to, wire::ApiKey api) {
    cluster_.say(fmt::format("release {} -> {} {}", from, to, wire::api_name(api)));
    if (!over()) cluster_.network().release(from, to, api);
}

void Script::release_all() {
    if (!over()) cluster_.network().release_all();
}

void Script::cut(BrokerId a, BrokerId b) { cluster_.network().cut(a, b); }

void Script::kill(BrokerId id) {
    if (!over()) cluster_.kill(id);
}

void Script::lose_power(BrokerId id) {
    if (!over()) cluster_.lose_power(id);
}

void Script::launch(BrokerId id) {
    if (!over()) cluster_.launch(id);
}

void Script::until(const std::string& what, const std::function<bool()>& condition) {
    if (over()) return;
    if (!cluster_.run_until(kPatience, condition) && !over())
        wrong_ = fmt::format("script: waited in vain for {}; {}", what, ending_.stuck());
}

void Script::until_isr(std::vector<BrokerId> isr) {
    until(fmt::format("isr [{}]", fmt::join(isr, ",")), [&] {
        const std::vector<BrokerId> now = cluster_.isr(id());
        return std::is_permutation(now.begin(), now.end(), isr.begin(), isr.end());
    });
}

void Script::until_leader(BrokerId id) {
    until(fmt::format("leader {}", id), [&] {
        return cluster_.leader(this->id()) == id && replica(id) != nullptr &&
               replica(id)->role() == node::Role::Leader;
    });
}

void Script::until_follows(BrokerId broker, BrokerId leader) {
    until(fmt::format("{} to follow {}", broker, leader), [&] {
        return replica(broker) != nullptr && replica(broker)->role() == node::Role::Follower &&
               replica(broker)->leader() == leader;
    });
}

void Script::until_end(BrokerId broker, Offset end) {
    until(fmt::format("{} to end at {}", broker, end),
          [&] { return replica(broker) != nullptr && replica(broker)->log().log_end_offset() == end; });
}

void Script::until_held(BrokerId from, BrokerId to, wire::ApiKey api) {
    until(fmt::format("{} {} -> {} in a hold", wire::api_name(api), from, to),
          [&] { return cluster_.network().waiting(from, to, api) > 0; });
}

void Script::pass(Duration span) {
    if (!over()) cluster_.run_for(span);
}

std::string Script::end() {
    if (over()) return wrong_;
    cluster_.heal();
    if (!cluster_.run_until(kLiveness, [&] { return cluster_.settled(); })) return ending_.stuck();
    if (std::string wrong = ending_.append_and_read(id()); !wrong.empty()) return wrong;
    box_.judge(id(), cluster_.invariants().replica(cluster_.leader(id()), id()).log);
    return {};
}

ScriptResult Script::finish() {
    const std::string wrong = end();
    ScriptResult result;
    result.bug_actions = cluster_.counts().bug_actions;
    const auto& violations = cluster_.invariants().violations();
    if (!violations.empty()) {
        result.broken = violations.front().invariant;
        result.detail = violations.front().detail;
    } else if (!box_.anomalies().empty()) {
        result.broken = box_.anomalies().front().kind;
        result.detail = box_.anomalies().front().detail;
    } else if (!wrong.empty()) {
        result.broken = wrong.substr(0, wrong.find(':'));
        result.detail = wrong;
    }
    return result;
}

}  // namespace highwater::sim
