#include "harness/findings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "nemesis/address_plan.h"

namespace highwater::harness {
namespace {

std::string setting(const Scenario& scenario, const std::string& key, const char* kafka_default) {
    const auto found = scenario.cluster.properties.find(key);
    return found == scenario.cluster.properties.end() ? kafka_default : found->second;
}

/// The last fault that had struck `broker` (or a path to it) before `at`. A signal may have its effect before
/// the harness, on a busy machine, comes to note that it was sent: what counts is when it was asked for.
const FaultRecord* fault_behind(const std::vector<FaultRecord>& faults, BrokerId broker, Instant at) {
    const FaultRecord* last = nullptr;
    for (const FaultRecord& fault : faults) {
        const bool struck =
            std::find(fault.targets.begin(), fault.targets.end(), broker) != fault.targets.end();
        if (struck && fault.ok && fault.requested <= at && fault.kind != FaultKind::Resume &&
            fault.kind != FaultKind::Release) {
            last = &fault;
        }
    }
    return last;
}

/// The fence of `broker` that the same decision of the controller wrote just before, if any.
const TraceEvent* fence_of(const Trace& trace, BrokerId broker, Instant at) {
    constexpr Duration kSameDecision = milliseconds(100);
    const TraceEvent* found = nullptr;
    for (const TraceEvent& event : trace.events) {
        if (event.at > at) break;
        if (event.kind == TraceKind::Fence && event.broker == broker && at - event.at < kSameDecision)
            found = &event;
    }
    return found;
}

std::string cause_of(const Trace& trace, const TraceEvent& change, BrokerId broker,
                     const Scenario& scenario) {
    if (change.text == "alter-partition") {
        return fmt::format("the leader found it lagging: replica.lag.time.max.ms = {}",
                           setting(scenario, "replica.lag.time.max.ms", "30000"));
    }
    if (change.text == "shutdown") return "its controlled shutdown: no timer";
    const TraceEvent* fence = fence_of(trace, broker, change.at);
    if (fence != nullptr && fence->text == "session-timeout") {
        // Who reads it from Kafka's metadata log does not learn how long.
        const bool known = fence->silent.count() > 0;
        return fmt::format(
            "the controller fenced it{}: broker.session.timeout.ms = {}",
            known ? fmt::format(" after {:.2f} s of silence", to_seconds(fence->silent)) : std::string(),
            setting(scenario, "broker.session.timeout.ms", "9000"));
    }
    return fmt::format("the controller ({})", change.text);
}

/// Requests beyond one for each append.
std::int64_t repeated_requests(const OtherOp& other) {
    const auto json = nlohmann::json::parse("{" + other.json + "}", nullptr, false);
    if (!json.is_object()) return 0;
    const std::int64_t appends = json.value("appends", std::int64_t{1});
    return json.value("requests", appends) - appends;
}

}  // namespace

std::vector<std::string> shrink_findings(const Trace& trace, const std::vector<FaultRecord>& faults,
                                         const Scenario& scenario) {
    std::vector<std::string> findings;
    std::vector<BrokerId> isr;
    std::vector<BrokerId> fenced;
    for (const TraceEvent& event : trace.events) {
        if (event.kind == TraceKind::Fence && event.text != "registered") fenced.push_back(event.broker);
        if (event.kind != TraceKind::Partition || event.partition != 0) continue;
        for (const BrokerId broker : isr) {
            if (std::find(event.isr.begin(), event.isr.end(), broker) != event.isr.end()) continue;
            const FaultRecord* fault = fault_behind(faults, broker, event.at);
            if (fault == nullptr) continue;
            findings.push_back(fmt::format("broker {} left the ISR {:.2f} s after '{}' ({}): {}", broker,
                                           to_seconds(std::max(event.at - fault->effective, Duration{0})),
                                           fault->id, fault_kind_name(fault->kind),
                                           cause_of(trace, event, broker, scenario)));
        }
        isr = event.isr;
    }
    if (!findings.empty() && fenced.empty())
        findings.push_back("the controller fenced nobody during the whole run (its trace)");
    return findings;
}

std::vector<std::string> restart_findings(const Trace& trace, const std::vector<FaultRecord>& faults) {
    // A registration that had to wait for nobody takes milliseconds and is not worth a line.
    constexpr Duration kAtOnce = milliseconds(500);
    std::vector<std::string> findings;
    for (const FaultRecord& fault : faults) {
        if (fault.kind != FaultKind::Restart || !fault.ok) continue;
        for (const BrokerId broker : fault.targets) {
            if (!nemesis::is_broker(broker)) continue;
            const auto registered =
                std::find_if(trace.events.begin(), trace.events.end(), [&](const TraceEvent& event) {
                    return event.kind == TraceKind::Registered && event.node == broker &&
                           event.at > fault.requested;
                });
            if (registered == trace.events.end()) {
                findings.push_back(fmt::format("broker {} did not register after '{}'", broker, fault.id));
            } else if (registered->at - fault.effective > kAtOnce) {
                findings.push_back(
                    fmt::format("broker {} registered {:.2f} s after '{}', when its old session was over",
                                broker, to_seconds(registered->at - fault.effective), fault.id));
            }
        }
    }
    return findings;
}

std::vector<std::string> attack_findings(const std::vector<FaultRecord>& faults) {
    std::vector<std::string> findings;
    for (const FaultRecord& fault : faults) {
        if (fault.kind != FaultKind::ForgeFetch || !fault.ok) continue;
        findings.push_back(
            fmt::format("'{}' (forge-fetch) is an ATTACK on a cluster without authentication: what "
                        "comes of it is not a defect of the cluster",
                        fault.id));
    }
    return findings;
}

std::vector<std::string> client_findings(const History& history) {
    std::int64_t repeated = 0;
    for (const Operation& operation : history.operations) {
        const auto* other = operation.as<OtherOp>();
        if (other != nullptr && other->op == "hidden-retries") repeated += repeated_requests(*other);
    }
    if (repeated == 0) return {};
    return {fmt::format(
        "librdkafka sent {} Produce requests again and told its application only of the last answers",
        repeated)};
}

}  // namespace highwater::harness
