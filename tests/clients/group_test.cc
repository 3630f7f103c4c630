// Consumer groups with real clients and real processes: two members share a topic, their coordinator is
// killed, and nothing that was committed is read again.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <sstream>

#include "tests/clients/clients_fixture.h"
#include "wire/messages/find_coordinator.h"

namespace highwater::test {
namespace {

class GroupTest : public ClientsTest {
protected:
    static constexpr const char* kTopic = "shared";

    void create_shared() {
        const auto created = cluster().client(1).call<wire::CreateTopicsResponse>(
            create_topic_request(kTopic, {{1, 2, 3}, {2, 3, 1}}, {}), kCreateTopicsVersion);
        ASSERT_TRUE(created) << created.error().message;
        ASSERT_EQ(created->topics.at(0).error_code, wire::ErrorCode::None);
    }
    void produce(int from, int to) {
        std::string lines;
        for (int i = from; i < to; ++i) lines += fmt::format("{}\n", i);
        const std::string file = files_.path() + "/lines";
        write_file(file, lines);
        const Outcome done = run("kcat", {"-P", "-b", bootstrap(), "-t", kTopic, "-X", "acks=all", "-X",
                                          "sticky.partitioning.linger.ms=0", "-l", file});
        ASSERT_EQ(done.code, 0) << done.output;
    }
    /// How often each value was read and committed, by all members.
    std::map<std::string, int> seen() const {
        std::map<std::string, int> counts;
        for (const char* member : {"/first", "/second"}) {
            std::istringstream lines(read_file(files_.path() + member));
            for (std::string value; std::getline(lines, value);) ++counts[value];
        }
        return counts;
    }
    [[nodiscard]] std::size_t lines_of(const std::string& member) const {
        const std::string text = read_file(files_.path() + member);
        return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
    }
    BrokerId coordinator(BrokerId asked) {
        wire::FindCoordinatorRequest request;
        request.coordinator_keys = {"readers"};
        const auto answer = cluster().client(asked).call<wire::FindCoordinatorResponse>(request, 6);
        return answer ? answer->coordinators.at(0).node_id : kNoBroker;
    }
    Result<harness::Child> member(const std::string& name) {
        write_file(files_.path() + name, "");
        return start_python("group.py", {"consume", bootstrap(), kTopic, files_.path() + name},
                            files_.path() + name + ".output");
    }
    void expect_end(Result<harness::Child>& child, const std::string& name) {
        write_file(files_.path() + name + ".stop", "");
        const auto status = child->wait_exit(monotonic_now() + seconds(60));
        ASSERT_TRUE(status) << name << " still runs";
        EXPECT_EQ(status->code, 0) << read_file(files_.path() + name + ".output");
    }
};

TEST_F(GroupTest, OffsetsAndMembersSurviveTheDeathOfTheCoordinator) {
    create_shared();
    auto first = member("/first");
    ASSERT_TRUE(first) << first.error().message;
    auto second = member("/second");
    ASSERT_TRUE(second) << second.error().message;
    int produced = 0;
    // Until both have a partition: the second may join after the first generation.
    ASSERT_TRUE(eventually(seconds(60), [&] {
        produce(produced, produced + 100);
        produced += 100;
        return lines_of("/first") > 0 && lines_of("/second") > 0;
    })) << read_file(files_.path() + "/first.output");
    ASSERT_TRUE(eventually(seconds(60), [&] { return seen().size() == static_cast<std::size_t>(produced); }));

    const BrokerId dead = coordinator(1);
    ASSERT_NE(dead, kNoBroker);
    cluster().kill(dead);
    const BrokerId alive = dead % 3 + 1;
    ASSERT_TRUE(eventually(seconds(60), [&] {
        const BrokerId next = coordinator(alive);
        return next != kNoBroker && next != dead;
    }));
    produce(produced, produced + 100);
    produced += 100;
    ASSERT_TRUE(eventually(seconds(60), [&] { return seen().size() == static_cast<std::size_t>(produced); }))
        << seen().size() << " of " << produced;
    expect_end(first, "/first");
    expect_end(second, "/second");
    // What a member read but could not commit it does not count: so each value is there once.
    for (const auto& [value, times] : seen()) EXPECT_EQ(times, 1) << value;
    const Outcome committed = python("group.py", {"committed", bootstrap(), kTopic});
    EXPECT_EQ(committed.output, fmt::format("{}\n", produced));
}

TEST_F(GroupTest, KcatReadsAsAMember) {
    create_shared();
    produce(0, 50);
    const auto read = [&] {
        const Outcome done = run("kcat", {"-b", bootstrap(), "-e", "-q", "-X", "auto.offset.reset=earliest",
                                          "-G", "kcats", kTopic});
        EXPECT_EQ(done.code, 0) << done.output;
        std::map<std::string, int> values;
        std::istringstream lines(done.output);
        for (std::string line; std::getline(lines, line);) ++values[line];
        return values.size();
    };
    EXPECT_EQ(read(), 50U);
    produce(50, 60);
    EXPECT_EQ(read(), 10U) << "it goes on where it was";
}

}  // namespace
}  // namespace highwater::test
