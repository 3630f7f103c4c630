// Random faults of every kind the simulation has, one after the other or at once, until stopped. Single
// faults in chaos.cc; in nemeses.cc the sequences that single faults would hardly ever form.
#pragma once

#include <functional>
#include <optional>

#include "base/rng.h"
#include "tests/sim/cluster.h"

namespace highwater::sim {

class Chaos {
public:
    /// With `power_losses` brokers lose what they have not flushed, at moments when nothing else is broken
    /// and every ISR is full: then one such loss costs no committed record.
    Chaos(Cluster& cluster, Rng rng, bool power_losses)
        : cluster_(cluster),
          rng_(rng),
          power_losses_(power_losses),
          admin_(260, cluster.scheduler(), cluster.network()) {}
    void start() { next(); }
    /// No new fault, and no fault ends by itself any more: the caller heals.
    void stop() { stopped_ = true; }

private:
    void next();
    void one();
    void kill();
    void pause();
    void terminate();
    void cut();
    void cut_path();
    void isolate();
    void hold();
    void slow();
    void lose_power();
    void elect_preferred();

    // nemeses.cc
    void nemesis();
    void hold_between(BrokerId from, BrokerId to, std::optional<wire::ApiKey> api, Duration low,
                      Duration high);
    void hold_metadata();
    void hold_alter_partition();
    void starve_follower();
    void slow_metadata();
    void co_partition();
    void silence_leader();
    void kill_all();

    /// Unless stopped by then.
    void later(Duration low, Duration high, std::function<void()> action);
    /// A fault begins now; `heal` ends it after a while.
    void until(Duration low, Duration high, std::function<void()> heal);
    /// Runs `action` once `condition` holds, unless stopped by then.
    void when(std::function<bool()> condition, std::function<void()> action);
    BrokerId broker() { return rng_.pick(kBrokers); }
    BrokerId process() { return rng_.chance(20) ? kController : broker(); }
    /// Of a partition chosen anew; nullopt if it has none.
    std::optional<BrokerId> leader();
    /// A broker other than `not_this`.
    BrokerId another(BrokerId not_this);

    Cluster& cluster_;
    Rng rng_;
    bool power_losses_;
    Client admin_;
    bool stopped_ = false;
    /// No new faults: a power loss is being prepared.
    bool draining_ = false;
    /// Faults that last.
    int active_ = 0;
};

}  // namespace highwater::sim
