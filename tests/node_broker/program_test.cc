// highwater-node as a program: arguments, configurations it refuses, and what it says before it exits.
#include <gtest/gtest.h>

#include "tests/node_broker/process_cluster.h"

namespace highwater::test {
namespace {

struct Outcome {
    int code = -1;
    std::string output;
};

class ProgramTest : public testing::Test {
protected:
    Outcome run(const std::vector<std::string>& args) {
        harness::ChildOptions options;
        options.program = HW_BIN_DIR "/highwater-node";
        options.args = args;
        options.output_file = directory_.path() + "/output";
        write_file(options.output_file, "");
        auto child = harness::Child::launch(options);
        EXPECT_TRUE(child) << child.error().message;
        if (!child) return {};
        const auto status = child->wait_exit(monotonic_now() + seconds(20));
        EXPECT_TRUE(status) << "still running: " << read_file(options.output_file);
        return {status ? status->code : -1, read_file(options.output_file)};
    }

    std::string properties(const std::string& extra) {
        const std::string path = directory_.path() + "/server.properties";
        write_file(path,
                   "node.id=1\nprocess.roles=broker\ncontroller.quorum.voters=100@127.0.0.1:1\nlog.dirs=" +
                       directory_.path() + "/data\nhighwater.cluster.id=MkU3OEVBNTcwNTJENDM2Qk\n" + extra);
        return path;
    }

    void expect_refused(const Outcome& outcome, const std::string& said) {
        EXPECT_EQ(outcome.code, 64) << outcome.output;
        EXPECT_NE(outcome.output.find(said), std::string::npos) << outcome.output;
    }

    TemporaryDirectory directory_;
};

TEST_F(ProgramTest, UnknownArgumentsShowTheUsage) {
    for (const std::vector<std::string>& args : {std::vector<std::string>{},
                                                 {"--frob"},
                                                 {"a.properties", "b.properties"},
                                                 {"a.properties", "--override"},
                                                 {"a.properties", "--override", "=1"},
                                                 {"a.properties", "--override=novalue"}}) {
        expect_refused(run(args), "usage: highwater-node server.properties");
    }
    EXPECT_EQ(run({"--help"}).code, 0);
}

TEST_F(ProgramTest, BadConfigurationIsOneLineThatNamesThePlace) {
    expect_refused(run({"/nonexistent.properties"}), "/nonexistent.properties");
    const std::string unknown = properties("listeners=INTERNAL://127.0.0.1:9\nno.such.key=1\n");
    expect_refused(run({unknown}), unknown + ":7: unknown key no.such.key");
    expect_refused(
        run({properties("listeners=INTERNAL://127.0.0.1:9\n"), "--override", "min.insync.replicas=many"}),
        "min.insync.replicas");
    expect_refused(run({properties("listeners=INTERNAL://127.0.0.1:9\nhighwater.bugs=no_such_bug\n")}),
                   "no_such_bug");
    expect_refused(run({properties("listeners=INTERNAL://127.0.0.1:9\nhighwater.hosts.file=/nonexistent\n")}),
                   "/nonexistent");
}

TEST_F(ProgramTest, ListensOnLoopbackOnly) {
    for (const std::string address : {"0.0.0.0", "10.1.2.3", "8.8.8.8"}) {
        expect_refused(run({properties("listeners=INTERNAL://" + address + ":19091\n")}),
                       address + " is not a loopback address");
    }
}

TEST_F(ProgramTest, OtherAddressesNeedAWordOfTheirOwn) {
    // An address for documentation, which no machine has: it is tried, and nothing listens anywhere.
    const Outcome tried =
        run({properties("listeners=INTERNAL://203.0.113.1:19091\nhighwater.allow.non.loopback=true\n")});
    EXPECT_EQ(tried.code, 70) << tried.output;
    EXPECT_NE(tried.output.find("cannot listen on 203.0.113.1:19091"), std::string::npos) << tried.output;
}

TEST_F(ProgramTest, AnAddressInUseIsSaid) {
    ProcessCluster cluster;
    cluster.launch(1);
    ASSERT_TRUE(eventually(seconds(20), [&] {
        return cluster.output(1).find("INFO started broker 1 on") != std::string::npos;
    }));
    const Outcome second =
        run({properties("listeners=INTERNAL://" + cluster.plan().real_address(1) + ":19091\n")});
    EXPECT_EQ(second.code, 70) << second.output;
    EXPECT_NE(second.output.find("Address already in use"), std::string::npos) << second.output;
}

TEST_F(ProgramTest, BugsAreAnnounced) {
    ProcessCluster cluster("highwater.bugs=Z06\n");
    cluster.launch(1);
    EXPECT_TRUE(eventually(seconds(20), [&] {
        return cluster.output(1).find("INFO started broker 1 on") != std::string::npos;
    }));
    EXPECT_NE(cluster.output(1).find("WARN bug serve_above_hw (Z06) is on"), std::string::npos)
        << cluster.output(1);
}

TEST_F(ProgramTest, StopsWithoutAController) {
    ProcessCluster cluster;
    cluster.launch(1);
    ASSERT_TRUE(eventually(seconds(20), [&] {
        return cluster.output(1).find("INFO started broker 1 on") != std::string::npos;
    }));
    EXPECT_EQ(cluster.terminate(1).code, 143);
}

}  // namespace
}  // namespace highwater::test
