// What the report's page is made of: packed columns, the time axis, the one sentence, stored runs.
#include <gtest/gtest.h>
#include <isa-l/igzip_lib.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "results/columns.h"
#include "results/report.h"
#include "results/stored_run.h"
#include "results/timeline.h"

namespace highwater::results {
namespace {

TEST(Base64, KnownAnswers) {
    EXPECT_EQ(base64(""), "");
    EXPECT_EQ(base64("f"), "Zg==");
    EXPECT_EQ(base64("fo"), "Zm8=");
    EXPECT_EQ(base64("foo"), "Zm9v");
    EXPECT_EQ(base64("foobar"), "Zm9vYmFy");
    EXPECT_EQ(base64(std::string("\xff\x00\xfe", 3)), "/wD+");
}

std::string unbase64(const std::string& text) {
    const std::string digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string bytes;
    std::uint32_t bits = 0;
    int count = 0;
    for (const char c : text) {
        if (c == '=') break;
        bits = bits << 6U | static_cast<std::uint32_t>(digits.find(c));
        count += 6;
        if (count >= 8) {
            count -= 8;
            bytes += static_cast<char>(bits >> static_cast<unsigned>(count) & 0xffU);
        }
    }
    return bytes;
}

std::vector<std::int32_t> unpacked(const std::string& text, std::size_t words) {
    std::string packed = unbase64(text);
    std::vector<std::int32_t> numbers(words + 1);
    inflate_state state;
    isal_inflate_init(&state);
    state.crc_flag = ISAL_GZIP;
    state.next_in = reinterpret_cast<std::uint8_t*>(packed.data());
    state.avail_in = static_cast<std::uint32_t>(packed.size());
    state.next_out = reinterpret_cast<std::uint8_t*>(numbers.data());
    state.avail_out = static_cast<std::uint32_t>(numbers.size() * 4);
    EXPECT_EQ(isal_inflate(&state), ISAL_DECOMP_OK);
    EXPECT_EQ(state.total_out, words * 4);
    numbers.resize(words);
    return numbers;
}

TEST(Columns, PackedAndUnpackedAreTheSame) {
    Columns columns;
    EXPECT_EQ(columns.add({5, 7, 7, -2}, true), 0U);
    EXPECT_EQ(columns.add({}, false), 1U);
    EXPECT_EQ(columns.add({1, 2147483647, -2147483647 - 1}, false), 2U);
    EXPECT_EQ(columns.add({2147483647, -2147483647 - 1}, true), 3U);
    EXPECT_EQ(columns.directory_json(), "[[0,4,1],[4,0,0],[4,3,0],[7,2,1]]");
    const auto packed = columns.packed();
    ASSERT_TRUE(packed.has_value());
    const std::vector<std::int32_t> expected{5, 2, 0, -9, 1, 2147483647, -2147483647 - 1, 2147483647, 1};
    EXPECT_EQ(unpacked(*packed, 9), expected);
}

TEST(Columns, MoreThanOneChunk) {
    Columns columns;
    std::vector<std::int32_t> numbers;
    std::uint32_t noise = 1;
    for (int i = 0; i < 300'000; ++i) {
        noise = noise * 1664525U + 1013904223U;
        numbers.push_back(static_cast<std::int32_t>(noise));
    }
    columns.add(numbers, false);
    const auto packed = columns.packed();
    ASSERT_TRUE(packed.has_value());
    EXPECT_EQ(unpacked(*packed, numbers.size()), numbers);
}

Operation produced(std::int64_t from, std::int64_t to) {
    Operation operation;
    operation.invoked = {from};
    operation.completed = {to};
    operation.what = Produce{};
    return operation;
}

TraceEvent event(TraceKind kind, std::int64_t at, BrokerId node) {
    TraceEvent line;
    line.kind = kind;
    line.at = {at};
    line.node = node;
    line.partition = 0;
    return line;
}

TEST(Timeline, LeadersOffsetsAndDownTimes) {
    History history;
    history.operations = {produced(100, 200), produced(150, 900)};
    Trace trace;
    TraceEvent created = event(TraceKind::Partition, 50, 100);
    created.leader = 1;
    created.epoch = 0;
    created.isr = {1, 2};
    trace.events.push_back(created);
    TraceEvent append = event(TraceKind::Append, 160, 1);
    append.log_end_offset = 3;
    trace.events.push_back(append);
    append.at = {170};  // the same end again is no step
    trace.events.push_back(append);
    TraceEvent cut = event(TraceKind::Truncate, 300, 1);
    cut.from = 3;
    cut.to = 1;
    trace.events.push_back(cut);
    TraceEvent started = event(TraceKind::Start, 500, 1);
    started.partition = -1;
    trace.events.push_back(started);
    TraceEvent late = event(TraceKind::Append, 1000, 1);  // the cluster is being stopped
    late.log_end_offset = 9;
    trace.events.push_back(late);
    FaultRecord kill;
    kill.kind = FaultKind::Kill;
    kill.targets = {1};
    kill.effective = {250};
    kill.ok = true;
    const Timeline timeline = make_timeline(history, &trace, {kill});
    EXPECT_EQ(timeline.start.ns, 100);
    EXPECT_EQ(timeline.end.ns, 900);
    ASSERT_EQ(timeline.partitions.size(), 1U);
    const PartitionTimeline& partition = timeline.partitions.front();
    ASSERT_EQ(partition.changes.size(), 1U);
    EXPECT_EQ(partition.changes.front().leader, 1);
    ASSERT_EQ(partition.replicas.size(), 1U);
    EXPECT_EQ(partition.replicas.front().log_end_offset.value, (std::vector<Offset>{3, 1}));
    ASSERT_EQ(timeline.down.size(), 1U);
    EXPECT_EQ(timeline.down.front().until, Instant{500});
    EXPECT_EQ(end_of_fault(kill, timeline, Instant{800}, {kill}), Instant{500});
}

TEST(Timeline, WithoutATraceObserversTellWhoLed) {
    History history;
    const auto observed = [&](std::int64_t at, BrokerId leader, LeaderEpoch epoch) {
        Operation operation;
        operation.invoked = operation.completed = {at};
        Observe view;
        view.leader = leader;
        view.epoch = epoch;
        view.isr = std::vector<BrokerId>{leader};
        operation.what = view;
        history.operations.push_back(operation);
    };
    observed(10, 1, 0);
    observed(20, 1, 0);  // nothing new
    observed(30, 2, 1);
    observed(40, 1, 0);  // a broker that learns late
    const Timeline timeline = make_timeline(history, nullptr, {});
    ASSERT_EQ(timeline.partitions.size(), 1U);
    ASSERT_EQ(timeline.partitions.front().changes.size(), 2U);
    EXPECT_EQ(timeline.partitions.front().changes[1].leader, 2);
    EXPECT_EQ(timeline.partitions.front().changes[1].at.ns, 30);
}

TEST(Timeline, LongLinesAreThinnedButKeepTheirExtremes) {
    History history;
    history.operations = {produced(0, 10'000'000)};
    Trace trace;
    const std::int64_t points = 3 * static_cast<std::int64_t>(kMostSteps);
    for (std::int64_t i = 0; i < points; ++i) {
        TraceEvent append = event(TraceKind::Append, i, 1);
        append.log_end_offset = i == points / 2 ? 9'000'000 : i + 1;
        trace.events.push_back(append);
    }
    const Timeline timeline = make_timeline(history, &trace, {});
    const Steps& steps = timeline.partitions.front().replicas.front().log_end_offset;
    EXPECT_LE(steps.at.size(), kMostSteps + 4);
    EXPECT_GT(steps.at.size(), kMostSteps / 4);
    EXPECT_TRUE(std::is_sorted(steps.at.begin(), steps.at.end()));
    EXPECT_EQ(*std::max_element(steps.value.begin(), steps.value.end()), 9'000'000);
    EXPECT_EQ(steps.value.front(), 1);
    EXPECT_EQ(steps.value.back(), points);
}

TEST(EndOfFault, UndoneResumedReleasedOrHealed) {
    FaultRecord pause;
    pause.kind = FaultKind::Pause;
    pause.id = "nap";
    pause.targets = {2};
    pause.effective = {100};
    pause.ok = true;
    FaultRecord resume = pause;
    resume.kind = FaultKind::Resume;
    resume.targets = {2, 3};
    resume.effective = {300};
    const Timeline timeline;
    EXPECT_EQ(end_of_fault(pause, timeline, Instant{900}, {pause}), Instant{900});
    EXPECT_EQ(end_of_fault(pause, timeline, Instant{900}, {pause, resume}), Instant{300});
    EXPECT_EQ(end_of_fault(resume, timeline, Instant{900}, {pause, resume}), std::nullopt);
    pause.undone = Instant{200};
    EXPECT_EQ(end_of_fault(pause, timeline, Instant{900}, {pause, resume}), Instant{200});
    pause.ok = false;
    EXPECT_EQ(end_of_fault(pause, timeline, Instant{900}, {pause}), std::nullopt);
}

TEST(Headline, OfEachVerdict) {
    RunResult result;
    result.verdict.kind = VerdictKind::Valid;
    result.verdict.evidence = {{"acked", 3}, {"read", 2}, {"fault", 1}};
    EXPECT_EQ(headline(result),
              "nothing forbidden was seen: 3 appends acknowledged, 2 records read, 1 faults took effect");
    result.verdict.counts = {{"lost-committed", 2}};
    EXPECT_NE(headline(result).find("; allowed by this configuration: 2 lost-committed"), std::string::npos);
    result.verdict.kind = VerdictKind::Unknown;
    result.verdict.reasons = {"vacuous"};
    EXPECT_EQ(headline(result), "the run proves too little: vacuous");
    result.verdict.reason_details = {"nobody wrote"};
    EXPECT_EQ(headline(result), "nobody wrote");
    result.verdict.kind = VerdictKind::Invalid;
    result.verdict.violations = {"phantom"};
    EXPECT_EQ(headline(result), "forbidden here, and seen: phantom");
    Anomaly allowed;
    allowed.allowed = true;
    allowed.sentence = "allowed";
    Anomaly forbidden;
    forbidden.sentence = "forbidden";
    result.verdict.anomalies = {allowed, forbidden};
    EXPECT_EQ(headline(result), "forbidden");
}

TEST(ShellQuoted, OneWordEach) {
    EXPECT_EQ(shell_quoted("workload.rate=0/s"), "workload.rate=0/s");
    EXPECT_EQ(shell_quoted(""), "''");
    EXPECT_EQ(shell_quoted("a b"), "'a b'");
    EXPECT_EQ(shell_quoted("it's"), "'it'\\''s'");
    EXPECT_EQ(shell_quoted("$(x)"), "'$(x)'");
}

}  // namespace
}  // namespace highwater::results
