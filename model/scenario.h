// A scenario: cluster, topic, workloads, faults, heal and what is expected. docs/scenarios.md is the user's
// page.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"
#include "model/fault.h"

namespace highwater {

struct ClusterSpec {
    std::int32_t brokers = 3;
    std::int32_t controllers = 1;
    /// Kafka's own keys, for every broker and controller.
    std::map<std::string, std::string> properties;
    /// Starts each process: a program and its arguments, followed by the node program and the path of its
    /// properties. Empty: the node program is started itself.
    std::vector<std::string> command;
};

struct TopicSpec {
    std::string name = "t";
    /// Replicas of each partition; the first leads first.
    std::vector<std::vector<BrokerId>> assignment;
    /// min.insync.replicas, unclean.leader.election.enable.
    std::map<std::string, std::string> configs;

    [[nodiscard]] std::int32_t min_insync_replicas() const;
    [[nodiscard]] bool unclean_leader_election() const;
};

/// What the consumers of a workload read: on from where they are; the log from its start, again and again;
/// on, but from replicas that do not lead.
enum class ReadMode : std::uint8_t { Follow, FromStart, Followers };
std::string_view read_mode_name(ReadMode mode);

/// A part of a workload with its own acks and a count; the phases of a workload follow one another.
struct WorkloadPhase {
    /// Appends over all producers of the workload, definite refusals not counted; 0: until the load ends.
    std::int64_t records = 0;
    /// Drawn evenly from these, each -1, 0 or 1.
    std::vector<std::int16_t> acks{-1};
    /// Begins when this fault is complete; "": when the phase before has ended.
    std::string after;
};

/// Who speaks to the brokers: our own client, one request for each attempt; or librdkafka, which repeats
/// requests by itself and shows what an application sees; or the program kcat, one process for each append.
enum class ClientKind : std::uint8_t { Raw, Rdkafka, Kcat };
std::string_view client_kind_name(ClientKind kind);

struct WorkloadSpec {
    std::string kind = "append";
    ClientKind client = ClientKind::Raw;
    /// Drawn evenly from these, each -1, 0 or 1.
    std::vector<std::int16_t> acks{-1};
    std::int32_t producers = 1;
    std::int32_t consumers = 1;
    /// Appends per second over all producers; 0 sends nothing; nullopt: the next one when the last was
    /// answered.
    std::optional<double> rate;
    /// timeout.ms of a produce; the client itself waits a second longer.
    Duration request_timeout = milliseconds(3000);
    /// Of a client that repeats requests by itself: all attempts of one append together.
    Duration delivery_timeout = seconds(30);
    /// Appends of one producer under way at once; more than one only with a client that sees to them itself.
    std::int32_t in_flight = 1;
    /// A producer id and sequence numbers: the broker recognises what was sent again.
    bool idempotent = false;
    /// More attempts for the same record where the answer allows one, all of them one operation.
    std::int32_t retries = 0;
    /// Bytes of a record's value, drawn evenly; shorter ones than the value itself needs are not made.
    std::int32_t size_min = 0;
    std::int32_t size_max = 0;
    ReadMode read = ReadMode::Follow;
    /// Empty: one phase without end.
    std::vector<WorkloadPhase> phases;

    /// Appends with acks=all in some phase; in the last one, which has no end.
    [[nodiscard]] bool appends_acks_all() const;
    [[nodiscard]] bool appends_acks_all_to_the_end() const;
};

/// A random mix of faults: drawn from the run's seed, played like written ones.
struct MixSpec {
    std::string id;
    /// From the start of the load, and how long it goes on.
    Duration at{0};
    Duration lasts = seconds(30);
    /// Between two strikes, on average.
    Duration every = seconds(2);
    /// How long each fault lasts: uniform between the two.
    Duration shortest = milliseconds(500);
    Duration longest = seconds(3);
    /// Most nodes affected at any moment; a node counts until `settle` after its fault is over.
    std::int32_t most = 1;
    Duration settle = seconds(2);
    /// Fault kind -> how often, relative to the others.
    std::map<std::string, std::int32_t> weights;
};

struct HealSpec {
    /// Restart what ended: all, or nothing.
    bool restart_all = true;
    /// An acks=all append and a full ISR within this time after heal, else `stuck`.
    Duration progress_within = seconds(30);
};

/// "lost_committed >= 1": a counter of the outcome and what it must be.
struct Expectation {
    std::string text;
    std::string counter;
    std::string op;
    std::int64_t number = 0;
    [[nodiscard]] bool met(std::int64_t value) const;
};
Result<Expectation> parse_expectation(const std::string& text);

struct ExpectSpec {
    /// Evidence that must have been seen, else the run is unknown: "isr-shrunk", "not-enough-replicas" …
    std::vector<std::string> sometimes;
    /// Evidence that must not be seen, else the run is unknown: "fenced" …
    std::vector<std::string> never;
    /// What the scenario is meant to be, "valid" unless said, by cluster ("node", "kafka"; "": any other).
    std::map<std::string, std::string> verdict;
    [[nodiscard]] std::string verdict_on(const std::string& sut) const;
};

struct Scenario {
    std::string name;
    std::string title;
    /// Systems that it is for ("node", "kafka"); empty: every one.
    std::vector<std::string> suts;
    ClusterSpec cluster;
    TopicSpec topic;
    std::vector<WorkloadSpec> workloads;
    std::vector<FaultSpec> faults;
    std::vector<MixSpec> mixes;
    /// Workload time after the last fault completed and before heal.
    Duration linger = seconds(1);
    HealSpec heal;
    ExpectSpec expect;
    /// "key=value" -> expectation on that side of `highwater compare`.
    std::vector<std::pair<std::string, Expectation>> compare_expect;

    /// Error: it is for others than `sut` ("node", "kafka").
    [[nodiscard]] Status runs_on(const std::string& sut) const;
};

/// "key=value" as given to --set.
struct Setting {
    std::string key;
    std::string value;
};
Result<Setting> parse_setting(const std::string& text);

/// Reads TOML or JSON (by content), applies the settings, validates everything. Errors name file, line and
/// key.
Result<Scenario> load_scenario(const std::string& path, const std::vector<Setting>& settings);
Result<Scenario> parse_scenario(std::string_view text, const std::string& file_name,
                                const std::vector<Setting>& settings);
/// The resolved scenario as JSON that parse_scenario reads back to the same.
std::string scenario_to_json(const Scenario& scenario);

/// "500ms", "3s", "1.5s", "2m". Errors: anything else.
Result<Duration> parse_duration(std::string_view text);
std::string format_duration(Duration duration);

}  // namespace highwater
