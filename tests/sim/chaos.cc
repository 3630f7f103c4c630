#include "tests/sim/chaos.h"

#include <fmt/format.h>

#include "wire/api_table.h"

namespace highwater::sim {

void Chaos::later(Duration low, Duration high, std::function<void()> action) {
    cluster_.scheduler().after(Duration{rng_.between(low.count(), high.count())},
                               [this, act = std::move(action)] {
                                   if (!stopped_) act();
                               });
}

void Chaos::next() {
    later(milliseconds(100), milliseconds(2500), [this] {
        one();
        next();
    });
}

void Chaos::one() {
    switch (rng_.below(10)) {
        case 0:
        case 1:
            return kill();
        case 2:
        case 3:
            return pause();
        case 4:
            return terminate();
        case 5:
            return cut();
        case 6:
            return isolate();
        case 7:
        case 8:
            return hold();
        default:
            return slow();
    }
}

void Chaos::kill() {
    const BrokerId id = process();
    if (!cluster_.running(id)) return;
    cluster_.kill(id);
    later(milliseconds(20), seconds(6), [this, id] {
        if (!cluster_.running(id)) cluster_.launch(id);
    });
}

void Chaos::pause() {
    const BrokerId id = process();
    cluster_.pause(id);
    later(milliseconds(20), seconds(6), [this, id] { cluster_.resume(id); });
}

void Chaos::terminate() {
    const BrokerId id = broker();
    cluster_.terminate(id);
    later(seconds(1), seconds(6), [this, id] {
        // One that still waits for its release, or never saw the signal, has lost its operator's patience.
        cluster_.kill(id);
        cluster_.launch(id);
    });
}

void Chaos::cut() {
    const BrokerId a = broker();
    const BrokerId b = process();
    if (a == b) return;
    cluster_.say(fmt::format("cut {} and {}", a, b));
    cluster_.network().cut(a, b);
    later(milliseconds(100), seconds(6), [this, a, b] {
        cluster_.say(fmt::format("mend {} and {}", a, b));
        cluster_.network().mend(a, b);
    });
}

void Chaos::isolate() {
    const BrokerId id = broker();
    const bool with_controller = rng_.chance(50);
    cluster_.say(fmt::format("isolate {}{}", id, with_controller ? "" : " from brokers"));
    for (const BrokerId other : {kController, 1, 2, 3}) {
        if (other != id && (other != kController || with_controller)) cluster_.network().cut(id, other);
    }
    later(milliseconds(100), seconds(6), [this, id] {
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
    const std::optional<ApiKey> api = rng_.pick(kWhat);
    cluster_.say(fmt::format("hold {} -> {} {}", from, to, api ? wire::api_name(*api) : "everything"));
    cluster_.network().hold(from, to, api);
    later(milliseconds(50), seconds(5), [this, from, to] {
        cluster_.say(fmt::format("release {} -> {}", from, to));
        cluster_.network().release(from, to);
    });
}

void Chaos::slow() {
    const milliseconds high(rng_.between(2, 60));
    cluster_.say(fmt::format("delays up to {} ms", high.count()));
    cluster_.network().set_delay(milliseconds(1), high);
    later(milliseconds(500), seconds(4), [this] {
        cluster_.say("delays as usual");
        cluster_.network().set_delay(std::chrono::microseconds(50), std::chrono::microseconds(500));
    });
}

}  // namespace highwater::sim
