// Plans a night and runs it as child processes of this very program.
#include "harness/nightly.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <deque>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "harness/child.h"
#include "harness/commands/commands.h"
#include "harness/directed.h"
#include "harness/program_paths.h"
#include "model/scenario.h"
#include "model/text_file.h"
#include "results/compare.h"
#include "results/report.h"
#include "results/run_dir.h"
#include "results/stored_run.h"

namespace highwater::harness {
namespace {

namespace fs = std::filesystem;
using results::NightRun;
using Kind = NightRun::Kind;

/// Most canaries show themselves here: it has a shrunk ISR, refusals and an ISR that grows again.
constexpr const char* kCanaryScenario = "min-isr-rejection";
/// A run that has not ended by then never will.
constexpr Duration kRunDeadline = seconds(900);
constexpr Duration kInterruptDeadline = seconds(30);
constexpr Duration kLook = milliseconds(200);

struct Item {
    Kind kind = Kind::Run;
    std::string scenario;
    /// What `highwater run` is given: the scenario's name, or its file.
    std::string argument;
    std::uint64_t seed = 0;
    std::string bugs;
    /// Of a comparison: "key=value,value".
    std::string param;
    std::string expected = "valid";
    std::string sut = "node";
    /// Of a drawn scenario: what stands in its file.
    std::string text;
};

/// A scenario and the word that names it on a command line.
struct Chosen {
    std::string argument;
    Scenario scenario;
};

struct Running {
    Item item;
    std::string dir;
    Instant began;
    Child child;
};

std::string reproduce_text(const Item& item) {
    RunArguments arguments;
    arguments.scenario = item.argument;
    arguments.bugs = item.bugs;
    arguments.sut = item.sut;
    if (item.kind != Kind::Compare) return reproduce_command(arguments, item.seed);
    return fmt::format("highwater compare {} --param {} --seed {}{}{}{}{}",
                       results::shell_quoted(item.argument), results::shell_quoted(item.param), item.seed,
                       item.sut == "node" ? "" : " --sut ", item.sut == "node" ? "" : item.sut,
                       item.bugs.empty() ? "" : " --bug ", item.bugs);
}

std::vector<std::string> arguments_of(const Item& item, const std::string& dir) {
    std::vector<std::string> words{item.kind == Kind::Compare ? "compare" : "run",
                                   item.argument,
                                   "--sut",
                                   item.sut,
                                   "--seed",
                                   std::to_string(item.seed),
                                   "--out",
                                   dir,
                                   "--json"};
    if (item.kind == Kind::Compare) words.insert(words.end(), {"--param", item.param});
    if (!item.bugs.empty()) words.insert(words.end(), {"--bug", item.bugs});
    return words;
}

/// The one JSON object among what the child printed; null if there is none.
nlohmann::json printed_object(const std::string& file) {
    std::ifstream in(file);
    nlohmann::json found;
    for (std::string line; std::getline(in, line);) {
        if (!line.starts_with('{')) continue;
        nlohmann::json json = nlohmann::json::parse(line, nullptr, false);
        if (json.is_object()) found = std::move(json);
    }
    return found;
}

std::string last_line(const std::string& file) {
    std::ifstream in(file);
    std::string last;
    for (std::string line; std::getline(in, line);) {
        if (!line.empty()) last = line;
    }
    return last;
}

class NightWatch {
public:
    NightWatch(const NightOptions& options, std::vector<Chosen> scenarios, results::RunDir dir)
        : options_(options),
          scenarios_(std::move(scenarios)),
          dir_(std::move(dir)),
          terminal_(::isatty(STDERR_FILENO) == 1) {
        night_.command = options.command_line;
        night_.seed = options.seed;
        night_.budget_seconds = to_seconds(options.budget);
        night_.bugs = options.bugs;
        night_.canary = options.canary;
    }

    Result<results::Night> spend() {
        for (const auto phase : {&NightWatch::first_round, &NightWatch::comparisons, &NightWatch::canary,
                                 &NightWatch::more_rounds}) {
            if (Status done = (this->*phase)(); !done) return tl::make_unexpected(done.error());
        }
        night_.interrupted = interrupted();
        if (Status written = write(); !written) return tl::make_unexpected(written.error());
        clear_line();
        return std::move(night_);
    }

private:
    [[nodiscard]] bool interrupted() const {
        return options_.interrupted != nullptr && options_.interrupted->load();
    }
    [[nodiscard]] Duration elapsed() const { return monotonic_now() - began_; }

