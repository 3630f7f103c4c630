// Readers of histories, traces and verdicts: both formats, round trips, and junk that is one message with its
// place.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "model/history.h"
#include "model/trace.h"
#include "model/verdict.h"

namespace highwater {
namespace {

const std::string kMeta = R"({"meta":{"case":"x","fmt":"highwater/1","kind":"history"}})"
                          "\n";
const std::string kNeutral = R"({"meta":{"case":"x","fmt":"hw-neutral/0","kind":"history","acks":"1"}})"
                             "\n";

std::string error_of(const std::string& text) {
    const Result<History> history = parse_history(text, "h.jsonl");
    return history ? "" : history.error().message;
}

TEST(HistoryReader, bad_lines_name_file_and_line) {
    EXPECT_NE(error_of(kMeta + "{\"t\":1,\"op\":\"probe\"}\n\nnot json\n").find("h.jsonl:4: not JSON"),
              std::string::npos);
    EXPECT_NE(error_of("[1]\n").find("h.jsonl:1"), std::string::npos);
    EXPECT_EQ(error_of("{\"t\":1}\n"), "h.jsonl:1: the first line must be {\"meta\":{…}}");
    EXPECT_EQ(error_of(""), "h.jsonl: empty: not even a meta line");
    EXPECT_EQ(error_of(kMeta + R"({"t":"x","op":"poll"})"), "h.jsonl:2: field \"t\": expected an integer");
    EXPECT_EQ(error_of(kMeta + R"({"t":1})"), "h.jsonl:2: no field \"op\"");
    EXPECT_EQ(error_of(kMeta + R"({"op":"poll"})"), "h.jsonl:2: no field \"t\"");
    EXPECT_EQ(error_of(kMeta + R"({"t":1,"op":"produce","status":"ok"})"),
              "h.jsonl:2: a produce without a value");
    EXPECT_EQ(error_of(kMeta + R"({"t":1,"op":"produce","value":1,"status":"good"})"),
              "h.jsonl:2: field \"status\": expected ok, fail or info");
    EXPECT_EQ(error_of(kMeta + R"({"t":1,"op":"poll","records":[[1]]})"),
              "h.jsonl:2: field \"records\": expected pairs of offset and value");
    EXPECT_NE(error_of(R"({"meta":{"fmt":"other/9"}})").find("unknown format"), std::string::npos);
    EXPECT_NE(error_of(R"({"meta":{"fmt":"hw-neutral/0","kind":"scenario"}})").find("not a history"),
              std::string::npos);
    EXPECT_NE(error_of(kNeutral + R"({"t":9223372036854775807,"op":"probe"})").find("146 years"),
              std::string::npos);
}

TEST(HistoryReader, junk_never_crashes) {
    const std::string good =
        kMeta + R"({"t0":1,"t":2,"client":"c","op":"poll","records":[[0,1]],"hw":1})" + "\n";
    for (std::size_t cut = 0; cut < good.size(); ++cut)
        static_cast<void>(parse_history(good.substr(0, cut), "h"));
    for (std::size_t at = 0; at < good.size(); ++at) {
        std::string changed = good;
        for (const char byte : {'\0', '"', '{', '\xff', '9'}) {
            changed[at] = byte;
            static_cast<void>(parse_history(changed, "h"));
        }
    }
    static_cast<void>(parse_history(kMeta + std::string(5000, '['), "h"));
    EXPECT_FALSE(read_history("/").has_value());
    EXPECT_NE(read_history("/no/such/file").error().message.find("/no/such/file"), std::string::npos);
}

TEST(HistoryReader, any_spelling_of_a_line_reads_the_same) {
    const std::vector<std::string> lines{
        R"({"t0":1,"t":2,"client":"p","op":"produce","partition":3,"value":7,"status":"ok","offset":4,"acks":-1,"seq":9,"broker":2})",
        R"({"t":2,"op":"produce","value":7,"status":"fail","error":"REQUEST_TIMED_OUT","offset":-1001})",
        R"({"t":2,"op":"produce","value":7,"status":"fail","error":"NOT_ENOUGH_REPLICAS","acks":1})",
        R"({"t0":1,"t":2,"client":"c","op":"poll","records":[[0,1],[5,-6]],"from":0,"hw":6,"log_start":0,"lso":5,"isolation":"read_committed","final":true,"complete":false,"follower":true,"broker":1})",
        R"({"t":2,"op":"poll","records":[],"status":"info","error":"x"})"};
    for (const std::string& line : lines) {
        const Result<History> plain = parse_history(kMeta + line, "h");
        std::string spaced = line;
        spaced.insert(1, " ");  // no longer the common shape
        const Result<History> other = parse_history(kMeta + spaced, "h");
        ASSERT_TRUE(plain && other) << line;
        EXPECT_EQ(plain->warnings, other->warnings);
        EXPECT_EQ(format_operation(plain->operations[0], plain->clients[0]),
                  format_operation(other->operations[0], other->clients[0]));
        // Nor does one reader take what the other refuses.
        for (std::size_t at = 1; at < line.size(); ++at) {
            for (const char byte : {'0', '-', '"', ',', '[', '}', 'e'}) {
                std::string changed = line;
                changed[at] = byte;
                std::string changed_spaced = changed;
                changed_spaced.insert(1, " ");
                const Result<History> one = parse_history(kMeta + changed + "\n", "h");
                const Result<History> two = parse_history(kMeta + changed_spaced + "\n", "h");
                ASSERT_EQ(one.has_value(), two.has_value()) << changed;
                if (!one) continue;
                EXPECT_EQ(format_operation(one->operations[0], one->clients[0]),
                          format_operation(two->operations[0], two->clients[0]))
                    << changed;
            }
        }
    }
}

TEST(HistoryReader, a_last_line_that_was_cut_is_told) {
    const std::string line = R"({"t":2,"op":"produce","value":7,"status":"ok","offset":4})";
    const Result<History> whole = parse_history(kMeta + line, "h");
    ASSERT_TRUE(whole.has_value());
    EXPECT_FALSE(whole->cut_short);
    for (std::size_t length = 1; length < line.size(); ++length) {
        const Result<History> cut = parse_history(kMeta + line + "\n" + line.substr(0, length), "h");
        ASSERT_TRUE(cut.has_value()) << length;
        EXPECT_TRUE(cut->cut_short) << length;
        EXPECT_EQ(cut->operations.size(), 1U);
        // Nothing was killed where a newline follows.
        EXPECT_FALSE(parse_history(kMeta + line.substr(0, length) + "\n", "h").has_value()) << length;
    }
}

TEST(HistoryReader, milliseconds_or_nanoseconds) {
    const std::string line =
        R"({"t0":3,"t":5,"client":"c","op":"produce","value":7,"status":"ok","offset":-1001})";
    const Result<History> golden = parse_history(kNeutral + line, "h");
    ASSERT_TRUE(golden.has_value());
    EXPECT_EQ(golden->operations[0].invoked.ns, 3'000'000);
    EXPECT_EQ(golden->operations[0].as<Produce>()->offset, kUnknownOffset);
    const Result<History> ours = parse_history(kMeta + line, "h");
    ASSERT_TRUE(ours.has_value());
    EXPECT_EQ(ours->operations[0].completed.ns, 5);
    EXPECT_EQ(ours->clients, std::vector<std::string>{"c"});
}

TEST(HistoryReader, a_fail_with_an_indeterminate_code_is_info_with_a_warning) {
    const auto status = [](const std::string& meta, const std::string& fields) {
        const Result<History> history =
            parse_history(meta + R"({"t":5,"op":"produce","value":7,"status":"fail",)" + fields + "}", "h");
        const Outcome outcome = history->operations[0].as<Produce>()->status;
        EXPECT_EQ(history->warnings.size(), outcome == Outcome::Info ? 1U : 0U);
        return outcome;
    };
    EXPECT_EQ(status(kNeutral, R"("error":"REQUEST_TIMED_OUT")"), Outcome::Info);
    EXPECT_EQ(status(kNeutral, R"("error":20)"), Outcome::Info);
    EXPECT_EQ(status(kNeutral, R"("error":"NOT_LEADER_OR_FOLLOWER","acks":"1")"), Outcome::Info);
    EXPECT_EQ(status(kMeta, R"("error":"NOT_LEADER_OR_FOLLOWER","acks":1)"), Outcome::Fail);
    EXPECT_EQ(status(kNeutral, R"("error":"NOT_ENOUGH_REPLICAS")"), Outcome::Fail);
}

TEST(HistoryReader, every_operation_survives_writing_and_reading) {
    const std::string text =
        kMeta +
        R"({"t0":1,"t":2,"client":"p\"1","op":"produce","partition":1,"value":5,"status":"info","acks":0,"error":"é","seq":3,"broker":2,"x":{}})"
        "\n"
        R"({"t0":1,"t":2,"client":"c","op":"poll","partition":0,"status":"ok","records":[[0,1],[2,9]],"from":0,"hw":3,"log_start":0,"lso":2,"isolation":"read_committed","broker":1,"follower":true,"final":true,"complete":true})"
        "\n"
        R"({"t":3,"client":"a","op":"list_offsets","which":"latest","status":"ok","offset":4,"epoch":5,"broker":1})"
        "\n"
        R"({"t":4,"client":"","op":"observe","leader":1,"epoch":2,"isr":[1,2],"replicas":[1,2,3],"unclean":true,"config":{"min_isr":2},"log_start":1,"broker":3,"sampled":true})"
        "\n"
        R"({"t":5,"client":"","op":"fault","kind":"cut","target":"1,2","id":"f","status":"ok","detail":"d","pairs":[[1,2],[2,1]]})"
        "\n"
        R"({"t":6,"client":"","op":"probe","ok":true,"detail":"x","src":1,"dst":2})"
        "\n"
        R"({"t":7,"client":"c","op":"reset","partition":0,"offset":12})"
        "\n";
    const Result<History> first = parse_history(text, "h");
    ASSERT_TRUE(first.has_value()) << first.error().message;
    std::string written = format_meta(first->meta) + "\n";
    for (const Operation& operation : first->operations) {
        written +=
            format_operation(operation, first->clients[static_cast<std::size_t>(operation.client)]) + "\n";
    }
    const Result<History> second = parse_history(written, "h");
    ASSERT_TRUE(second.has_value()) << second.error().message;
    std::string again = format_meta(second->meta) + "\n";
    for (const Operation& operation : second->operations) {
        again +=
            format_operation(operation, second->clients[static_cast<std::size_t>(operation.client)]) + "\n";
    }
    EXPECT_EQ(written, again);
    ASSERT_EQ(second->operations.size(), 7U);
    const auto& poll = *second->operations[1].as<Poll>();
    EXPECT_TRUE(poll.final && poll.complete && poll.from_follower);
    EXPECT_EQ(poll.records.size(), 2U);
    const auto& fault = *second->operations[4].as<FaultOp>();
    EXPECT_EQ(fault.paths.size(), 2U);
    const PositionChange change = position_change(*second->operations[6].as<OtherOp>());
    EXPECT_EQ(change.partitions, std::vector<std::int32_t>{0});
    EXPECT_EQ(change.position, 12);
}

