// Fault sequences that were reported of other harnesses and clusters, played here: a stop that had to be
// escalated, a follower whose replication alone is cut, a broker behind a wrapper script.
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/e2e/program.h"

namespace highwater::test {
namespace {

struct Played {
    TempDir dir;
    Json run;
    Json schedule;
    std::vector<Json> history;
    std::vector<Json> trace;

    [[nodiscard]] Json fault(const std::string& id) const {
        for (const Json& one : schedule["faults"]) {
            if (one["id"] == id) return one;
        }
        ADD_FAILURE() << "no fault " << id << " in " << schedule["faults"];
        return Json::object();
    }
};

std::vector<Json> parse_lines(const std::string& file) {
    std::vector<Json> lines;
    for (const std::string& line : lines_of(read_text(file))) lines.push_back(Json::parse(line));
    return lines;
}

void play(Played& played, const std::string& scenario) {
    const Ended ended = run_scenario(played.dir, scenario);
    played.run = ended.json();
    ASSERT_TRUE(played.run.is_object()) << ended.err;
    ASSERT_EQ(played.run["verdict"], "valid") << ended.out << ended.err;
    const std::string run_dir = played.run["run_dir"];
    played.schedule = Json::parse(read_text(run_dir + "/schedule.json"));
    played.history = parse_lines(run_dir + "/history.jsonl");
    played.trace = parse_lines(run_dir + "/trace.jsonl");
}

std::string testdata(const std::string& name) { return std::string(HW_TEST_DATA) + "/" + name; }

TEST(ReplicationCut, TheLeaderShrinksTheIsrAndNobodyIsFenced) {
    Played played;
    ASSERT_NO_FATAL_FAILURE(play(played, testdata("replication-cut.toml")));
    const std::int64_t shrunk = played.fault("cut-off")["completed"];
    const std::int64_t mended = played.fault("mended")["requested"];
    bool by_alter_partition = false;
    for (const Json& line : played.trace) {
        const std::string kind = line.value("e", "");
        if (kind == "fence") {
            EXPECT_EQ(line["reason"], "registered") << line;
        }
        if (kind == "partition" && line["isr"] == Json({1, 2}))
            by_alter_partition = by_alter_partition || line["cause"] == "alter-partition";
    }
    EXPECT_TRUE(by_alter_partition);
    int acked = 0;
    for (const Json& line : played.trace) {
        const bool between = line["t"] > shrunk && line["t"] < mended;
        if (!between || line.value("e", "") != "ack" || line["acks"] != -1) continue;
        EXPECT_EQ(line["isr"], Json({1, 2})) << line;
        EXPECT_EQ(line.value("error", 0), 0) << line;
        ++acked;
    }
    EXPECT_GT(acked, 100) << "acks=all goes on with two of three";
    EXPECT_EQ(played.run["anomalies"].value("lost-committed", 0), 0);
}

TEST(EscalatedStop, IsToldAsAKill) {
    Played played;
    ASSERT_NO_FATAL_FAILURE(play(played, testdata("escalated-stop.toml")));
    const Json stop = played.fault("stop");
    EXPECT_EQ(stop["ended_by"], "SIGKILL") << stop;
    EXPECT_NE(stop["proof"].get<std::string>().find("still there after 2s, SIGKILL"), std::string::npos)
        << stop;
    EXPECT_GE(stop["completed"].get<std::int64_t>() - stop["effective"].get<std::int64_t>(), 2'000'000'000);
    int killed = 0;
    for (const Json& operation : played.history) {
        if (operation.value("op", "") != "fault" || operation.value("kind", "") != "kill") continue;
        EXPECT_EQ(operation["id"], "stop") << operation;
        EXPECT_EQ(operation["target"], "3") << operation;
        EXPECT_EQ(operation["detail"], "SIGKILL after 2s: it had not ended by SIGTERM") << operation;
        ++killed;
    }
    EXPECT_EQ(killed, 1) << "an unclean stop, in the history too";
    for (const Json& line : played.trace) {
        if (line.value("n", 0) != 3 || line.value("e", "") != "stop") continue;
        EXPECT_NE(line.value("i", 0), 1) << "it told of an orderly end: " << line;
    }
}

const char* const kBehind = R"(
[cluster]
brokers = 3
broker.session.timeout.ms = 2000
broker.heartbeat.interval.ms = 300

[topic]
assignment = [1, 2, 3]
min.insync.replicas = 2

[[workload]]
kind = "append"
acks = "all"
rate = "50/s"
consumers = 1

[[fault]]
id = "frozen"
at = "500ms"
kind = "pause"
target = "id:3"
until = "isr.size == 2"

[[fault]]
id = "thaw"
after = "frozen + 500ms"
kind = "resume"
target = "id:3"
until = "isr == all"

[[fault]]
id = "death"
after = "thaw"
kind = "kill"
target = "id:3"
until = "isr.size == 2"

[[fault]]
id = "leaves"
after = "death"
kind = "terminate"
target = "id:2"
kill_after = "8s"
)";

struct Wrapper {
    const char* name;
    const char* script;
};
void PrintTo(const Wrapper& wrapper, std::ostream* out) { *out << wrapper.name; }

class BehindAWrapper : public ::testing::TestWithParam<Wrapper> {
protected:
    [[nodiscard]] std::string scenario() const {
        const std::string script = dir_.write("wrapper.sh", GetParam().script);
        std::string text = "name = \"behind-a-wrapper\"\n" + std::string(kBehind);
        const std::string heading = "[cluster]\n";
        text.insert(text.find(heading) + heading.size(), "command = [\"sh\", \"" + script + "\"]\n");
        return dir_.write("scenario.toml", text);
    }
    [[nodiscard]] std::string file(const std::string& name) const { return dir_.file("runs/latest/" + name); }
    /// The last of the history's faults of this kind and status ok; null: none yet.
    [[nodiscard]] Json fault(const std::string& kind) const {
        Json found;
        for (const std::string& line : lines_of(read_text(file("history.jsonl")))) {
            const Json operation = Json::parse(line, nullptr, false);
            if (operation.is_object() && operation.value("op", "") == "fault" &&
                operation.value("kind", "") == kind && operation.value("status", "") == "ok")
                found = operation;
        }
        return found;
    }

