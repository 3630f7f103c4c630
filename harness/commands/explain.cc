// highwater explain RUNDIR: the life of the record that the first violation is about, or of any other.
#include <fmt/format.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "harness/commands/commands.h"
#include "harness/story.h"
#include "results/report.h"

namespace highwater::harness {
namespace {

using Json = nlohmann::ordered_json;

/// Nothing to tell: the verdict is the whole answer.
int nothing_to_explain(const results::StoredRun& run, const CommonOptions& common) {
    const Verdict& verdict = run.result.verdict;
    std::string text = fmt::format("{}: {}\n", verdict_name(verdict.kind), results::headline(run.result));
    if (verdict.kind == VerdictKind::Invalid) {
        text += "the violation names no record; --offset N tells the life of any record\n";
    } else {
        text += verdict.kind == VerdictKind::Valid ? "there is nothing to explain"
                                                   : "no violation was found, so there is nothing to explain";
        text += "; --offset N or --value pP-N tells the life of any record\n";
    }
    for (const Anomaly& anomaly : verdict.anomalies) {
        if (!anomaly.allowed || anomaly.offset == kUnknownOffset || anomaly.sentence.empty()) continue;
        text += fmt::format("allowed here: {} (--offset {})\n", anomaly.sentence, anomaly.offset);
        break;
    }
    fmt::print(common.json ? stderr : stdout, "{}", text);
    if (common.json) {
        fmt::print("{}\n", Json{{"verdict", verdict_name(verdict.kind)},
                                {"record", nullptr},
                                {"story", Json::array()},
                                {"end", Json::array()}}
                               .dump());
    }
    return 0;
}

Result<StorySubject> asked_subject(const ExplainArguments& arguments) {
    StorySubject subject;
    subject.partition = arguments.partition.value_or(0);
    subject.offset = arguments.offset;
    if (!arguments.value.empty()) {
        const auto value = parse_value(arguments.value);
        if (!value) return failure("--value", value.error());
        subject.value = *value;
    }
    return subject;
}

}  // namespace

int explain_command(const ExplainArguments& arguments, const CommonOptions& common) {
    const auto run = results::read_run(arguments.path);
    if (!run) return report_error(run.error().message, kExitUsage);
    const bool asked = arguments.offset || !arguments.value.empty();
    if (arguments.partition && !asked)
        return report_error("--partition needs --offset or --value", kExitUsage);
    const auto found = asked ? std::nullopt : subject_of(run->result.verdict);
    if (!asked && !found) return nothing_to_explain(*run, common);
    const auto subject = asked ? asked_subject(arguments) : Result<StorySubject>(*found);
    if (!subject) return report_error(subject.error().message, kExitUsage);
    const auto story = tell_story(*run, *subject);
    if (!story) return report_error(story.error().message, kExitUsage);
    std::FILE* out = common.json ? stderr : stdout;
    fmt::print(out, "{}: {}\n\nthe life of {}:\n", verdict_name(run->result.verdict.kind),
               results::headline(run->result), story->record);
    Json json{{"verdict", verdict_name(run->result.verdict.kind)},
              {"record", story->record},
              {"story", Json::array()},
              {"end", story->end}};
    for (const StoryLine& line : story->lines) {
        fmt::print(out, "{:>9.4f} s  {}\n", to_seconds(line.at - story->start), line.text);
        json["story"].push_back({{"t", (line.at - story->start).count()}, {"text", line.text}});
    }
    for (const std::string& sentence : story->end) fmt::print(out, "             {}\n", sentence);
    fmt::print(out, "\nagain: {}\n", run->reproduce);
    if (common.json) fmt::print("{}\n", json.dump());
    return 0;
}

}  // namespace highwater::harness
