// Goal: partitions cut what they say and nothing else; roles name whom they mean. Method: small clusters, all
// paths written down.
#include "nemesis/grudge.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "nemesis/node_spec.h"
#include "tests/nemesis/set_facts.h"

namespace highwater::nemesis {
namespace {

const Members kMembers{{1, 2, 3}, {100}, {150}};
constexpr Planes kPeers{.data = true, .controller = true, .client = false};

TEST(Grudge, IsolateCutsEveryPathOfThePlanes) {
    EXPECT_EQ(isolate({1}, kMembers, Way::Both, kPeers),
              (Grudge{{1, 2}, {1, 3}, {1, 100}, {2, 1}, {3, 1}, {100, 1}}));
    EXPECT_EQ(isolate({1}, kMembers, Way::Out, {.data = true, .controller = false, .client = false}),
              (Grudge{{1, 2}, {1, 3}}));
    EXPECT_EQ(isolate({1}, kMembers, Way::In, {.data = false, .controller = false, .client = true}),
              (Grudge{{150, 1}}));
    // Several stay together.
    const Grudge pair = isolate({1, 2}, kMembers, Way::Both, kPeers);
    EXPECT_EQ(pair, (Grudge{{1, 3}, {1, 100}, {2, 3}, {2, 100}, {3, 1}, {3, 2}, {100, 1}, {100, 2}}));
    // Nothing connects a controller with clients.
    EXPECT_EQ(isolate({100}, kMembers, Way::Both, {.data = false, .controller = false, .client = true}),
              Grudge{});
}

TEST(Grudge, BetweenTwoSides) {
    EXPECT_EQ(between({1, 2}, {100}, Way::Both, {}), (Grudge{{1, 100}, {2, 100}, {100, 1}, {100, 2}}));
    EXPECT_EQ(between({1}, {2, 3}, Way::Out, {}), (Grudge{{1, 2}, {1, 3}}));
    EXPECT_EQ(between({1}, {2, 3}, Way::In, {}), (Grudge{{2, 1}, {3, 1}}));
    EXPECT_EQ(between({1}, {1, 2}, Way::Both, {}), Grudge{})
        << "who stands on both sides is cut off from nobody";
}

/// Whom each hears, itself too.
std::map<BrokerId, std::set<BrokerId>> heard(const std::vector<BrokerId>& ids, const Grudge& paths) {
    std::map<BrokerId, std::set<BrokerId>> result;
    for (const BrokerId id : ids) result[id] = {ids.begin(), ids.end()};
    for (const auto& [source, destination] : paths) result[destination].erase(source);
    return result;
}

TEST(Grudge, InARingEverybodyHearsAnotherMajority) {
    for (const std::vector<BrokerId>& ids :
         {std::vector<BrokerId>{1, 2, 3}, std::vector<BrokerId>{4, 2, 1, 3},
          std::vector<BrokerId>{5, 3, 1, 2, 4}}) {
        std::set<std::set<BrokerId>> majorities;
        for (const auto& [id, others] : heard(ids, ring(ids))) {
            EXPECT_EQ(others.size(), ids.size() / 2 + 1);
            EXPECT_TRUE(others.contains(id));
            majorities.insert(others);
        }
        EXPECT_EQ(majorities.size(), ids.size());
    }
}

TEST(Grudge, ABridgeHearsBothHalves) {
    const std::vector<BrokerId> ids{1, 2, 3, 4, 5};
    const auto hears = heard(ids, bridge(ids, 3));
    EXPECT_EQ(hears.at(3).size(), 5U);
    EXPECT_EQ(hears.at(1), (std::set<BrokerId>{1, 2, 3}));
    EXPECT_EQ(hears.at(5), (std::set<BrokerId>{3, 4, 5}));
    EXPECT_EQ(bridge({1, 2, 3}, 2), (Grudge{{1, 3}, {3, 1}}));
}

class NodeSpecsTest : public testing::Test {
protected:
    std::vector<BrokerId> resolve(const std::string& role, std::uint64_t seed = 1) {
        const auto parsed = parse_role(role);
        EXPECT_TRUE(parsed.has_value()) << role;
        Rng rng(seed);
        const NodeSpecs specs(facts_, {{1, 2, 3, 4, 5}, {100}, {150, 151}},
                              [](const std::string& id) -> std::optional<std::vector<BrokerId>> {
                                  if (id == "lag") return std::vector<BrokerId>{3, 2};
                                  return std::nullopt;
                              });
        return specs.resolve(*parsed, rng);
    }
    SetFacts facts_;
};

TEST_F(NodeSpecsTest, RolesNameWhomTheyMean) {
    EXPECT_EQ(resolve("leader"), (std::vector<BrokerId>{1}));
    EXPECT_EQ(resolve("brokers"), (std::vector<BrokerId>{1, 2, 3, 4, 5}));
    EXPECT_EQ(resolve("client"), (std::vector<BrokerId>{150, 151}));
    EXPECT_EQ(resolve("lag.target"), (std::vector<BrokerId>{3, 2}));
    EXPECT_EQ(resolve("id:3+id:1+id:3"), (std::vector<BrokerId>{3, 1}));
    facts_.leads = kNoBroker;
    EXPECT_TRUE(resolve("leader").empty());
    EXPECT_TRUE(resolve("id:2+leader").empty()) << "a part that nobody holds makes the whole nobody";
}

TEST_F(NodeSpecsTest, RandomRolesComeFromTheSeedAlone) {
    std::set<std::vector<BrokerId>> any;
    std::set<std::vector<BrokerId>> minorities;
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        EXPECT_EQ(resolve("minority", seed), resolve("minority", seed));
        EXPECT_EQ(resolve("minority", seed).size(), 2U);
        EXPECT_EQ(resolve("majority", seed).size(), 3U);
        any.insert(resolve("follower:any", seed));
        minorities.insert(resolve("minority", seed));
        // The second part takes the other one.
        EXPECT_EQ(resolve("id:2+follower:any", seed), (std::vector<BrokerId>{2, 3}));
    }
    EXPECT_EQ(any, (std::set<std::vector<BrokerId>>{{2}, {3}}));
    EXPECT_GT(minorities.size(), 5U);
}

}  // namespace
}  // namespace highwater::nemesis
