// highwater: the command line.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <csignal>

#include "harness/commands/commands.h"

namespace {

std::atomic<bool> g_interrupted{false};

void interrupt(int) { g_interrupted.store(true); }

void watch_signals() {
    struct sigaction action{};
    action.sa_handler = interrupt;
    sigaction(SIGINT, &action, nullptr);
    sigaction(SIGTERM, &action, nullptr);
    std::signal(SIGPIPE, SIG_IGN);
}

void add_run_options(CLI::App& command, highwater::harness::RunArguments& arguments) {
    command
        .add_option("scenario", arguments.scenario,
                    "name of a scenario, or the path of a .toml or .json file")
        ->required();
    command.add_option("--sut", arguments.sut, "system under test: node, kafka[:VERSION] or kafka:/PATH");
    command.add_option("--seed", arguments.seed, "everything random comes from it");
    command.add_option("--set", arguments.settings, "key=value: overrides a key of the scenario");
    command.add_option("--bug", arguments.bugs,
                       "deliberate bugs of the node, by name or id, comma separated");
    command.add_option("--out", arguments.out, "directory that holds the run directories");
}

void add_nightly_options(CLI::App& command, highwater::harness::NightlyArguments& arguments) {
    command.add_option("minutes", arguments.minutes, "time for it; every scenario runs once in any case")
        ->required()
        ->check(CLI::Range(0.0, 10080.0));
    command.add_option("--seed", arguments.seed, "first seed; another one each day unless said");
    command.add_option("--scenarios", arguments.scenarios, "names, comma separated; all unless said");
    command.add_flag("--directed", arguments.directed,
                     "directed nemeses at random times instead of the scenarios that are there");
    command.add_option("--sut", arguments.sut, "system under test: node, kafka[:VERSION] or kafka:/PATH");
    command.add_option("--canary", arguments.canary, "the bug that must be found, or none");
    command.add_option("--bug", arguments.bugs, "deliberate bugs of every run but the canary");
    command.add_option("--out", arguments.out, "directory that holds nightly/TIME-SEED");
    command.add_option("--jobs", arguments.jobs, "runs at a time")->check(CLI::Range(1, 64));
}

}  // namespace

int main(int argc, char** argv) {
    using namespace highwater::harness;
    CLI::App app{"highwater: breaks a Kafka-style replicated log and proves what it kept"};
    app.require_subcommand(1);
    CommonOptions common;
    common.interrupted = &g_interrupted;
    for (int i = 0; i < argc; ++i) common.command_line += (i == 0 ? "highwater" : std::string(" ") + argv[i]);

    RunArguments run;
    CompareArguments compare;
    CheckArguments check;
    ReportArguments report;
    ExplainArguments explain;
    CLI::App* run_app = app.add_subcommand("run", "one experiment: launch, break, record, check");
    add_run_options(*run_app, run);
    CLI::App* compare_app = app.add_subcommand(
        "compare", "the same experiment on several systems, or under several values, side by side");
    add_run_options(*compare_app, compare.run);
    compare_app->get_option("--sut")->description(
        "node, kafka[:VERSION] or kafka:/PATH; several, comma separated, are the sides");
    compare_app->add_option("--param", compare.param, "key=value,value…: the values are the sides");
    compare_app->add_option("--runs", compare.runs, "runs of each side, with successive seeds")
        ->check(CLI::Range(1, 1000));
    CLI::App* check_app = app.add_subcommand("check", "judge a history file or a run directory (again)");
    check_app->add_option("path", check.path, "history.jsonl, or a run directory")->required();
    CLI::App* report_app = app.add_subcommand("report", "write the page of a run again (report.html)");
    report_app->add_option("path", report.path, "a run directory")->required();
    CLI::App* explain_app =
        app.add_subcommand("explain", "the life of the record that a violation is about, or of any other");
    explain_app->add_option("path", explain.path, "a run directory")->required();
    explain_app->add_option("--partition", explain.partition,
                            "partition of --offset or --value, 0 unless said");
    explain_app->add_option("--offset", explain.offset, "the record at this offset");
    explain_app->add_option("--value", explain.value, "the record with this value: p3-977");
    CLI::App* doctor_app =
        app.add_subcommand("doctor", "what this machine can do, and what to install for the rest");
    std::string doctor_out = "runs";
    doctor_app->add_option("--out", doctor_out, "directory that will hold the run directories");
    NightlyArguments nightly;
    CLI::App* nightly_app =
        app.add_subcommand("nightly", "every scenario, the comparisons and a canary, then more seeds");
    add_nightly_options(*nightly_app, nightly);
    CLI::App* list_app = app.add_subcommand("list", "the scenarios that came with the program");
    for (CLI::App* command :
         {run_app, compare_app, check_app, report_app, explain_app, doctor_app, nightly_app, list_app}) {
        command->add_flag("--json", common.json, "one JSON object on stdout, everything else on stderr");
    }
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? 0 : kExitUsage;
    }
    watch_signals();
    try {
        if (*run_app) return run_command(run, common);
        if (*compare_app) return compare_command(compare, common);
        if (*check_app) return check_command(check, common);
        if (*report_app) return report_command(report, common);
        if (*explain_app) return explain_command(explain, common);
        if (*doctor_app) return doctor_command(doctor_out, common);
        if (*nightly_app) return nightly_command(nightly, common);
        return list_command(common);
    } catch (const std::exception& error) {
        return report_error(fmt::format("harness fault: {}", error.what()), kExitHarness);
    }
}
