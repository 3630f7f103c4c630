#include "tests/sim/chaos.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "wire/api_table.h"

namespace highwater::sim {

void Chaos::later(Duration low, Duration high, std::function<void()> action) {
    cluster_.scheduler().after(Duration{rng_.between(low.count(), high.count())},
                               [this, act = std::move(action)] {
                                   if (!stopped_) act();
                               });
}

void Chaos::until(Duration low, Duration high, std::function<void()> heal) {
    ++active_;
    later(low, high, [this, end = std::move(heal)] {
        --active_;
        end();
    });
}

void Chaos::when(std::function<bool()> condition, std::function<void()> action) {
    if (condition()) return action();
    later(milliseconds(50), milliseconds(50),
          [this, holds = std::move(condition), act = std::move(action)] { when(holds, act); });
}

std::optional<BrokerId> Chaos::leader() {
    const BrokerId id = cluster_.leader(rng_.pick(cluster_.partitions()));
    return id == kNoBroker ? std::nullopt : std::optional(id);
}

BrokerId Chaos::another(BrokerId not_this) {
    while (true) {
        if (const BrokerId id = broker(); id != not_this) return id;
    }
}

void Chaos::next() {
    later(milliseconds(100), milliseconds(2500), [this] {
        if (!draining_) one();
        next();
    });
}

void Chaos::one() {
    if (power_losses_ && rng_.chance(15)) return lose_power();
    switch (rng_.below(18)) {
        case 0:
        case 1:
            return kill();
        case 2:
            return pause();
        case 3:
            return terminate();
        case 4:
            return cut();
        case 5:
            return cut_path();
        case 6:
            return isolate();
        case 7:
        case 8:
            return hold();
        case 9:
            return slow();
        case 10:
        case 11:
            return elect_preferred();
        default:
            return nemesis();
    }
}

void Chaos::kill() {
    const BrokerId id = process();
    if (!cluster_.running(id)) return;
    // What the controller decides is flushed before anybody hears of it.
    if (id == kController && rng_.chance(50))
        cluster_.lose_power(id);
    else
        cluster_.kill(id);
    until(milliseconds(20), seconds(6), [this, id] {
        if (!cluster_.running(id)) cluster_.launch(id);
    });
}

void Chaos::pause() {
    const BrokerId id = process();
    cluster_.pause(id);
    until(milliseconds(20), seconds(6), [this, id] { cluster_.resume(id); });
}

void Chaos::terminate() {
    const BrokerId id = broker();
    cluster_.terminate(id);
    until(seconds(1), seconds(6), [this, id] {
        // One that still waits for its release, or never saw the signal, has lost its operator's patience.
        cluster_.kill(id);
        cluster_.launch(id);
    });
}

void Chaos::cut() {
    const BrokerId a = broker();
    const BrokerId b = process();
    if (a == b) return;
    const bool late = rng_.chance(50);
    cluster_.say(fmt::format("cut {} and {}{}", a, b, late ? ", what is on its way arrives" : ""));
    if (late)
        cluster_.network().cut_late(a, b);
    else
        cluster_.network().cut(a, b);
    until(milliseconds(100), seconds(6), [this, a, b] {
        cluster_.say(fmt::format("mend {} and {}", a, b));
        cluster_.network().mend(a, b);
    });
}

void Chaos::cut_path() {
    const BrokerId from = process();
    const BrokerId to = process();
    if (from == to) return;
    cluster_.say(fmt::format("cut {} -> {}", from, to));
    cluster_.network().cut_path(from, to);
    until(milliseconds(100), seconds(6), [this, from, to] {
        cluster_.say(fmt::format("mend {} -> {}", from, to));
        cluster_.network().mend_path(from, to);
    });
}

void Chaos::isolate() {
    const BrokerId id = broker();
    const bool with_controller = rng_.chance(50);
    cluster_.say(fmt::format("isolate {}{}", id, with_controller ? "" : " from brokers"));
    for (const BrokerId other : {kController, 1, 2, 3}) {
        if (other != id && (other != kController || with_controller)) cluster_.network().cut(id, other);
    }
    until(milliseconds(100), seconds(6), [this, id] {
        cluster_.say(fmt::format("rejoin {}", id));
        for (const BrokerId other : {kController, 1, 2, 3}) {
            if (other != id) cluster_.network().mend(id, other);
        }
    });
}

void Chaos::hold() {
    const BrokerId from = process();
    const BrokerId to = process();
    if (from == to) return;
    using wire::ApiKey;
    static const std::vector<std::optional<ApiKey>> kWhat = {std::nullopt, ApiKey::Fetch,
                                                             ApiKey::AlterPartition, ApiKey::BrokerHeartbeat};
    hold_between(from, to, rng_.pick(kWhat), milliseconds(50), seconds(5));
}

void Chaos::slow() {
    const milliseconds high(rng_.between(2, 60));
    cluster_.say(fmt::format("delays up to {} ms", high.count()));
    cluster_.network().set_delay(milliseconds(1), high);
    until(milliseconds(500), seconds(4), [this] {
        cluster_.say("delays as usual");
        cluster_.network().set_delay(std::chrono::microseconds(50), std::chrono::microseconds(500));
    });
}

/// An operator wants the first replica back as the leader; not a fault, but an election in the middle of
/// whatever goes on. Any broker passes it on.
void Chaos::elect_preferred() {
    if (admin_.busy()) return;
    const TopicPartition partition = rng_.pick(cluster_.partitions());
    cluster_.say(fmt::format("preferred election of {}", partition.to_string()));
    admin_.call<wire::ElectLeadersResponse>(
        broker(), test::elect_preferred_request(partition.topic, partition.partition),
        test::kElectLeadersVersion, seconds(3), [](const Result<wire::ElectLeadersResponse>&) {});
}

/// Waits until nothing is broken, takes one broker's unflushed bytes, and keeps everything else whole until
/// no ISR counts on it any more.
void Chaos::lose_power() {
    draining_ = true;
    const auto whole = [this] {
        return active_ == 0 &&
               std::all_of(kBrokers.begin(), kBrokers.end(),
                           [this](BrokerId id) { return cluster_.running(id); }) &&
               cluster_.running(kController) && cluster_.all_in_sync();
    };
    when(whole, [this] {
        const BrokerId id = broker();
        cluster_.lose_power(id);
        const bool at_once = rng_.chance(50);
        later(milliseconds(20), at_once ? milliseconds(50) : seconds(6), [this, id] {
            if (!cluster_.running(id)) cluster_.launch(id);
        });
        const auto out = [this, id] {
            const auto partitions = cluster_.partitions();
            return cluster_.running(kController) &&
                   std::none_of(partitions.begin(), partitions.end(), [&](const TopicPartition& partition) {
                       const std::vector<BrokerId> isr = cluster_.isr(partition);
                       return std::find(isr.begin(), isr.end(), id) != isr.end();
                   });
        };
        when(out, [this] { draining_ = false; });
    });
}

}  // namespace highwater::sim