TEST(HistoryReader, positions) {
    EXPECT_EQ(
        position_change({.op = "assign", .json = R"("partitions":[0,3],"from":"committed:2")"}).position, 2);
    EXPECT_EQ(position_change({.op = "assign", .json = R"("partitions":[0,3])"}).partitions.size(), 2U);
    EXPECT_EQ(position_change({.op = "seek", .json = "junk"}).position, kUnknownOffset);
}

TEST(Values, are_shown_with_their_producer) {
    EXPECT_EQ(value_text(make_value(3, 977)), "p3-977");
    EXPECT_EQ(value_text(42), "42");
}

TEST(TraceReader, reads_and_merges_in_the_order_of_time) {
    const std::string text =
        R"({"t":20,"n":1,"i":1,"s":2,"e":"hw","p":"my-topic-4","role":"leader","epoch":5,"from":1,"to":3,"leo":4,"isr":[1,2],"pending_add":3,"replicas":[[2,3,7],[3,-1,0]],"min_isr":2})"
        "\n"
        R"({"t":10,"n":1,"i":1,"s":1,"e":"role","p":"my-topic-4","role":"leader","leader":1,"epoch":5,"partition_epoch":7,"leo":1,"hw":0,"epoch_start":1,"table":[[0,0],[4,1]],"isr":[1,2]})"
        "\n"
        R"({"t":30,"n":1,"i":1,"s":3,"e":"isr-proposed","p":"my-topic-4","epoch":5,"partition_epoch":7,"from":[1,2],"to":[1],"lagging":[[2,3,900]],"leo":4,"hw":3,"unheard_of":1})"
        "\n";
    const Result<Trace> trace = parse_trace(text, "t.jsonl");
    ASSERT_TRUE(trace.has_value()) << trace.error().message;
    ASSERT_EQ(trace->events.size(), 3U);
    EXPECT_EQ(trace->events[0].kind, TraceKind::Role);
    EXPECT_EQ(trace->events[0].table[1].epoch, 4);
    EXPECT_EQ(trace->events[0].table[1].offset, 1);
    const TraceEvent& moved = trace->events[1];
    EXPECT_EQ(moved.topic, "my-topic");
    EXPECT_EQ(moved.partition, 4);
    EXPECT_EQ(moved.pending_add, 3);
    EXPECT_EQ(moved.replicas[1].log_end_offset, kUnknownOffset);
    EXPECT_EQ(trace->events[2].isr_from.size(), 2U);
    EXPECT_EQ(trace->events[2].isr, std::vector<BrokerId>{1});
    EXPECT_EQ(trace->events[2].replicas[0].behind.count(), 900);
}

