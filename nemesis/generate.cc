#include "nemesis/generate.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/assert.h"

namespace highwater::nemesis {
namespace {

class Generator {
public:
    Generator(const MixSpec& mix, const Scenario& scenario, Rng rng)
        : mix_(mix), scenario_(scenario), rng_(rng) {
        for (const auto& [name, weight] : mix.weights) total_ += weight;
    }

    std::vector<FaultSpec> run() {
        const Duration end = mix_.at + mix_.lasts;
        for (Duration at = mix_.at + pause(); at < end; at += pause()) {
            // Both are drawn in any case, so that what does not fit shifts nothing that comes after it.
            const FaultKind kind = draw_kind();
            const Duration lasts = draw_between(mix_.shortest, mix_.longest);
            const BrokerId node = draw_broker();
            const BrokerId peer = draw_broker();
            const std::uint64_t detail = rng_.next();
            std::erase_if(busy_, [at](const Busy& busy) { return busy.until <= at; });
            const bool everybody =
                kind == FaultKind::Ring || kind == FaultKind::Bridge || kind == FaultKind::Flaky;
            if (!fits(node, everybody)) continue;
            add(kind, at, lasts, node, peer, detail);
            const Duration over = at + lasts + mix_.settle;
            if (everybody) {
                for (BrokerId id = 1; id <= scenario_.cluster.brokers; ++id) busy_.push_back({id, over});
            } else {
                busy_.push_back({node, over});
            }
        }
        return std::move(faults_);
    }

private:
    struct Busy {
        BrokerId node = kNoBroker;
        Duration until{0};
    };

    /// Uniform; whole milliseconds, which a written schedule keeps.
    Duration draw_between(Duration low, Duration high) {
        return milliseconds(rng_.between(low / milliseconds(1), high / milliseconds(1)));
    }
    Duration pause() { return draw_between(mix_.every / 2, mix_.every + mix_.every / 2); }
    FaultKind draw_kind() {
        std::int64_t drawn = rng_.between(0, total_ - 1);
        for (const auto& [name, weight] : mix_.weights) {
            drawn -= weight;
            if (drawn >= 0) continue;
            const auto kind = parse_fault_kind(name);
            HW_ASSERT(kind.has_value(), "{} was accepted by the loader", name);
            return *kind;
        }
        HW_ASSERT(false, "the weights add up to {}", total_);
    }
    BrokerId draw_broker() { return static_cast<BrokerId>(rng_.between(1, scenario_.cluster.brokers)); }

    [[nodiscard]] bool fits(BrokerId node, bool everybody) const {
        if (everybody) return busy_.empty();
        const bool struck =
            std::any_of(busy_.begin(), busy_.end(), [node](const Busy& busy) { return busy.node == node; });
        return !struck && std::ssize(busy_) < mix_.most;
    }

    void add(FaultKind kind, Duration at, Duration lasts, BrokerId node, BrokerId peer,
             std::uint64_t detail) {
        FaultSpec fault;
        fault.id = fmt::format("{}-{}", mix_.id, faults_.size() + 1);
        fault.kind = kind;
        fault.at = at;
        fault.optional = true;
        const Role who{.kind = Role::Kind::Id, .id = node, .fault_id = {}};
        if (kind == FaultKind::Elect) {
            fault.unclean = false;
            faults_.push_back(std::move(fault));
            return;
        }
        fault.lasts = lasts;
        if (!acts_on_path(kind) || kind == FaultKind::Isolate || kind == FaultKind::Bridge)
            fault.target = who;
        if (kind == FaultKind::Partition) {
            fault.between = {who, Role{.kind = Role::Kind::Controller, .fault_id = {}}};
            constexpr Way kWays[] = {Way::Both, Way::Out, Way::In};
            fault.way = kWays[detail % 3];
        }
        if (kind == FaultKind::Flaky) {
            const Role brokers{.kind = Role::Kind::Brokers, .fault_id = {}};
            fault.path = PathSpec{brokers, brokers};
        } else if (is_path_rule(kind)) {
            add_path(fault, who, peer, lasts, detail);
        }
        if (is_partition(kind)) fault.planes.client = false;
        faults_.push_back(std::move(fault));
    }

    /// Half of them come from another broker, a quarter each from the controller and from the clients.
    void add_path(FaultSpec& fault, const Role& who, BrokerId peer, Duration lasts,
                  std::uint64_t detail) const {
        Role source{.kind = Role::Kind::Id, .id = peer, .fault_id = {}};
        if (peer == who.id) source.id = peer % scenario_.cluster.brokers + 1;
        const bool alone = source.id == who.id;
        if (alone || detail % 4 == 0) source = Role{.kind = Role::Kind::Client, .fault_id = {}};
        if (!alone && detail % 4 == 1) source = Role{.kind = Role::Kind::Controller, .fault_id = {}};
        fault.path = PathSpec{source, who};
        // Nobody but a broker's own connections come from a controller: it opens none to be refused.
        if (fault.kind == FaultKind::Refuse && source.kind == Role::Kind::Controller)
            std::swap(fault.path->source, fault.path->destination);
        if (fault.kind == FaultKind::Delay) {
            fault.delay = std::max(milliseconds(lasts / milliseconds(10)), milliseconds(1));
            fault.jitter = milliseconds(fault.delay / milliseconds(2));
        }
        if (fault.kind == FaultKind::Throttle) fault.rate = 20'000;
    }

    const MixSpec& mix_;
    const Scenario& scenario_;
    Rng rng_;
    std::int64_t total_ = 0;
    std::vector<Busy> busy_;
    std::vector<FaultSpec> faults_;
};

}  // namespace

std::vector<FaultSpec> generate(const MixSpec& mix, const Scenario& scenario, Rng rng) {
    return Generator(mix, scenario, rng).run();
}

Scenario with_mixes_drawn(Scenario scenario, Rng rng) {
    const std::vector<MixSpec> mixes = std::exchange(scenario.mixes, {});
    for (const MixSpec& mix : mixes) {
        std::vector<FaultSpec> faults = generate(mix, scenario, rng.fork());
        std::move(faults.begin(), faults.end(), std::back_inserter(scenario.faults));
    }
    return scenario;
}

}  // namespace highwater::nemesis
