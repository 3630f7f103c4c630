// stuck: after a proven heal no acks=all append succeeds in time, or the ISR does not become full.
// node-crashed: a process ended that no fault ended. The runner finds both out and records them as failed
// probes.
#include <fmt/format.h>

#include "checker/properties.h"
#include "checker/sentence.h"

namespace highwater::checker {
namespace {

void add(const Context& context, Findings& findings, const char* kind, std::size_t op, std::string sentence) {
    if (!findings.count(kind, false)) return;
    Anomaly anomaly;
    anomaly.kind = kind;
    anomaly.sentence =
        fmt::format("{} (known at {})", sentence, time_text(context, context.operation(op).completed));
    anomaly.operations = {op};
    findings.sample(std::move(anomaly));
}

}  // namespace

void check_stuck(const Context& context, Findings& findings) {
    std::vector<std::size_t> failed;
    for (std::size_t op = 0; op < context.history.operations.size(); ++op) {
        const auto* probe = context.operation(op).as<Probe>();
        // A failed probe of a path is the proof that its fault works.
        if (probe != nullptr && !probe->ok && probe->source == kNoBroker) failed.push_back(op);
    }
    for (const std::size_t op : failed) {
        const auto& probe = *context.operation(op).as<Probe>();
        if (probe.detail.starts_with("node-crashed")) {
            add(context, findings, "node-crashed", op,
                "a process ended that no fault ended: " + probe.detail);
        } else if (probe.detail != "progress" && probe.detail != "isr-full") {
            findings.reason("not-healed",
                            fmt::format("after the heal this did not answer: {}", probe.detail));
        }
    }
    // A cluster that nobody proved to be healed may well stand still.
    if (findings.has_reason("not-healed")) return;
    for (const std::size_t op : failed) {
        const auto& probe = *context.operation(op).as<Probe>();
        if (probe.detail == "progress") {
            add(context, findings, "stuck", op,
                "after the heal no acks=all append succeeded within the bound");
        } else if (probe.detail == "isr-full") {
            add(context, findings, "stuck", op,
                "after the heal the ISR did not become full within the bound");
        }
    }
}

}  // namespace highwater::checker