TEST(TraceReader, a_last_line_cut_short_is_tolerated_and_nothing_else) {
    const std::string line = R"({"t":1,"n":1,"i":1,"s":1,"e":"stop","clean":true})";
    const Result<Trace> cut = parse_trace(line + "\n" + line.substr(0, 20), "t.jsonl");
    ASSERT_TRUE(cut.has_value());
    EXPECT_EQ(cut->events.size(), 1U);
    const auto error = [](const std::string& text) { return parse_trace(text, "t.jsonl").error().message; };
    EXPECT_NE(error(line.substr(0, 20) + "\n" + line).find("t.jsonl:1: not JSON"), std::string::npos);
    EXPECT_EQ(error(line + "\n" + R"({"t":1,"n":1,"e":"dance"})"), "t.jsonl:2: unknown kind \"dance\"");
    EXPECT_EQ(error(R"({"t":1,"e":"stop"})"), "t.jsonl:1: no field \"n\"");
    EXPECT_EQ(error(R"({"t":1,"n":1,"e":"ack","p":"t-x"})"),
              "t.jsonl:1: field \"p\": expected topic-partition");
}

TEST(VerdictJson, survives_writing_and_reading) {
    Verdict verdict;
    verdict.kind = VerdictKind::Invalid;
    verdict.counts = {{"lost-committed", 2}};
    verdict.violations = {"lost-committed"};
    verdict.reasons = {"unseen"};
    verdict.reason_details = {"why"};
    verdict.evidence = {{"acked", 7}};
    verdict.warnings = {"w"};
    Anomaly anomaly;
    anomaly.kind = "lost-committed";
    anomaly.offset = 4;
    anomaly.sentence = "offset 4 \"is\" gone";
    anomaly.operations = {1, 2};
    anomaly.context = {"line"};
    verdict.anomalies = {anomaly};
    const std::string text = verdict_to_json(verdict);
    const Result<Verdict> again = verdict_from_json(text, "verdict.json");
    ASSERT_TRUE(again.has_value()) << again.error().message;
    EXPECT_EQ(verdict_to_json(*again), text);
    EXPECT_NE(verdict_from_json("{}", "verdict.json").error().message.find("verdict.json"),
              std::string::npos);
    EXPECT_FALSE(verdict_from_json("nonsense", "verdict.json").has_value());
}

}  // namespace
}  // namespace highwater
