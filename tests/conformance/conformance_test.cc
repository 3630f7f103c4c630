// Real clients and Kafka's own tools, unchanged: the same assertions against our node and against Apache
// Kafka, each the other's oracle. docs/conformance.md lists what must have run; HIGHWATER_REWRITE=1 writes it
// anew. HIGHWATER_NIGHTLY=1: the same again and again, and a leader is killed under each client.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <thread>

#include "tests/conformance/page.h"
#include "wire/api_table.h"

namespace highwater::test {
namespace {

constexpr const char* kShort = "short";

/// What kcat, which creates no topics, finds.
void prepare(System& system, const std::string& client, const std::string& prefix) {
    if (client != "kcat") return;
    system.create_topic(prefix + "-lines", 12);
    system.create_topic(prefix + "-grouped", 2);
}

/// Not compared: whether the first two are sent depends on time alone; our node has no groups of the new
/// protocol, which some ask about first.
bool compared(wire::ApiKey key) {
    constexpr auto kConsumerGroupDescribe = static_cast<wire::ApiKey>(69);
    return key != wire::ApiKey::Heartbeat && key != wire::ApiKey::OffsetForLeaderEpoch &&
           key != kConsumerGroupDescribe;
}

/// Of one client, as the page has it.
std::string requests_of(const std::string& client, const System& system) {
    std::vector<std::string> others = client_names();
    std::erase(others, client);
    // The tools call themselves what they like.
    const RequestCounts::Versions seen =
        client == "kafka-tools" ? system.requests().of_others(others) : system.requests().of(client);
    std::vector<std::string> all;
    for (const auto& [key, versions] : seen) {
        if (!compared(key)) continue;
        all.push_back(fmt::format("{} {}", wire::api_name(key), fmt::join(versions, "/")));
    }
    return fmt::format("{}", fmt::join(all, " · "));
}

void judge(const std::string& client, const System& system, const ClientRun& run) {
    const Sut sut = system.sut();
    std::vector<std::string> names;
    for (const OperationRun& operation : run.operations) {
        names.push_back(operation.name);
        fmt::print("conformance {} | {} | {} | {} | {} ms\n", sut_name(sut), client, operation.name,
                   operation.result, operation.milliseconds);
        EXPECT_EQ(operation.result, "ok") << client << " on " << sut_name(sut) << ": " << operation.name;
    }
    EXPECT_EQ(run.exit_code, 0) << client << " (if it is missing: scripts/dev setup)\n" << run.output;
    const std::string requests = requests_of(client, system);
    Page page = Page::load();
    if (Page::rewriting()) {
        page.set(client, sut, run.operations);
        if (sut == Sut::Kafka) page.set_requests(client, requests);
        page.save();
        return;
    }
    std::sort(names.begin(), names.end());
    EXPECT_EQ(names, page.operations(client, sut)) << "docs/conformance.md: HIGHWATER_REWRITE=1 writes it";
    EXPECT_EQ(requests, page.requests(client)) << client << " negotiates other versions";
}

bool nightly() { return std::getenv("HIGHWATER_NIGHTLY") != nullptr; }

/// The same work again on a cluster that has done it before, and leaders that are killed under an idempotent
/// producer, which must lose nothing and repeat nothing. kcat and the tools have no such producer.
void long_form(const std::string& client, System& system) {
    constexpr int kAgain = 5;
    constexpr int kKills = 5;
    const auto expect_ok = [&](const ClientRun& run, const std::string& what) {
        for (const OperationRun& operation : run.operations) {
            EXPECT_EQ(operation.result, "ok")
                << client << " on " << sut_name(system.sut()) << ": " << operation.name;
        }
        EXPECT_FALSE(run.operations.empty()) << client;
        EXPECT_EQ(run.exit_code, 0) << client << " " << what << "\n" << run.output;
    };
    // After a failure there is nothing more to learn.
    if (testing::Test::HasFailure()) return;
    for (int i = 0; i < kAgain && !testing::Test::HasFailure(); ++i) {
        const std::string prefix = fmt::format("{}-again-{}", client, i);
        prepare(system, client, prefix);
        expect_ok(run_client(client, system, prefix), prefix);
    }
    if (client == "kcat" || client == "kafka-tools") return;
    int killed = 0;
    for (int i = 0; i < kKills && !testing::Test::HasFailure(); ++i) {
        const std::string prefix = fmt::format("{}-kill-{}", client, i);
        const auto kill = [&](const std::string& topic) {
            system.kill_leader(topic);
            ++killed;
        };
        expect_ok(run_client(client, system, prefix, "survive a kill", kill), prefix);
        EXPECT_EQ(killed, i + 1) << client;
    }
    fmt::print("conformance {} | {} | {} times more, {} leaders killed\n", sut_name(system.sut()), client,
               kAgain, killed);
}

std::string test_name(const testing::TestParamInfo<std::string>& client) {
    std::string name = client.param;
    std::erase(name, '-');
    return name;
}

class NodeConformance : public testing::TestWithParam<std::string> {};

TEST_P(NodeConformance, EveryOperation) {
    System system(Sut::Node);
    ASSERT_TRUE(system.started());
    prepare(system, GetParam(), kShort);
    judge(GetParam(), system, run_client(GetParam(), system, kShort));
    if (nightly()) long_form(GetParam(), system);
    EXPECT_EQ(system.crashes(), std::vector<std::string>{});
    // A client whose request was not understood is closed with a warning.
    EXPECT_EQ(system.output().find("WARN closing connection"), std::string::npos) << system.output();
}

INSTANTIATE_TEST_SUITE_P(Clients, NodeConformance, testing::ValuesIn(client_names()), test_name);

// One start of four JVMs for all of them; the clients mostly wait, so some run at once.
TEST(KafkaConformance, EveryOperation) {
    constexpr std::size_t kAtOnce = 3;
    System system(Sut::Kafka);
    ASSERT_TRUE(system.started());
    for (const std::string& client : client_names()) prepare(system, client, client);
    std::vector<ClientRun> runs(client_names().size());
    std::atomic<std::size_t> next = 0;
    std::vector<std::thread> workers;
    for (std::size_t i = 0; i < kAtOnce; ++i) {
        workers.emplace_back([&] {
            for (std::size_t mine = next++; mine < runs.size(); mine = next++) {
                // The longest ones are the last of the list.
                const std::size_t at = runs.size() - 1 - mine;
                runs[at] = run_client(client_names()[at], system, client_names()[at]);
            }
        });
    }
    for (std::thread& worker : workers) worker.join();
    for (std::size_t i = 0; i < runs.size(); ++i) judge(client_names()[i], system, runs[i]);
    for (const std::string& client : client_names()) {
        if (nightly()) long_form(client, system);
    }
    EXPECT_EQ(system.crashes(), std::vector<std::string>{});
}

class UncleanByTheTool : public testing::TestWithParam<Sut> {};

TEST_P(UncleanByTheTool, ElectsWhoIsThereWhereNobodyMayLead) {
    System system(GetParam());
    ASSERT_TRUE(system.started());
    const ClientRun run =
        run_client("kafka-tools", system, "unclean", "kafka-leader-election unclean where nobody leads",
                   [&](const std::string& topic) { system.strand(topic); });
    ASSERT_EQ(run.operations.size(), 1U) << run.output;
    EXPECT_EQ(run.operations[0].result, "ok") << run.output;
    EXPECT_EQ(system.crashes(), std::vector<std::string>{});
}

INSTANTIATE_TEST_SUITE_P(Conformance, UncleanByTheTool, testing::Values(Sut::Node, Sut::Kafka),
                         [](const auto& sut) {
                             return std::string(sut.param == Sut::Node ? "Node" : "Kafka");
                         });

}  // namespace
}  // namespace highwater::test
