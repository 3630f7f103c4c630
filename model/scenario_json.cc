// The resolved scenario as JSON, for run.json and for running it again.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "model/scenario.h"

namespace highwater {
namespace {

using Json = nlohmann::ordered_json;

Json acks_json(const std::vector<std::int16_t>& acks) {
    Json json = Json::array();
    for (const std::int16_t one : acks) json.push_back(one == -1 ? "all" : std::to_string(one));
    return acks.size() == 1 ? json.front() : json;
}

Json workload_json(const WorkloadSpec& spec) {
    Json json{{"kind", spec.kind},
              {"acks", acks_json(spec.acks)},
              {"producers", spec.producers},
              {"consumers", spec.consumers},
              {"rate", spec.rate ? fmt::format("{}/s", *spec.rate) : "closed"},
              {"request_timeout", format_duration(spec.request_timeout)},
              {"read", read_mode_name(spec.read)}};
    if (spec.client != ClientKind::Raw) {
        json["client"] = client_kind_name(spec.client);
        json["in_flight"] = spec.in_flight;
        json["delivery_timeout"] = format_duration(spec.delivery_timeout);
    }
    if (spec.idempotent) json["idempotent"] = true;
    if (spec.retries > 0) json["retries"] = spec.retries;
    if (spec.size_max > 0) json["size"] = Json::array({spec.size_min, spec.size_max});
    for (const WorkloadPhase& phase : spec.phases) {
        Json entry{{"acks", acks_json(phase.acks)}};
        if (phase.records > 0) entry["records"] = phase.records;
        if (!phase.after.empty()) entry["after"] = phase.after;
        json["phase"].push_back(std::move(entry));
    }
    return json;
}

Json fault_json(const FaultSpec& spec) {
    Json json{{"id", spec.id}};
    if (spec.after.empty()) {
        json["at"] = format_duration(spec.at);
    } else {
        json["after"] = spec.after + " + " + format_duration(spec.after_delay);
    }
    json["kind"] = fault_kind_name(spec.kind);
    if (spec.target) json["target"] = spec.target->to_string();
    if (!spec.release_of.empty()) json["target"] = spec.release_of;
    if (spec.path) json["path"] = spec.path->to_string();
    if (spec.between) json["between"] = {spec.between->first.to_string(), spec.between->second.to_string()};
    if (spec.way != Way::Both) json["way"] = way_name(spec.way);
    if (is_partition(spec.kind) || spec.kind == FaultKind::Flaky) json["by"] = fault_kind_name(spec.by);
    if (acts_on_path(spec.kind) && (is_partition(spec.kind) || !spec.planes.all()))
        json["plane"] = spec.planes.to_string();
    if (!spec.api.empty()) json["api"] = spec.api;
    if (spec.part != FramePart::Both) json["part"] = spec.part == FramePart::Request ? "request" : "response";
    if (spec.delay.count() > 0) json["delay"] = format_duration(spec.delay);
    if (spec.jitter.count() > 0) json["jitter"] = format_duration(spec.jitter);
    if (spec.rate > 0) json["rate"] = format_byte_rate(spec.rate);
    if (spec.discard_if_closed) json["if_closed"] = "discard";
    if (spec.kind == FaultKind::Flaky) json["step"] = format_duration(spec.step);
    if (spec.kill_after) json["kill_after"] = format_duration(*spec.kill_after);
    if (spec.kind == FaultKind::Elect) json["election"] = spec.unclean ? "unclean" : "preferred";
    if (spec.optional) json["optional"] = true;
    if (spec.lasts) json["for"] = format_duration(*spec.lasts);
    if (spec.until) json["until"] = spec.until->text();
    json["deadline"] = format_duration(spec.deadline);
    return json;
}

Json mix_json(const MixSpec& mix) {
    return Json{{"id", mix.id},
                {"at", format_duration(mix.at)},
                {"for", format_duration(mix.lasts)},
                {"every", format_duration(mix.every)},
                {"shortest", format_duration(mix.shortest)},
                {"longest", format_duration(mix.longest)},
                {"most", mix.most},
                {"settle", format_duration(mix.settle)},
                {"weights", mix.weights}};
}

}  // namespace

std::string scenario_to_json(const Scenario& scenario) {
    Json cluster{{"brokers", scenario.cluster.brokers}, {"controllers", scenario.cluster.controllers}};
    for (const auto& [key, value] : scenario.cluster.properties) cluster[key] = value;
    if (!scenario.cluster.command.empty()) cluster["command"] = scenario.cluster.command;
    Json topic{{"name", scenario.topic.name}, {"assignment", scenario.topic.assignment}};
    for (const auto& [key, value] : scenario.topic.configs) topic[key] = value;
    Json json{{"name", scenario.name},
              {"title", scenario.title},
              {"linger", format_duration(scenario.linger)},
              {"cluster", cluster},
              {"topic", topic}};
    if (!scenario.suts.empty()) json["sut"] = scenario.suts;
    json["workload"] = Json::array();
    for (const WorkloadSpec& spec : scenario.workloads) json["workload"].push_back(workload_json(spec));
    json["fault"] = Json::array();
    for (const FaultSpec& spec : scenario.faults) json["fault"].push_back(fault_json(spec));
    if (!scenario.mixes.empty()) json["mix"] = Json::array();
    for (const MixSpec& mix : scenario.mixes) json["mix"].push_back(mix_json(mix));
    json["heal"] = Json{{"restart", scenario.heal.restart_all ? "all" : "none"},
                        {"progress_within", format_duration(scenario.heal.progress_within)}};
    json["expect"] = Json{{"sometimes", scenario.expect.sometimes}, {"never", scenario.expect.never}};
    for (const auto& [sut, verdict] : scenario.expect.verdict) {
        if (sut.empty()) {
            json["expect"]["verdict"] = verdict;
        } else {
            json["expect"]["verdict"][sut] = verdict;
        }
    }
    Json compare = Json::object();
    for (const auto& [side, expectation] : scenario.compare_expect) compare[side] = expectation.text;
    if (!compare.empty()) json["compare"] = Json{{"expect", compare}};
    return json.dump(2) + "\n";
}

}  // namespace highwater
