#include "harness/kafka/cluster.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/rng.h"

namespace highwater::harness {
namespace {

namespace fs = std::filesystem;

/// The same for every cluster (16 bytes in base64url): templates carry it, and no two clusters meet.
constexpr const char* kClusterId = "aGlnaHdhdGVyIHRlc3RzIQ";
constexpr Duration kFormatPatience = seconds(60);
/// A cluster's features, which only the formatting tool takes; every other key is a process's.
constexpr std::string_view kFeatures[] = {"eligible.leader.replicas.version", "transaction.version",
                                          "group.version", "share.version", "kraft.version"};

bool is_feature(const std::string& key) {
    return std::find(std::begin(kFeatures), std::end(kFeatures), key) != std::end(kFeatures);
}

/// What keeps a JVM of a test cluster small (139-160 MiB instead of 280) and its internal topics possible on
/// few brokers. The scenario's own keys win.
std::map<std::string, std::string> small_cluster_properties(std::int32_t brokers) {
    const std::string copies = std::to_string(std::min(brokers, 3));
    return {{"auto.create.topics.enable", "false"},
            {"log.cleaner.dedupe.buffer.size", "4194304"},
            {"num.network.threads", "2"},
            {"num.io.threads", "2"},
            {"background.threads", "2"},
            {"offsets.topic.replication.factor", copies},
            {"transaction.state.log.replication.factor", copies},
            {"transaction.state.log.min.isr", "1"}};
}

/// "%m" with the time in milliseconds first, which KafkaTrace reads.
/// Without log4j's own shutdown hook, which silences a broker while it shuts down.
constexpr const char* kLogging =
    "shutdownHook = disable\n"
    "rootLogger.level = info\n"
    "rootLogger.appenderRef.out.ref = out\n"
    "appender.out.type = Console\n"
    "appender.out.name = out\n"
    "appender.out.layout.type = PatternLayout\n"
    "appender.out.layout.pattern = %d{UNIX_MILLIS} %p %m (%c{1})%n%throwable\n";

std::string text_of(const std::string& path) {
    std::ifstream in(path);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

}  // namespace

KafkaCluster::KafkaCluster(const Scenario& scenario, ClusterOptions options, KafkaDistribution distribution)
    : ProcessCluster(scenario, std::move(options)), distribution_(std::move(distribution)) {}

KafkaCluster::~KafkaCluster() { stop(); }

std::string KafkaCluster::properties(BrokerId id) const {
    std::map<std::string, std::string> keys = small_cluster_properties(scenario().cluster.brokers);
    for (const auto& [key, value] : scenario().cluster.properties) {
        if (!is_feature(key)) keys[key] = value;
    }
    std::string text = fmt::format("node.id={}\ncontroller.quorum.voters={}\nlog.dirs={}\n", id,
                                   quorum_voters(), data_dir(id));
    std::string listeners = listener_properties(id);
    if (nemesis::is_controller(id) && !distribution_.version.at_least(3, 9)) {
        // Older ones have no endpoints to tell, and refuse the key.
        const std::size_t begin = listeners.find("advertised.listeners=");
        listeners.erase(begin, listeners.find('\n', begin) + 1 - begin);
    }
    text += listeners;
    for (const auto& [key, value] : keys) text += fmt::format("{}={}\n", key, value);
    return text;
}

std::vector<std::string> KafkaCluster::java_options(BrokerId id) const {
    std::vector<std::string> options{"-Xmx256m", "-Xms64m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1",
                                     "-XX:-UsePerfData"};
    if (!distribution_.class_archive.empty()) {
        options.push_back("-XX:SharedArchiveFile=" + distribution_.class_archive);
    }
    options.push_back(fmt::format("-XX:ErrorFile={}/hs_err.log", node_dir(id)));
    options.push_back(fmt::format("-Djava.io.tmpdir={}/tmp", node_dir(id)));
    options.push_back(fmt::format("-Djdk.net.hosts.file={}/hosts", node_dir(id)));
    options.push_back(fmt::format("-Dlog4j2.configurationFile={}/log4j2.properties", node_dir(id)));
    options.insert(options.end(), {"-cp", distribution_.class_path()});
    return options;
}

Result<ProcessCluster::Program> KafkaCluster::program_of(BrokerId id, std::int32_t incarnation) {
    const std::string file = node_dir(id) + "/server.properties";
    std::error_code error;
    fs::create_directories(node_dir(id) + "/tmp", error);
    if (error) return failure(fmt::format("{}/tmp: {}", node_dir(id), error.message()));
    Status done = write_hosts(id);
    if (done) done = write_file(file, properties(id));
    if (done) done = write_file(node_dir(id) + "/log4j2.properties", kLogging);
    if (done && !fs::exists(data_dir(id) + "/meta.properties", error)) done = format_copy(id);
    if (!done) return tl::make_unexpected(done.error());
    trace_->started(id, incarnation);
    std::vector<std::string> args = java_options(id);
    args.insert(args.end(), {"kafka.Kafka", file});
    return Program{distribution_.java, std::move(args), file};
}

// -- formatting

std::string KafkaCluster::template_dir(bool controller) const {
    return fmt::format("{}/nodes/format/{}", options().run_dir, controller ? "controller" : "broker");
}

Status KafkaCluster::format_directories() {
    bool defaults = true;
    for (const auto& [key, value] : scenario().cluster.properties) defaults = defaults && !is_feature(key);
    if (defaults && !distribution_.format_template.empty()) return {};
    return format_with_tool();
}

Status KafkaCluster::format_with_tool() {
    std::vector<std::pair<std::string, Child>> tools;
    for (const bool controller : {true, false}) {
        const BrokerId id = controller ? members().controllers.front() : members().brokers.front();
        const std::string directory = template_dir(controller);
        std::error_code error;
        fs::create_directories(directory, error);
        if (error) return failure(fmt::format("{}: {}", directory, error.message()));
        std::string text = properties(id);
        const std::string real = fmt::format("log.dirs={}\n", data_dir(id));
        text.replace(text.find(real), real.size(), fmt::format("log.dirs={}\n", directory));
        if (Status written = write_file(directory + ".properties", text); !written) return written;
        if (Status written = write_file(directory + ".log4j2.properties", kLogging); !written) return written;
        ChildOptions options;
        options.program = distribution_.java;
        options.output_file = directory + ".log";
        options.args = {"-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData"};
        if (!distribution_.class_archive.empty())
            options.args.push_back("-XX:SharedArchiveFile=" + distribution_.class_archive);
        options.args.insert(options.args.end(),
                            {fmt::format("-Dlog4j2.configurationFile={}.log4j2.properties", directory), "-cp",
                             distribution_.class_path(), "kafka.tools.StorageTool", "format", "-t",
                             kClusterId, "-c", directory + ".properties"});
        for (const auto& [key, value] : scenario().cluster.properties) {
            if (is_feature(key))
                options.args.insert(options.args.end(), {"--feature", fmt::format("{}={}", key, value)});
        }
        auto child = Child::launch(options);
        if (!child) return tl::make_unexpected(child.error());
        tools.emplace_back(directory, std::move(*child));
    }
    for (auto& [directory, tool] : tools) {
        const auto ended = tool.wait_exit(monotonic_now() + kFormatPatience);
        if (!ended || ended->code != 0) {
            return failure(fmt::format("Kafka's StorageTool format: {}\n{}",
                                       ended ? ended->to_string() : "not ended in time",
                                       text_of(directory + ".log")));
        }
    }
    return {};
}

Status KafkaCluster::format_copy(BrokerId id) {
    const bool controller = nemesis::is_controller(id);
    std::error_code error;
    std::string source = template_dir(controller);
    if (!fs::exists(source + "/meta.properties", error))
        source = distribution_.format_template + (controller ? "/controller" : "/broker");
    fs::create_directories(data_dir(id), error);
    if (!error) {
        fs::copy(source, data_dir(id), fs::copy_options::recursive | fs::copy_options::overwrite_existing,
                 error);
    }
    if (error) return failure(fmt::format("{} to {}: {}", source, data_dir(id), error.message()));
    // An identity of its own, a new one after a wipe: 16 bytes in base64url.
    Rng rng(options().seed + static_cast<std::uint64_t>(id) + (std::uint64_t{++formatted_} << 32U));
    return write_file(data_dir(id) + "/meta.properties",
                      fmt::format("version=1\ncluster.id={}\nnode.id={}\ndirectory.id={}\n", kClusterId, id,
                                  rng.uuid().to_string()));
}

Status KafkaCluster::prepare() {
    // Only a tool that knows all of its members writes right properties, so the plan comes first.
    return format_directories();
}

// -- what is seen from outside

Status KafkaCluster::start(Instant deadline) {
    KafkaTraceOptions watched;
    watched.topic = scenario().topic.name;
    watched.partitions = static_cast<std::int32_t>(scenario().topic.assignment.size());
    for (const BrokerId id : members().controllers)
        watched.controllers.push_back({id, node_dir(id), data_dir(id)});
    for (const BrokerId id : members().brokers) watched.brokers.push_back({id, node_dir(id), data_dir(id)});
    trace_ = std::make_unique<KafkaTrace>(std::move(watched));
    return ProcessCluster::start(deadline);
}

void KafkaCluster::stop() {
    ProcessCluster::stop();
    // What they wrote last is in their files now.
    if (trace_) trace_->stop();
}

void KafkaCluster::saw(const Operation& operation) {
    if (const auto* produce = operation.as<Produce>()) trace_->answered(operation.completed, *produce);
}

void KafkaCluster::sampled(BrokerId broker, const ReplicaSample& sample) { trace_->sampled(broker, sample); }

std::vector<std::string> KafkaCluster::trace_files() const {
    std::vector<std::string> files;
    for (const BrokerId id : members().brokers) files.push_back(KafkaTrace::file_of(node_dir(id)));
    files.push_back(KafkaTrace::file_of(node_dir(members().controllers.front())));
    return files;
}

std::vector<std::string> KafkaCluster::trace_files(BrokerId id) const {
    // What a quorum decides stands in one file, whoever led it.
    if (nemesis::is_controller(id)) return {KafkaTrace::file_of(node_dir(members().controllers.front()))};
    return {KafkaTrace::file_of(node_dir(id))};
}

std::vector<BrokerId> KafkaCluster::active_controllers() const {
    std::int64_t newest = -1;
    std::vector<BrokerId> leads;
    for (const BrokerId id : members().controllers) {
        const nlohmann::json state = nlohmann::json::parse(
            text_of(data_dir(id) + "/__cluster_metadata-0/quorum-state"), nullptr, false);
        if (!state.is_object()) continue;
        const std::int64_t epoch = state.value("leaderEpoch", std::int64_t{-1});
        const BrokerId leader = state.value("leaderId", kNoBroker);
        if (leader == kNoBroker || epoch <= newest) continue;
        newest = epoch;
        leads = {leader};
    }
    return leads;
}

}  // namespace highwater::harness
