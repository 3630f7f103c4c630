// Random faults of every kind the simulation has, one after the other or at once, until stopped.
#pragma once

#include <functional>

#include "base/rng.h"
#include "tests/sim/cluster.h"

namespace highwater::sim {

class Chaos {
public:
    Chaos(Cluster& cluster, Rng rng) : cluster_(cluster), rng_(rng) {}
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
    void isolate();
    void hold();
    void slow();
    /// Unless stopped by then.
    void later(Duration low, Duration high, std::function<void()> action);
    BrokerId broker() { return rng_.pick(kBrokers); }
    BrokerId process() { return rng_.chance(20) ? kController : broker(); }

    Cluster& cluster_;
    Rng rng_;
    bool stopped_ = false;
};

}  // namespace highwater::sim
