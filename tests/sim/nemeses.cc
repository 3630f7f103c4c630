// Chaos: sequences aimed at the leader and at one kind of message, from which the known mistakes of
// replicated logs come.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "tests/sim/chaos.h"
#include "wire/api_table.h"

namespace highwater::sim {

using wire::ApiKey;

void Chaos::nemesis() {
    switch (rng_.below(8)) {
        case 0:
            return hold_metadata();
        case 1:
            return hold_alter_partition();
        case 2:
        case 3:
            return starve_follower();
        case 4:
            return slow_metadata();
        case 5:
            return co_partition();
        case 6:
            return silence_leader();
        default:
            return kill_all();
    }
}

void Chaos::hold_between(BrokerId from, BrokerId to, std::optional<ApiKey> api, Duration low, Duration high) {
    cluster_.say(fmt::format("hold {} -> {} {}", from, to, api ? wire::api_name(*api) : "everything"));
    cluster_.network().hold(from, to, api);
    until(low, high, [this, from, to] {
        cluster_.say(fmt::format("release {} -> {}", from, to));
        cluster_.network().release(from, to);
    });
}

/// One broker, often the leader, hears nothing new from the controller but goes on.
void Chaos::hold_metadata() {
    const BrokerId to = rng_.chance(50) ? leader().value_or(broker()) : broker();
    hold_between(kController, to, ApiKey::Fetch, milliseconds(100), seconds(5));
    if (rng_.chance(50)) silence_leader();
}

/// The leader's proposal, or its answer, is late; meanwhile somebody may fall behind.
void Chaos::hold_alter_partition() {
    const BrokerId at = leader().value_or(broker());
    if (rng_.chance(50))
        hold_between(at, kController, ApiKey::AlterPartition, milliseconds(300), seconds(6));
    else
        hold_between(kController, at, ApiKey::AlterPartition, milliseconds(300), seconds(6));
    if (rng_.chance(60)) starve_follower();
}

/// A follower gets nothing for so long that it falls out of the ISR, or nearly.
void Chaos::starve_follower() {
    const BrokerId at = leader().value_or(broker());
    const BrokerId follower = another(at);
    if (rng_.chance(50))
        hold_between(follower, at, ApiKey::Fetch, seconds(1), seconds(6));
    else
        hold_between(at, follower, ApiKey::Fetch, seconds(1), seconds(6));
}

/// Everything from the controller reaches one broker late.
void Chaos::slow_metadata() {
    const BrokerId to = leader().value_or(broker());
    const milliseconds by(rng_.between(100, 1200));
    cluster_.say(fmt::format("{} -> {} takes {} ms more", kController, to, by.count()));
    cluster_.network().slow_path(kController, to, by);
    until(seconds(2), seconds(10), [this, to] {
        cluster_.say(fmt::format("{} -> {} as usual", kController, to));
        cluster_.network().slow_path(kController, to, Duration{0});
    });
    if (rng_.chance(70)) starve_follower();
}

/// The leader and one follower on one side, the controller and the rest on the other.
void Chaos::co_partition() {
    const BrokerId at = leader().value_or(broker());
    const BrokerId with = another(at);
    std::vector<std::pair<BrokerId, BrokerId>> cuts;
    for (const BrokerId inside : {at, with}) {
        cuts.emplace_back(inside, kController);
        for (const BrokerId outside : kBrokers) {
            if (outside != at && outside != with) cuts.emplace_back(inside, outside);
        }
    }
    cluster_.say(fmt::format("{} and {} are alone", at, with));
    for (const auto& [a, b] : cuts) cluster_.network().cut(a, b);
    until(seconds(1), seconds(8), [this, cuts] {
        cluster_.say("and rejoin");
        for (const auto& [a, b] : cuts) cluster_.network().mend(a, b);
    });
}

/// Only the leader's heartbeats stop: it is fenced and keeps thinking that it leads, for as long as its
/// metadata is held as well.
void Chaos::silence_leader() {
    const BrokerId at = leader().value_or(broker());
    hold_between(at, kController, ApiKey::BrokerHeartbeat, seconds(2), seconds(5));
}

/// All brokers die one after the other and come back in any order.
void Chaos::kill_all() {
    std::vector<BrokerId> order = kBrokers;
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[rng_.below(i)]);
    for (const BrokerId id : order) {
        ++active_;
        later(Duration{0}, milliseconds(2500), [this, id] {
            --active_;
            cluster_.kill(id);
            until(milliseconds(100), seconds(6), [this, id] {
                if (!cluster_.running(id)) cluster_.launch(id);
            });
        });
    }
}

}  // namespace highwater::sim
