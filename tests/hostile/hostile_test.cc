// Random bytes and mutated real frames against a running cluster, on every listener. Afterwards, and while it
// goes on, the cluster serves; memory and log files stay bounded; what was acknowledged is still there.
// HIGHWATER_NIGHTLY=1: a million random frames and a hundred thousand mutated ones; otherwise a tenth.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "base/rng.h"
#include "tests/fuzz/mutate.h"
#include "tests/hostile/flood.h"
#include "tests/node_broker/cluster_fixture.h"
#include "tests/wire/golden_frames.h"

namespace highwater::test {
namespace {

bool nightly() { return std::getenv("HIGHWATER_NIGHTLY") != nullptr; }

constexpr std::uint64_t kSeed = 20261130;
constexpr BrokerId kController = ProcessCluster::kController;
#ifdef __SANITIZE_ADDRESS__
constexpr std::int64_t kMemory = 2LL << 30U;
#else
constexpr std::int64_t kMemory = 32LL << 20U;
#endif
constexpr std::uintmax_t kLogBytes = 512U << 10U;

class HostileTest : public ClusterTest {
protected:
    void SetUp() override {
        start_with_topic({{1, 2, 3}});
        for (const BrokerId id : {1, 2, 3}) {
            for (const std::uint16_t port :
                 {nemesis::kInternalPort, nemesis::kClientPort, nemesis::kDirectPort})
                listeners_.push_back({cluster().plan().real_address(id), port});
        }
        listeners_.push_back({cluster().plan().real_address(kController), nemesis::kControllerPort});
        std::vector<std::string> sources;
        for (int i = 1; i <= 40; ++i)
            sources.push_back(fmt::format("127.{}.253.{}", cluster().plan().slot(), i));
        flood_.emplace(std::move(sources));
        for (const BrokerId id : kProcesses) before_[id] = resident_bytes(cluster().pid(id));
    }

    /// Whole requests as real clients and brokers sent them, and some about this cluster's own topics.
    std::vector<Bytes> real_requests() {
        std::vector<Bytes> frames;
        for (const char* file : {"captured_frames.jsonl.gz", "controller_frames.jsonl.gz"}) {
            for (const GoldenFrame& golden : read_golden_frames(file)) {
                const std::string_view name = golden.message;
                if (!name.ends_with("Request")) continue;
                const wire::ApiInfo* api = wire::find_api(name.substr(0, name.size() - 7));
                if (api == nullptr) continue;
                ByteWriter frame;
                wire::write_request_header(frame, {api->key, golden.version, 7, "hostile"});
                frame.raw(golden.bytes);
                frames.push_back(frame.take());
            }
        }
        for (int i = 0; i < 20; ++i) {
            frames.push_back(wire::encode_request(produce_request(kTarget, 0, -1, 50, batch_of({1, 2}, 1)),
                                                  kProduceVersion, i, "hostile"));
            frames.push_back(
                wire::encode_request(fetch_request(kTarget, 0, 0, 10), kFetchVersion, i, "hostile"));
            frames.push_back(
                wire::encode_request(create_topic_request(fmt::format("made-{}", i), {{1, 2}}, {}),
                                     kCreateTopicsVersion, i, "hostile"));
        }
        return frames;
    }

    void acknowledge_one() {
        const auto leader = [this] { return view_of(1, 0).leader; };
        acked_.push_back(1000 + acked_.size());
        produce(leader, {acked_.back()});
    }

    /// Sends `count` inputs of `make`, with an acknowledged record every now and then.
    template <class Make>
    void flood(int count, Make make) {
        Rng rng(kSeed);
        const int pause = std::max(1, count / 10);
        int unreached = 0;
        for (int i = 0; i < count && !HasFailure(); ++i) {
            if (!flood_->send(rng.pick(listeners_), make(rng))) ++unreached;
            if (i % pause == 0) acknowledge_one();
        }
        EXPECT_EQ(flood_->finish(seconds(60)), 0) << "connections that the nodes keep open";
        // A listener whose backlog is full for a moment is no failure; one that is gone is.
        EXPECT_LT(unreached, count / 100 + 1);
    }