    [[nodiscard]] Item run_of(const Chosen& chosen, std::uint64_t seed) const {
        return {Kind::Run,
                chosen.scenario.name,
                chosen.argument,
                seed,
                options_.bugs,
                "",
                chosen.scenario.expect.verdict_on(options_.family),
                options_.sut};
    }

    /// Every scenario once, whatever the budget.
    Status first_round() {
        std::deque<Item> items;
        for (const Chosen& chosen : scenarios_) items.push_back(run_of(chosen, options_.seed));
        return run_all(std::move(items));
    }

    /// What a scenario's [compare.expect] speaks of: one comparison for each of its keys.
    Status comparisons() {
        std::deque<Item> items;
        for (const auto& [argument, scenario] : scenarios_) {
            std::map<std::string, std::string> values;
            for (const auto& [side, expectation] : scenario.compare_expect) {
                const std::size_t equals = side.find('=');
                // Systems side by side are asked for by hand: a night has one.
                if (side.substr(0, equals) == results::kSutParam) continue;
                std::string& list = values[side.substr(0, equals)];
                list += (list.empty() ? "" : ",") + side.substr(equals + 1);
            }
            for (const auto& [key, list] : values) {
                if (list.find(',') == std::string::npos) continue;  // one side is no comparison
                items.push_back({Kind::Compare, scenario.name, argument, options_.seed, options_.bugs,
                                 fmt::format("{}={}", key, list), "valid", options_.sut});
            }
        }
        return run_all(std::move(items));
    }

    /// Scenario after scenario, until one finds it.
    Status canary() {
        if (options_.canary == "none") return {};
        std::vector<std::string> names{kCanaryScenario};
        for (const std::string& path : bundled_scenarios()) {
            const std::string name = fs::path(path).stem().string();
            const auto scenario = load_scenario(path, {});
            const bool fits = scenario && scenario->runs_on("node");
            if (fits && name != kCanaryScenario) names.push_back(name);
        }
        std::size_t next = 0;
        return run_all([&]() -> std::optional<Item> {
            const bool found = !night_.runs.empty() && night_.runs.back().kind == Kind::Canary &&
                               night_.runs.back().as_expected();
            if (found || next == names.size()) return std::nullopt;
            const std::string& name = names[next++];
            return Item{Kind::Canary, name, name, options_.seed, options_.canary, "", "invalid"};
        });
    }

    /// One seed after the other, each for every scenario, while the next run fits into the budget.
    Status more_rounds() {
        std::size_t next = 0;
        return run_all([&]() -> std::optional<Item> {
            if (options_.directed) return drawn(next++);
            const Chosen& chosen = scenarios_[next % scenarios_.size()];
            if (elapsed() + lasted_[chosen.scenario.name] > options_.budget) return std::nullopt;
            const std::uint64_t round = 1 + next++ / scenarios_.size();
            return run_of(chosen, options_.seed + round);
        });
    }

    /// The next of the scenarios that seeds draw; one at least.
    std::optional<Item> drawn(std::size_t number) {
        if (number > 0 && elapsed() + longest_drawn_ > options_.budget) return std::nullopt;
        Item item{Kind::Run, "", "", options_.seed + number, options_.bugs, "", "valid", options_.sut};
        item.scenario = directed_name(item.seed);
        item.text = directed_scenario(item.seed);
        return item;
    }

    Status run_all(std::deque<Item> items) {
        return run_all([items = std::move(items)]() mutable -> std::optional<Item> {
            if (items.empty()) return std::nullopt;
            Item item = std::move(items.front());
            items.pop_front();
            return item;
        });
    }

