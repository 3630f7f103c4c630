// highwater-relay-bench: how exactly the relays delay, on an idle machine and with every core busy, beside
// the budget; and what they carry. Prints, asserts nothing.
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/time.h"
#include "nemesis/network.h"
#include "tests/nemesis/frame_peer.h"

namespace highwater::nemesis {
namespace {

constexpr Duration kBudget = milliseconds(1);
constexpr Duration kDelay = milliseconds(50);

/// Threads that want a core each, as ordinary processes do.
class BusyCores {
public:
    explicit BusyCores(unsigned count) {
        for (unsigned i = 0; i < count; ++i) {
            threads_.emplace_back([this] {
                std::uint64_t x = 1;
                while (!stop_.load(std::memory_order_relaxed)) x = x * 6364136223846793005ULL + 1;
                sink_ += x;
            });
        }
    }
    ~BusyCores() {
        stop_ = true;
        for (std::thread& thread : threads_) thread.join();
    }

private:
    std::atomic<bool> stop_{false};
    std::atomic<std::uint64_t> sink_{0};
    std::vector<std::thread> threads_;
};

/// One relay, its path 2->1 delayed; `frames` small frames, one each `gap`.
Result<Lateness> measure(int frames, Duration gap, std::string& scheduling) {
    auto claim = SlotClaim::claim();
    if (!claim) return tl::make_unexpected(claim.error());
    const AddressPlan& plan = claim->plan();
    FrameServer server(plan.real_address(1), kInternalPort);
    auto network = Network::start(plan, {{1, 2}, {}, {}}, {});
    if (!network) return tl::make_unexpected(network.error());
    const FaultEffect added = (*network)->add_rule(
        {.id = "slow", .source = 2, .destination = 1, .kind = FaultKind::Delay, .delay = kDelay});
    if (!added.ok) return failure(added.detail);
    FrameClient client;
    if (client.connect(plan.address(2, 1), kInternalPort) != 0) return failure("cannot connect to the relay");
    Instant next = monotonic_now();
    for (int i = 0; i < frames; ++i) {
        if (!client.send({wire::ApiKey::Fetch, i, 100})) return failure("the connection is lost");
        next = next + gap;
        std::this_thread::sleep_for(std::max(next - monotonic_now(), Duration{0}));
    }
    if (!eventually([&] { return server.received().size() == static_cast<std::size_t>(frames); }))
        return failure("not every frame came");
    scheduling = (*network)->scheduling();
    return (*network)->lateness();
}

void print(const std::string& name, const Lateness& late) {
    fmt::print(
        "{:<28} {:>6} frames, late by p50 {:.3f} ms, p99 {:.3f} ms, max {:.3f} ms; p99 is {:.2f} of the "
        "budget\n",
        name, late.count, to_millis(late.p50), to_millis(late.p99), to_millis(late.max),
        to_millis(late.p99) / to_millis(kBudget));
}

int run(int frames) {
    fmt::print("delay {} ms, budget of its error at p99 {} ms on an idle machine\n", to_millis(kDelay),
               to_millis(kBudget));
    const unsigned cores = std::max(1U, std::thread::hardware_concurrency());
    for (const unsigned busy : {0U, cores}) {
        std::unique_ptr<BusyCores> others;
        if (busy > 0) others = std::make_unique<BusyCores>(busy);
        std::string scheduling;
        const auto late = measure(frames, milliseconds(1), scheduling);
        if (!late) {
            fmt::print(stderr, "{}\n", late.error().message);
            return 1;
        }
        if (busy == 0) fmt::print("the relay thread has {}\n", scheduling);
        print(busy == 0 ? "as the machine is" : fmt::format("with {} busy threads more", busy), *late);
    }
    return 0;
}

}  // namespace
}  // namespace highwater::nemesis

int main(int argc, char** argv) {
    return highwater::nemesis::run(argc > 1 ? std::max(1, std::atoi(argv[1])) : 5000);
}
