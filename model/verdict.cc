// Names and the JSON form of a verdict (verdict.json of a run).
#include "model/verdict.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

namespace highwater {
namespace {

using Json = nlohmann::ordered_json;

Json to_json(const Anomaly& anomaly) {
    Json json;
    json["kind"] = anomaly.kind;
    json["allowed"] = anomaly.allowed;
    json["partition"] = anomaly.partition;
    if (anomaly.offset >= 0) json["offset"] = anomaly.offset;
    if (anomaly.value != 0) json["value"] = anomaly.value;
    json["sentence"] = anomaly.sentence;
    if (!anomaly.context.empty()) json["context"] = anomaly.context;
    json["operations"] = anomaly.operations;
    return json;
}

Anomaly anomaly_from(const Json& json) {
    Anomaly anomaly;
    anomaly.kind = json.at("kind").get<std::string>();
    anomaly.allowed = json.value("allowed", false);
    anomaly.partition = json.value("partition", 0);
    anomaly.offset = json.value("offset", kUnknownOffset);
    anomaly.value = json.value("value", Value{0});
    anomaly.sentence = json.value("sentence", "");
    anomaly.context = json.value("context", std::vector<std::string>{});
    anomaly.operations = json.value("operations", std::vector<std::size_t>{});
    return anomaly;
}

}  // namespace

std::string_view verdict_name(VerdictKind kind) {
    switch (kind) {
        case VerdictKind::Valid:
            return "valid";
        case VerdictKind::Invalid:
            return "invalid";
        case VerdictKind::Unknown:
            return "unknown";
    }
    return "?";
}

int exit_code(VerdictKind kind) {
    switch (kind) {
        case VerdictKind::Valid:
            return 0;
        case VerdictKind::Invalid:
            return 1;
        case VerdictKind::Unknown:
            return 2;
    }
    return 2;
}

std::string verdict_to_json(const Verdict& verdict) {
    Json json;
    json["verdict"] = verdict_name(verdict.kind);
    json["anomalies"] = Json::object();
    for (const auto& [kind, count] : verdict.counts) json["anomalies"][kind] = count;
    json["violations"] = verdict.violations;
    json["reasons"] = verdict.reasons;
    json["reason_details"] = verdict.reason_details;
    json["evidence"] = Json::object();
    for (const auto& [name, count] : verdict.evidence) json["evidence"][name] = count;
    json["warnings"] = verdict.warnings;
    json["unchecked"] = Json::array();
    for (const Unchecked& one : verdict.unchecked)
        json["unchecked"].push_back(Json{{"check", one.name}, {"why", one.why}});
    json["samples"] = Json::array();
    for (const Anomaly& anomaly : verdict.anomalies) json["samples"].push_back(to_json(anomaly));
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<Verdict> verdict_from_json(std::string_view text, const std::string& name) {
    try {
        const Json json = Json::parse(text);
        Verdict verdict;
        const std::string kind = json.at("verdict").get<std::string>();
        if (kind == "valid")
            verdict.kind = VerdictKind::Valid;
        else if (kind == "invalid")
            verdict.kind = VerdictKind::Invalid;
        else if (kind == "unknown")
            verdict.kind = VerdictKind::Unknown;
        else
            return failure(fmt::format("{}: verdict \"{}\": expected valid, invalid or unknown", name, kind));
        using Counts = std::map<std::string, std::int64_t>;
        verdict.counts = json.value("anomalies", Counts{});
        verdict.violations = json.value("violations", std::vector<std::string>{});
        verdict.reasons = json.value("reasons", std::vector<std::string>{});
        verdict.reason_details = json.value("reason_details", std::vector<std::string>{});
        verdict.evidence = json.value("evidence", Counts{});
        verdict.warnings = json.value("warnings", std::vector<std::string>{});
        for (const Json& one : json.value("unchecked", Json::array()))
            verdict.unchecked.push_back({one.at("check"), one.at("why")});
        for (const Json& sample : json.value("samples", Json::array()))
            verdict.anomalies.push_back(anomaly_from(sample));
        return verdict;
    } catch (const Json::exception& error) {
        return failure(fmt::format("{}: {}", name, error.what()));
    }
}

}  // namespace highwater