    /// Asks `next` for an item whenever fewer than `jobs` are running.
    Status run_all(const std::function<std::optional<Item>()>& next) {
        std::vector<Running> running;
        bool more = true;
        while (more || !running.empty()) {
            while (more && !interrupted() && running.size() < static_cast<std::size_t>(options_.jobs)) {
                std::optional<Item> item = next();
                more = item.has_value();
                if (!item) break;
                auto started = start(std::move(*item));
                if (!started) return tl::make_unexpected(started.error());
                running.push_back(std::move(*started));
            }
            if (interrupted()) {
                stop(running);
                return {};
            }
            if (running.empty()) continue;
            show_progress(running);
            running.front().child.wait_exit(monotonic_now() + kLook);
            if (Status collected = collect(running); !collected) return collected;
        }
        return {};
    }

    Result<Running> start(Item item) {
        const std::string dir =
            dir_.file(fmt::format("{:03}-{}-{}", ++started_, night_kind_name(item.kind), item.scenario));
        std::error_code error;
        fs::create_directories(dir, error);
        if (error) return failure(fmt::format("{}: {}", dir, error.message()));
        if (!item.text.empty()) {
            item.argument = fmt::format("{}/{}.toml", dir, item.scenario);
            std::ofstream out(item.argument);
            out << item.text;
            out.close();
            if (!out) return failure(item.argument + " cannot be written");
        }
        ChildOptions options;
        options.program = "/proc/self/exe";
        options.args = arguments_of(item, dir);
        options.output_file = dir + "/output.txt";
        auto child = Child::launch(options);
        if (!child) return tl::make_unexpected(child.error());
        return Running{std::move(item), dir, monotonic_now(), std::move(*child)};
    }

    Status collect(std::vector<Running>& running) {
        for (auto it = running.begin(); it != running.end();) {
            std::optional<ExitStatus> ended = it->child.poll_exit();
            std::string fault;
            if (!ended && monotonic_now() - it->began > kRunDeadline) {
                ended = it->child.kill(monotonic_now() + kInterruptDeadline);
                fault = fmt::format("did not end within {}", format_duration(kRunDeadline));
                if (!ended)
                    return failure(
                        fmt::format("{} seed {}: cannot be killed", it->item.scenario, it->item.seed));
            }
            if (!ended) {
                ++it;
                continue;
            }
            if (Status told = finish(*it, *ended, std::move(fault)); !told) return told;
            it = running.erase(it);
        }
        return {};
    }

    Status finish(const Running& run, const ExitStatus& ended, std::string fault) {
        NightRun result;
        result.kind = run.item.kind;
        result.scenario = run.item.scenario;
        result.seed = run.item.seed;
        result.expected = run.item.expected;
        result.reproduce = reproduce_text(run.item);
        result.seconds = to_seconds(ended.seen - run.began);
        const std::string output = run.dir + "/output.txt";
        const nlohmann::json json = printed_object(output);
        result.verdict = "harness-fault";
        if (fault.empty() && json.is_object() && ended.code >= 0 && ended.code <= 2) {
            result.verdict = json.value("verdict", "harness-fault");
            result.violations = json.value("violations", std::vector<std::string>{});
            result.reasons = json.value("reasons", std::vector<std::string>{});
            result.sentence = sentence_of(json);
        } else {
            result.sentence = fault.empty() ? fmt::format("{}: {}", ended.to_string(), last_line(output))
                                            : std::move(fault);
        }
        Duration& longest = run.item.text.empty() ? lasted_[run.item.scenario] : longest_drawn_;
        longest = std::max(longest, ended.seen - run.began);
        // A canary that lives is no failure of its run: another scenario may find it.
        const bool told = result.kind == Kind::Canary && result.verdict != "harness-fault";
        if (result.as_expected() || told) {
            std::error_code error;
            fs::remove_all(run.dir, error);
            if (error) return failure(fmt::format("{}: {}", run.dir, error.message()));
        } else {
            const std::string run_dir = json.is_object() ? json.value("run_dir", "") : "";
            result.kept = run_dir.empty() ? run.dir : run_dir;
        }
        say(result);
        night_.runs.push_back(std::move(result));
        return write();
    }