    TempDir dir_;
};

/// Process ids of the programs called highwater-node, not of scripts that name it, with `word` in their
/// arguments.
std::vector<std::string> brokers_with(const std::string& word) {
    std::vector<std::string> pids;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
        const auto program = std::filesystem::read_symlink(entry.path() / "exe", error);
        if (program.filename() != "highwater-node") continue;
        if (read_text(entry.path() / "cmdline").find(word) != std::string::npos)
            pids.push_back(entry.path().filename().string());
    }
    return pids;
}

/// States of all threads, one letter each.
std::string states_of(const std::string& pid) {
    std::string states;
    std::error_code error;
    for (const auto& task : std::filesystem::directory_iterator("/proc/" + pid + "/task", error)) {
        const std::string stat = read_text(task.path() / "stat");
        if (const std::size_t at = stat.rfind(") "); at != std::string::npos) states += stat[at + 2];
    }
    return states;
}

TEST_P(BehindAWrapper, TheBrokerItselfIsStruck) {
    Program program(dir_, {"run", scenario(), "--seed", "7", "--out", dir_.file("runs"), "--json"});
    const auto told = [&] { return read_text(dir_.file("stderr.txt")); };
    // Told ok: from then on, and until the resume half a second after the ISR has shrunk, it does not run.
    ASSERT_TRUE(eventually(seconds(60), [&] { return fault("pause").is_object(); })) << told();
    const std::string config = dir_.file("runs") + "/behind-a-wrapper";
    std::vector<std::string> third;
    for (const std::string& pid : brokers_with(config)) {
        if (read_text("/proc/" + pid + "/cmdline").find("nodes/3/") != std::string::npos)
            third.push_back(pid);
    }
    ASSERT_EQ(third.size(), 1U);
    const std::string states = states_of(third.front());
    EXPECT_FALSE(states.empty());
    EXPECT_EQ(states, std::string(states.size(), 'T'));
    ASSERT_TRUE(eventually(seconds(60), [&] { return fault("kill").is_object(); })) << told();
    EXPECT_FALSE(std::filesystem::exists("/proc/" + third.front() + "/stat") &&
                 states_of(third.front()).find_first_not_of("ZX") != std::string::npos)
        << "told ok while the broker was there";

    const Ended ended = program.wait();
    const Json run = ended.json();
    ASSERT_TRUE(run.is_object()) << ended.err;
    EXPECT_EQ(run["verdict"], "valid") << ended.err;
    // SIGTERM went to the broker, which left in good order.
    EXPECT_GE(run["evidence"].value("controlled-shutdown", 0), 1) << ended.out;
    for (const Json& one : Json::parse(read_text(file("schedule.json")))["faults"]) {
        EXPECT_TRUE(one["ok"]) << one;
        EXPECT_FALSE(one.contains("ended_by")) << one;
        if (one["id"] != "death") continue;
        EXPECT_NE(one["proof"].get<std::string>().find("its ports are free"), std::string::npos) << one;
    }
    EXPECT_TRUE(brokers_with(dir_.path()).empty());
}

TEST_P(BehindAWrapper, DiesWithTheHarness) {
    Program program(dir_, {"run", scenario(), "--seed", "7", "--out", dir_.file("runs"), "--json"});
    ASSERT_TRUE(eventually(seconds(60), [&] { return fault("pause").is_object(); }))
        << read_text(dir_.file("stderr.txt"));
    ASSERT_EQ(brokers_with(dir_.path()).size(), 4U);
    program.kill_now();
    EXPECT_TRUE(eventually(seconds(2), [&] { return brokers_with(dir_.path()).empty(); }));
}

INSTANTIATE_TEST_SUITE_P(
    Each, BehindAWrapper,
    ::testing::Values(Wrapper{"Forks", "\"$@\" &\nwait $!\n"},
                      Wrapper{"ForksAndLeaves", "\"$@\" &\nexit 0\n"}, Wrapper{"Becomes", "exec \"$@\"\n"},
                      // SIGKILL of the broker alone would have it back at once.
                      Wrapper{"StartsAgain", "while true; do \"$@\"; [ $? -ne 0 ] || exit 0; done\n"}),
    [](const auto& wrapper) { return std::string(wrapper.param.name); });

TEST(Command, ThatStartsNoNodeIsAHarnessFault) {
    const TempDir dir;
    std::string text = "name = \"x\"\n" + std::string(kBehind);
    const std::string heading = "[cluster]\n";
    text.insert(text.find(heading) + heading.size(), "command = [\"true\"]\n");
    const Ended ended =
        highwater(dir, {"run", dir.write("scenario.toml", text), "--out", dir.file("runs"), "--json"});
    EXPECT_EQ(ended.exit_code, 70);
    EXPECT_NE(ended.err.find("cluster.command: no "), std::string::npos) << ended.err;
    EXPECT_NE(ended.err.find("the command: exit code 0"), std::string::npos) << ended.err;
}

}  // namespace
}  // namespace highwater::test
