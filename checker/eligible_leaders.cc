// ElrShape and UncleanExclusion: who may lead without loss (KIP-966), by the controller's lines alone.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "checker/properties.h"
#include "checker/sentence.h"

namespace highwater::checker {
namespace {

bool contains(const std::vector<BrokerId>& ids, BrokerId id) {
    return std::find(ids.begin(), ids.end(), id) != ids.end();
}

class EligibleLeaders {
public:
    EligibleLeaders(const Context& context, Findings& findings, std::int32_t number)
        : context_(context), findings_(findings), number_(number) {}

    void run() {
        for (const TraceEvent& line : context_.input.trace->events) {
            if (line.at > context_.end) break;
            if (too_few_ != nullptr && line.at > too_few_->at) judge_too_few();
            if (line.kind == TraceKind::Register) registered(line);
            if (line.kind == TraceKind::Config && line.text == "min.insync.replicas") min_isr_changed_ = true;
            if (line.kind == TraceKind::Partition && line.partition == number_) decided(line);
        }
        if (too_few_ != nullptr) judge_too_few();
    }

private:
    /// A new incarnation. What it had on disk may be gone, unless its last life is known to have ended
    /// cleanly.
    void registered(const TraceEvent& line) {
        if (std::exchange(broker_epochs_[line.broker], line.broker_epoch) == line.broker_epoch) return;
        if (!line.clean) eligible_lost_ = true;
        if (!line.clean && line.clean_told) suspects_.insert(line.broker);
        const bool in_sync = contains(isr_, line.broker) && (isr_.size() > 1 || context_.meta.elr);
        const bool eligible = contains(elr_, line.broker) && suspects_.contains(line.broker);
        if (!in_sync && !eligible) return;
        report("UncleanExclusion", line,
               fmt::format("broker {} registered anew at {} and stays in the {} {}", line.broker,
                           time_text(context_, line.at), in_sync ? "ISR" : "ELR",
                           ids_text(in_sync ? isr_ : elr_)));
    }

    void decided(const TraceEvent& line) {
        const auto broken = [&](const char* rule, const std::string& how) {
            report(rule, line,
                   fmt::format("the controller wrote leader {}, epoch {}, ISR {}, ELR {} at {}, {}",
                               line.leader, line.epoch, ids_text(line.isr), ids_text(line.elr),
                               time_text(context_, line.at), how));
        };
        if (context_.meta.elr && line.leader != kNoBroker && line.elected && !line.unclean &&
            suspects_.contains(line.leader)) {
            broken("UncleanExclusion", "a leader that came back from an unclean shutdown");
        }
        for (const BrokerId member : line.isr) suspects_.erase(member);
        for (const BrokerId member : line.elr) {
            if (suspects_.contains(member) && !contains(elr_, member))
                broken("UncleanExclusion",
                       fmt::format("broker {} being back from an unclean shutdown", member));
            if (contains(line.isr, member))
                broken("ElrShape", fmt::format("broker {} being in both", member));
        }
        isr_ = line.isr;
        elr_ = line.elr;
        if (context_.meta.elr && line.elr_told && !min_isr_changed_) check_shape(line, broken);
    }

    template <class Broken>
    void check_shape(const TraceEvent& line, const Broken& broken) {
        if (in_sync() >= context_.effective_min_isr()) {
            eligible_lost_ = false;
            if (!line.elr.empty()) broken("ElrShape", "an ELR beside a whole ISR");
            return;
        }
        eligible_lost_ = eligible_lost_ || line.unclean;
        // The registration that took a member out is told after this, at the same time.
        if (in_sync() + static_cast<std::int32_t>(elr_.size()) < context_.effective_min_isr())
            too_few_ = &line;
        if (isr_.empty() && line.last_known_elr.empty()) broken("ElrShape", "and does not say who led last");
    }

    void judge_too_few() {
        const TraceEvent& line = *std::exchange(too_few_, nullptr);
        if (eligible_lost_) return;
        report("ElrShape", line,
               fmt::format("the controller kept ISR {} and ELR {} at {}, fewer than min ISR {}, though no "
                           "unclean shutdown took one out",
                           ids_text(line.isr), ids_text(line.elr), time_text(context_, line.at),
                           context_.effective_min_isr()));
    }

    [[nodiscard]] std::int32_t in_sync() const { return static_cast<std::int32_t>(isr_.size()); }

    /// Once a leader epoch: what is broken stays so for many lines.
    void report(const char* kind, const TraceEvent& line, std::string sentence) {
        if (!told_.insert({kind, line.broker, line.epoch}).second || !findings_.count(kind, false)) return;
        Anomaly anomaly;
        anomaly.kind = kind;
        anomaly.partition = number_;
        anomaly.sentence = std::move(sentence);
        findings_.sample(std::move(anomaly));
    }

    const Context& context_;
    Findings& findings_;
    std::int32_t number_;
    std::vector<BrokerId> isr_;
    std::vector<BrokerId> elr_;
    std::map<BrokerId, BrokerEpoch> broker_epochs_;
    /// Back from an unclean shutdown, and in no ISR since.
    std::set<BrokerId> suspects_;
    /// Since the ISR was last as large as min ISR, an unclean shutdown or election made fewer eligible.
    bool eligible_lost_ = false;
    bool min_isr_changed_ = false;
    const TraceEvent* too_few_ = nullptr;
    std::set<std::tuple<std::string, BrokerId, LeaderEpoch>> told_;
};

}  // namespace

void check_eligible_leaders(const Context& context, Findings& findings) {
    if (!context.traced) return;
    for (const auto& [number, partition] : context.partitions)
        EligibleLeaders(context, findings, number).run();
}

}  // namespace highwater::checker