    /// The run's own first sentence; of a comparison, what it was not met by.
    static std::string sentence_of(const nlohmann::json& json) {
        const std::string dir = json.value("run_dir", "");
        if (dir.empty()) {
            const auto reasons = json.value("reasons", std::vector<std::string>{});
            return reasons.empty() ? "" : reasons.front();
        }
        const auto text = read_text_file(dir + "/verdict.json");
        auto verdict =
            text ? verdict_from_json(*text, dir) : Result<Verdict>(tl::make_unexpected(text.error()));
        if (!verdict) return verdict.error().message;
        results::RunResult result;
        result.verdict = std::move(*verdict);
        return results::headline(result);
    }

    /// SIGINT, as a person would; their files are removed, because nobody judged them.
    void stop(std::vector<Running>& running) {
        for (const Running& run : running) ::kill(run.child.pid(), SIGINT);
        for (Running& run : running) {
            if (!run.child.wait_exit(monotonic_now() + kInterruptDeadline))
                run.child.kill(monotonic_now() + kInterruptDeadline);
            std::error_code error;
            fs::remove_all(run.dir, error);
            if (error) fmt::print(stderr, "highwater: {}: {}\n", run.dir, error.message());
        }
        running.clear();
    }

    Status write() {
        night_.elapsed_seconds = to_seconds(elapsed());
        for (const auto& [name, text] : {std::pair("summary.md", results::night_to_markdown(night_)),
                                         std::pair("junit.xml", results::night_to_junit(night_)),
                                         std::pair("nightly.json", results::night_to_json(night_) + "\n")}) {
            if (Status written = dir_.write(name, text); !written) return written;
        }
        return {};
    }

    void clear_line() const {
        if (terminal_) fmt::print(stderr, "\r\033[K");
    }
    void say(const NightRun& run) const {
        if (terminal_ && run.as_expected()) return;
        clear_line();
        fmt::print(stderr, "{:>7.1f} s  {} {} seed {}: {}{}\n", to_seconds(elapsed()),
                   night_kind_name(run.kind), run.scenario, run.seed, run.verdict,
                   run.as_expected() ? "" : " — " + run.sentence);
    }
    /// One line that is written over again and again; nothing where no terminal shows it.
    void show_progress(const std::vector<Running>& running) const {
        if (!terminal_) return;
        const auto bad = std::count_if(night_.runs.begin(), night_.runs.end(),
                                       [](const NightRun& run) { return !run.as_expected(); });
        fmt::print(stderr, "\r\033[K{:.1f} of {:.1f} min · {} done, {} not as expected · {} {} seed {}",
                   to_seconds(elapsed()) / 60, night_.budget_seconds / 60, night_.runs.size(), bad,
                   night_kind_name(running.front().item.kind), running.front().item.scenario,
                   running.front().item.seed);
        std::fflush(stderr);
    }

    const NightOptions& options_;
    std::vector<Chosen> scenarios_;
    results::RunDir dir_;
    bool terminal_;
    Instant began_ = monotonic_now();
    results::Night night_;
    int started_ = 0;
    /// The longest run of each scenario so far.
    std::map<std::string, Duration> lasted_;
    Duration longest_drawn_{0};
};

}  // namespace

Result<results::Night> spend_night(const NightOptions& options, std::string& dir) {
    std::vector<Chosen> scenarios;
    std::vector<std::string> names = options.scenarios;
    if (names.empty() && !options.directed) {
        for (const std::string& path : bundled_scenarios()) names.push_back(fs::path(path).stem().string());
    }
    for (const std::string& name : names) {
        const auto path = find_scenario(name);
        if (!path) return tl::make_unexpected(path.error());
        auto scenario = load_scenario(*path, {});
        if (!scenario) return tl::make_unexpected(scenario.error());
        const Status fits = scenario->runs_on(options.family);
        if (!fits && options.scenarios.empty()) continue;  // one of those for other systems
        if (!fits) return tl::make_unexpected(fits.error());
        scenarios.push_back({name, std::move(*scenario)});
    }
    if (scenarios.empty() && !options.directed)
        return failure("no scenario to run: there is none beside the program");
    auto created = results::RunDir::create((fs::path(options.out) / "nightly").string(), "", options.seed);
    if (!created) return tl::make_unexpected(created.error());
    dir = created->path();
    return NightWatch(options, std::move(scenarios), std::move(*created)).spend();
}

}  // namespace highwater::harness
