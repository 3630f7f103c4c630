// `explain` on the files of a real run that lost records: the node acknowledged before it replicated
// (ack_on_append). The whole story stands in testdata; HIGHWATER_REWRITE=1 writes it anew.
#include "harness/story.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

namespace highwater::harness {
namespace {

std::string data(const std::string& name) { return std::string(HW_TEST_DATA) + "/" + name; }

results::StoredRun lost_run() {
    auto run = results::read_run(data("lost-run"));
    EXPECT_TRUE(run.has_value()) << run.error().message;
    return std::move(*run);
}

std::string text_of(const Story& story) {
    std::string text = story.record + "\n";
    for (const StoryLine& line : story.lines) {
        text += fmt::format("{:>9.4f} s  {}\n", to_seconds(line.at - story.start), line.text);
    }
    for (const std::string& sentence : story.end) text += "             " + sentence + "\n";
    return text;
}

void expect_story(const std::string& text, const std::string& name) {
    if (std::getenv("HIGHWATER_REWRITE") != nullptr) {
        std::ofstream(data(name)) << text;
        return;
    }
    std::ifstream in(data(name));
    std::stringstream expected;
    expected << in.rdbuf();
    EXPECT_EQ(text, expected.str()) << name;
}

TEST(Story, OfTheFirstViolation) {
    const results::StoredRun run = lost_run();
    const auto subject = subject_of(run.result.verdict);
    ASSERT_TRUE(subject.has_value());
    EXPECT_EQ(subject->offset, 8);
    const auto story = tell_story(run, *subject);
    ASSERT_TRUE(story.has_value()) << story.error().message;
    expect_story(text_of(*story), "lost.txt");
}

TEST(Story, OfARecordThatLived) {
    const auto story = tell_story(lost_run(), {.partition = 0, .offset = 3, .value = std::nullopt});
    ASSERT_TRUE(story.has_value()) << story.error().message;
    expect_story(text_of(*story), "kept.txt");
}

// Cut from a run of Apache Kafka 4.3.1, which nobody sees from inside.
TEST(Story, FromOutsideTellsWhoWasInWhoseIsr) {
    auto run = results::read_run(data("kafka-run"));
    ASSERT_TRUE(run.has_value()) << run.error().message;
    const auto subject = subject_of(run->result.verdict);
    ASSERT_TRUE(subject.has_value());
    const auto story = tell_story(*run, *subject);
    ASSERT_TRUE(story.has_value()) << story.error().message;
    expect_story(text_of(*story), "kafka.txt");
}

TEST(Story, ByValueIsTheSameAsByOffset) {
    const results::StoredRun run = lost_run();
    const auto by_offset = tell_story(run, {.partition = 0, .offset = 8, .value = std::nullopt});
    const auto by_value =
        tell_story(run, {.partition = 0, .offset = std::nullopt, .value = make_value(1, 9)});
    ASSERT_TRUE(by_offset && by_value);
    EXPECT_EQ(text_of(*by_offset), text_of(*by_value));
    // The record that took its place has a life of its own.
    const auto other = tell_story(run, {.partition = 0, .offset = 8, .value = make_value(1, 32)});
    ASSERT_TRUE(other.has_value());
    EXPECT_NE(text_of(*other).find("at the end broker 1 has it, broker 2 has it, broker 3 has it"),
              std::string::npos)
        << text_of(*other);
}

TEST(Story, RecordsThatAreNotThere) {
    const results::StoredRun run = lost_run();
    const auto beyond = tell_story(run, {.partition = 0, .offset = 9999, .value = std::nullopt});
    ASSERT_FALSE(beyond.has_value());
    EXPECT_EQ(beyond.error().message, "offset 9999 of partition 0: no log reached it");
    const auto unsent = tell_story(run, {.partition = 0, .offset = std::nullopt, .value = make_value(7, 7)});
    ASSERT_FALSE(unsent.has_value());
    EXPECT_EQ(unsent.error().message, "p7-7 of partition 0: nobody sent or read it");
    EXPECT_FALSE(tell_story(run, {.partition = 5, .offset = 0, .value = std::nullopt}).has_value());
}

TEST(StorySubject, IsOfAViolationThatNamesARecord) {
    Verdict verdict;
    EXPECT_FALSE(subject_of(verdict).has_value());
    Anomaly allowed;
    allowed.allowed = true;
    allowed.offset = 1;
    Anomaly nameless;
    Anomaly named;
    named.partition = 2;
    named.offset = 5;
    verdict.anomalies = {allowed, nameless, named};
    const auto subject = subject_of(verdict);
    ASSERT_TRUE(subject.has_value());
    EXPECT_EQ(subject->partition, 2);
    EXPECT_EQ(subject->offset, 5);
    EXPECT_FALSE(subject->value.has_value());
}

TEST(ParseValue, BothSpellings) {
    EXPECT_EQ(parse_value("p3-977"), make_value(3, 977));
    EXPECT_EQ(parse_value("12"), 12);
    for (const char* junk : {"", "p3", "p-3", "3-977", "p3-", "p3-9x", "-1", "p3--9"}) {
        EXPECT_FALSE(parse_value(junk).has_value()) << junk;
    }
}

}  // namespace
}  // namespace highwater::harness
