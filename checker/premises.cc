// Whether the run proves anything at all. topic-mismatch and bad-time void everything else; vacuous,
// final-read-incomplete and fault-not-effective leave violations standing.
#include <fmt/format.h>

#include <algorithm>

#include "checker/properties.h"
#include "checker/sentence.h"

namespace highwater::checker {
namespace {

void check_times(const Context& context, Findings& findings) {
    for (std::size_t op = 0; op < context.history.operations.size(); ++op) {
        const Operation& operation = context.operation(op);
        if (operation.completed >= operation.invoked) continue;
        findings.reason("bad-time", fmt::format("operation {} of {} completed {} ns before it was called", op,
                                                context.client_name(op),
                                                (operation.invoked - operation.completed).count()));
    }
}

void check_topic(const Context& context, Findings& findings) {
    const HistoryMeta& meta = context.meta;
    for (const Operation& operation : context.history.operations) {
        const auto* observe = operation.as<Observe>();
        if (observe == nullptr) continue;
        // No replicas at all: the topic is not there yet.
        const bool told = observe->replicas && !observe->replicas->empty();
        if (told && static_cast<std::int32_t>(observe->replicas->size()) != meta.replication_factor) {
            findings.reason("topic-mismatch",
                            fmt::format("partition {} has replicas {}, not {} of them", observe->partition,
                                        ids_text(*observe->replicas), meta.replication_factor));
        }
        if (observe->config_min_isr && *observe->config_min_isr != meta.min_isr) {
            findings.reason("topic-mismatch",
                            fmt::format("partition {} has min.insync.replicas {}, not {}", observe->partition,
                                        *observe->config_min_isr, meta.min_isr));
        }
    }
}

void check_vacuous(const Context& context, Findings& findings) {
    bool appended = false;
    bool read = false;
    for (const auto& [number, partition] : context.partitions) {
        const auto acked = [](const Append& append) { return append.outcome == Outcome::Ok; };
        appended = appended || std::any_of(partition.appends().begin(), partition.appends().end(), acked);
        for (const Place& place : partition.places()) {
            if (appended && read) return;
            read = read || place.seen();
            appended = appended || (place.seen() && place.sent);
        }
    }
    if (!appended)
        findings.reason("vacuous", "no append was acknowledged or proven by a read");
    else if (!read)
        findings.reason("vacuous", "no record was read");
}

void check_final_reads(const Context& context, Findings& findings) {
    for (const auto& [number, partition] : context.partitions) {
        if (!partition.final_read_tried() || partition.final_log()) continue;
        findings.reason(
            "final-read-incomplete",
            fmt::format("the final read of partition {} did not reach the high watermark", number));
    }
}

/// A path that answers while a fault cuts it: the fault was recorded, but did nothing.
class FaultEffects {
public:
    FaultEffects(const Context& context, Findings& findings) : context_(context), findings_(findings) {}

    void run() {
        std::vector<const Operation*> order;
        for (const Operation& operation : context_.history.operations) {
            if (operation.as<FaultOp>() != nullptr || operation.as<Probe>() != nullptr)
                order.push_back(&operation);
        }
        std::stable_sort(order.begin(), order.end(),
                         [](const Operation* a, const Operation* b) { return a->invoked < b->invoked; });
        for (const Operation* operation : order) {
            if (const auto* fault = operation->as<FaultOp>()) strike(*fault, operation->completed);
            if (const auto* probe = operation->as<Probe>()) judge(*probe, operation->invoked);
        }
    }

private:
    void strike(const FaultOp& fault, Instant at) {
        if (fault.status == "fail") {
            findings_.warning(fmt::format("the fault {} {} at {} failed: {}", fault.kind, fault.target,
                                          time_text(context_, at), fault.detail));
        }
        if (fault.kind == "heal" || fault.kind == "release") {
            cut_.clear();
        } else if (fault.status == "ok" &&
                   (fault.kind == "partition" || fault.kind == "cut" || fault.kind == "refuse")) {
            for (const auto& [source, destination] : fault.paths) {
                cut_.emplace_back(source, destination);
                // A partition has no direction.
                if (fault.kind == "partition") cut_.emplace_back(destination, source);
            }
        }
    }

    void judge(const Probe& probe, Instant at) {
        const bool is_cut =
            std::find(cut_.begin(), cut_.end(), std::pair{probe.source, probe.destination}) != cut_.end();
        if (!probe.ok || !is_cut) return;
        findings_.reason("fault-not-effective",
                         fmt::format("path {} -> {} answered at {} while a fault had cut it", probe.source,
                                     probe.destination, time_text(context_, at)));
    }

    const Context& context_;
    Findings& findings_;
    std::vector<std::pair<BrokerId, BrokerId>> cut_;
};

}  // namespace

void check_premises(const Context& context, Findings& findings) {
    if (context.history.cut_short)
        findings.reason("cut-short", "the run was cut short: what was under way then is not in its history");
    check_times(context, findings);
    check_topic(context, findings);
    check_vacuous(context, findings);
    check_final_reads(context, findings);
    FaultEffects(context, findings).run();
    const CheckInput& input = context.input;
    for (std::size_t i = 0; i < input.run_reasons.size(); ++i) {
        const bool told = i < input.run_reason_details.size();
        findings.reason(input.run_reasons[i], told ? input.run_reason_details[i] : "");
    }
}

}  // namespace highwater::checker