    void expect_unharmed() {
        for (const BrokerId id : kProcesses) {
            EXPECT_TRUE(cluster().alive(id)) << id << "\n" << cluster().output(id);
            if (HasFailure()) return;
            const std::int64_t grown = resident_bytes(cluster().pid(id)) - before_[id];
            const std::uintmax_t logged = std::filesystem::file_size(cluster().directory(id) + "/stdout.log");
            fmt::print("node {}: {} KiB more memory, {} KiB of log\n", id, grown / 1024, logged / 1024);
            EXPECT_LT(grown, kMemory) << "memory of " << id;
            EXPECT_LT(logged, kLogBytes) << id;
        }
        acknowledge_one();
        const BrokerId leader = view_of(1, 0).leader;
        EXPECT_EQ(read_all(leader), acked_) << "nobody else knows this topic";
        EXPECT_TRUE(eventually(seconds(30), [&] { return view_of(1, 0).isr.size() == 3; }));
    }

    const std::vector<BrokerId> kProcesses = {1, 2, 3, kController};
    const std::string kTarget = "hostile";
    std::vector<workloads::SocketAddress> listeners_;
    std::optional<Flood> flood_;
    std::map<BrokerId, std::int64_t> before_;
    std::vector<std::uint64_t> acked_;
};

Bytes random_bytes(Rng& rng, std::size_t size) {
    Bytes bytes(size);
    for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(rng.next() >> 56U);
    return bytes;
}

TEST_F(HostileTest, RandomFrames) {
    const auto make = [](Rng& rng) -> Bytes {
        // Some have no frame around them, some a header that leads on to a body.
        Bytes frame = random_bytes(rng, rng.below(200));
        if (rng.chance(20)) return frame;
        if (rng.chance(50) && frame.size() > 8) {
            const wire::ApiInfo& api = wire::kApis[rng.below(wire::kApis.size())];
            ByteWriter header;
            header.i16(static_cast<std::int16_t>(api.key));
            header.i16(static_cast<std::int16_t>(rng.below(18)));
            std::copy(header.bytes().begin(), header.bytes().end(), frame.begin());
        }
        return wire::with_length_prefix(frame);
    };
    flood(nightly() ? 1'000'000 : 100'000, make);
    expect_unharmed();
}

TEST_F(HostileTest, MutatedRealFrames) {
    const auto created = cluster().client(1).call<wire::CreateTopicsResponse>(
        create_topic_request(kTarget, {{1, 2, 3}}, {}), kCreateTopicsVersion);
    ASSERT_TRUE(created) << created.error().message;
    const std::vector<Bytes> real = real_requests();
    ASSERT_GT(real.size(), 100U);
    constexpr int kFramesAtOnce = 4;
    const auto make = [&](Rng& rng) {
        // A connection ends at the first frame that cannot be read; the ones before it are answered.
        Bytes bytes;
        for (int i = 0; i < kFramesAtOnce; ++i) {
            Bytes frame = rng.pick(real);
            if (!rng.chance(10)) fuzz::mutate(rng, frame, rng.pick(real), 1U << 16U);
            Bytes prefixed = wire::with_length_prefix(frame);
            if (rng.chance(5)) fuzz::mutate(rng, prefixed, frame, 1U << 16U);
            bytes.insert(bytes.end(), prefixed.begin(), prefixed.end());
        }
        return bytes;
    };
    flood((nightly() ? 100'000 : 10'000), make);
    EXPECT_GT(flood_->answered(), 100U) << "most of them were not even requests";
    fmt::print("{} connections got answers\n", flood_->answered());
    expect_unharmed();
}

}  // namespace
}  // namespace highwater::test
