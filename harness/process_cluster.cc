#include "harness/process_cluster.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <thread>

#include "node/log/checkpoint.h"
#include "workloads/broker_client.h"

namespace highwater::harness {
namespace {

/// How often a condition of the start is looked at; each look is a round trip of its own.
constexpr Duration kLook = milliseconds(10);
/// From a command to the node behind it.
constexpr Duration kWrapperPatience = seconds(10);
constexpr Duration kAskPatience = milliseconds(500);

void look_again() { std::this_thread::sleep_for(kLook); }

}  // namespace

Status write_file(const std::string& path, const std::string& text) {
    std::ofstream out(path, std::ios::trunc);
    out << text;
    out.close();
    return out ? Status{} : failure(fmt::format("{}: cannot be written", path));
}

ProcessCluster::ProcessCluster(const Scenario& scenario, ClusterOptions options)
    : scenario_(scenario), options_(std::move(options)) {
    for (BrokerId id = 1; id <= scenario.cluster.brokers; ++id) members_.brokers.push_back(id);
    for (std::int32_t i = 0; i < scenario.cluster.controllers; ++i)
        members_.controllers.push_back(nemesis::kFirstController + i);
    for (std::int32_t i = 0; i < options_.clients; ++i) members_.clients.push_back(nemesis::kFirstClient + i);
}

ProcessCluster::~ProcessCluster() {
    nodes_.clear();  // ~Child kills and reaps
    network_.reset();
}

std::string ProcessCluster::node_dir(BrokerId id) const {
    return fmt::format("{}/nodes/{}", options_.run_dir, id);
}

workloads::SocketAddress ProcessCluster::direct_address(BrokerId broker) const {
    return {slot_->plan().real_address(broker), nemesis::kDirectPort};
}

std::map<BrokerId, workloads::SocketAddress> ProcessCluster::client_addresses(std::int32_t client) const {
    std::map<BrokerId, workloads::SocketAddress> addresses;
    const BrokerId id = members_.clients[static_cast<std::size_t>(client) % members_.clients.size()];
    for (const BrokerId broker : members_.brokers) {
        addresses[broker] = {slot_->plan().address(id, broker), nemesis::kClientPort};
    }
    return addresses;
}

std::string ProcessCluster::quorum_voters() const {
    std::string text;
    for (const BrokerId id : members_.controllers) {
        text += fmt::format("{}{}@{}:{}", text.empty() ? "" : ",", id, nemesis::AddressPlan::name(id),
                            nemesis::kControllerPort);
    }
    return text;
}

std::string ProcessCluster::listener_properties(BrokerId id) const {
    const std::string real = plan().real_address(id);
    const std::string name = nemesis::AddressPlan::name(id);
    const BrokerId seen_by = options_.direct_seen_by;
    const std::string direct = seen_by == kNoBroker ? real : plan().address(seen_by, id);
    const std::string common =
        "controller.listener.names=CONTROLLER\n"
        "listener.security.protocol.map=INTERNAL:PLAINTEXT,CLIENT:PLAINTEXT,DIRECT:PLAINTEXT,CONTROLLER:"
        "PLAINTEXT\n";
    if (nemesis::is_controller(id)) {
        return common + fmt::format(
                            "process.roles=controller\nlisteners=CONTROLLER://{0}:{1}\n"
                            "advertised.listeners=CONTROLLER://{2}:{1}\n",
                            real, nemesis::kControllerPort, name);
    }
    return common + fmt::format(
                        "process.roles=broker\ninter.broker.listener.name=INTERNAL\n"
                        "listeners=INTERNAL://{0}:{1},CLIENT://{0}:{2},DIRECT://{0}:{3}\n"
                        "advertised.listeners=INTERNAL://{4}:{1},CLIENT://{4}:{2},DIRECT://{5}:{3}\n",
                        real, nemesis::kInternalPort, nemesis::kClientPort, nemesis::kDirectPort, name,
                        direct);
}

Status ProcessCluster::write_hosts(BrokerId id) const {
    return write_file(node_dir(id) + "/hosts", plan().hosts_file(id, members_));
}

Result<nemesis::Process> ProcessCluster::find_behind(Child& wrapper, const Program& program) {
    const Instant deadline = monotonic_now() + kWrapperPatience;
    while (monotonic_now() < deadline) {
        const auto pid =
            nemesis::Process::find_in_group(wrapper.pid(), program.executable, program.own_argument);
        if (pid && *pid == wrapper.pid()) return nemesis::Process::attach(*pid);
        if (pid) return nemesis::Process::attach_within(*pid, wrapper.pid());
        look_again();
    }
    const auto ended = wrapper.poll_exit();
    return failure(fmt::format("cluster.command: no {} in its process group within {}{}", program.executable,
                               format_duration(kWrapperPatience),
                               ended ? "; the command: " + ended->to_string() : ""));
}

Status ProcessCluster::launch(BrokerId id) {
    Node& node = nodes_[id];
    const std::int32_t incarnation = ++node.incarnation;
    std::error_code error;
    std::filesystem::create_directories(node_dir(id), error);
    if (error) return failure(fmt::format("{}: {}", node_dir(id), error.message()));
    auto program = program_of(id, incarnation);
    if (!program) return tl::make_unexpected(program.error());
    ChildOptions options;
    options.program = program->executable;
    options.args = program->args;
    options.output_file = node_dir(id) + "/stdout.log";
    const std::vector<std::string>& command = scenario_.cluster.command;
    options.wrapper = !command.empty();
    if (options.wrapper) {
        options.args.insert(options.args.begin(), options.program);
        options.args.insert(options.args.begin(), command.begin() + 1, command.end());
        options.program = command.front();
    }
    node.child.reset();  // what a wrapper of the last start has left
    auto child = Child::launch(options);
    if (!child) return tl::make_unexpected(child.error());
    auto process = options.wrapper ? find_behind(*child, *program) : nemesis::Process::attach(child->pid());
    if (!process) return tl::make_unexpected(process.error());
    node.child = std::make_unique<Child>(std::move(*child));
    node.process = std::make_unique<nemesis::Process>(std::move(*process));
    node.paused = false;
    node.end_expected = false;
    return {};
}

Status ProcessCluster::start(Instant deadline) {
    auto slot = nemesis::SlotClaim::claim();
    if (!slot) return tl::make_unexpected(slot.error());
    slot_ = std::make_unique<nemesis::SlotClaim>(std::move(*slot));
    nemesis::NetworkOptions options;
    options.seed = options_.seed;
    auto network = nemesis::Network::start(slot_->plan(), members_, std::move(options));
    if (!network) return tl::make_unexpected(network.error());
    network_ = std::move(*network);
    if (Status prepared = prepare(); !prepared) return prepared;
    for (const BrokerId id : members_.controllers) {
        if (Status launched = launch(id); !launched) return launched;
    }
    for (const BrokerId id : members_.brokers) {
        if (Status launched = launch(id); !launched) return launched;
    }
    if (Status ready = wait_for_brokers(deadline); !ready) return ready;
    if (Status created = create_topic(deadline); !created) return created;
    return wait_for_topic(deadline);
}

Status ProcessCluster::wait_for_brokers(Instant deadline) {
    std::string last = "no answer";
    while (monotonic_now() < deadline) {
        if (const auto ended = crashes(); !ended.empty()) return failure(ended.front());
        std::size_t ready = 0;
        for (const BrokerId id : members_.brokers) {
            workloads::BrokerClient client(direct_address(id), "starter", "");
            const auto response = client.metadata(scenario_.topic.name, monotonic_now() + kAskPatience);
            if (!response) break;
            last = fmt::format("broker {} knows {} of {} brokers", id, response->brokers.size(),
                               members_.brokers.size());
            if (response->brokers.size() != members_.brokers.size()) break;
            ++ready;
        }
        if (ready == members_.brokers.size()) return {};
        look_again();
    }
    return failure(fmt::format("the cluster did not start in time: {}", last));
}

Status ProcessCluster::create_topic(Instant deadline) {
    wire::CreateTopicsRequest request;
    request.timeout_ms = 10'000;
    auto& topic = request.topics.emplace_back();
    topic.name = scenario_.topic.name;
    topic.num_partitions = -1;
    topic.replication_factor = -1;
    for (std::size_t i = 0; i < scenario_.topic.assignment.size(); ++i) {
        topic.assignments.push_back({static_cast<std::int32_t>(i), scenario_.topic.assignment[i]});
    }
    for (const auto& [key, value] : scenario_.topic.configs) topic.configs.push_back({key, value});
    workloads::BrokerClient client(direct_address(members_.brokers.front()), "starter", "");
    const auto response = client.create_topics(request, deadline);
    if (!response) return failure("create topic: " + workloads::attempt_error(response.error()));
    for (const auto& answer : response->topics) {
        if (answer.error_code == wire::ErrorCode::None) continue;
        return failure(fmt::format("create topic {}: {}: {}", answer.name,
                                   wire::error_name(answer.error_code), answer.error_message.value_or("")));
    }
    return {};
}

Status ProcessCluster::wait_for_topic(Instant deadline) {
    std::string last = "no answer";
    while (monotonic_now() < deadline) {
        std::size_t ready = 0;
        for (const BrokerId id : members_.brokers) {
            workloads::BrokerClient client(direct_address(id), "starter", "");
            const auto response = client.metadata(scenario_.topic.name, monotonic_now() + kAskPatience);
            if (!response || response->topics.size() != 1) break;
            const auto& partitions = response->topics[0].partitions;
            if (partitions.size() != scenario_.topic.assignment.size()) break;
            const bool whole = std::all_of(partitions.begin(), partitions.end(), [&](const auto& entry) {
                const auto& replicas =
                    scenario_.topic.assignment[static_cast<std::size_t>(entry.partition_index)];
                return entry.leader_id == replicas.front() && entry.isr_nodes.size() == replicas.size();
            });
            if (!whole) break;
            ++ready;
        }
        if (ready == members_.brokers.size()) return {};
        look_again();
    }
    return failure(fmt::format("topic {} did not become whole in time: {}", scenario_.topic.name, last));
}

void ProcessCluster::stop() {
    for (auto& [id, node] : nodes_) node.end_expected = true;
    nodes_.clear();  // ~Child kills and reaps
    network_.reset();
}

Result<std::vector<std::string>> ProcessCluster::bypasses() {
    return network_->bypasses([this](BrokerId id, std::uint64_t inode) {
        const auto found = nodes_.find(id);
        return found != nodes_.end() && found->second.process && found->second.process->owns_socket(inode);
    });
}

pid_t ProcessCluster::pid(BrokerId id) const {
    const auto found = nodes_.find(id);
    return found == nodes_.end() || !found->second.process ? -1 : found->second.process->pid();
}

bool ProcessCluster::running(BrokerId id) const {
    const auto found = nodes_.find(id);
    return found != nodes_.end() && found->second.process && !found->second.process->gone();
}

bool ProcessCluster::paused(BrokerId id) const {
    const auto found = nodes_.find(id);
    return found != nodes_.end() && found->second.paused && running(id);
}

bool ProcessCluster::ended_by_fault(BrokerId id) const {
    const auto found = nodes_.find(id);
    return found != nodes_.end() && found->second.end_expected;
}

std::vector<std::string> ProcessCluster::crashes() {
    std::vector<std::string> found;
    for (auto& [id, node] : nodes_) {
        if (node.end_expected || !node.child || !node.process || !node.process->gone()) continue;
        // Nobody but its wrapper learns how it ended.
        std::optional<ExitStatus> status = ExitStatus{};
        if (node.process->pid() == node.child->pid()) status = node.child->poll_exit();
        if (!status) continue;
        found.push_back(fmt::format("{} {} ended by itself: {}",
                                    nemesis::is_controller(id) ? "controller" : "broker", id,
                                    status->to_string()));
    }
    return found;
}

std::vector<std::string> ProcessCluster::log_files(BrokerId id) const {
    return {node_dir(id) + "/stdout.log"};
}

std::optional<Offset> ProcessCluster::checkpointed_high_watermark(BrokerId id) const {
    const std::string path = fmt::format("{}/{}", data_dir(id), node::kReplicationOffsetCheckpoint);
    std::ifstream file(path);
    if (!file) return std::nullopt;
    const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    // It is replaced as a whole, so what cannot be read is no checkpoint of a node at rest.
    const auto offsets = node::parse_offset_checkpoint(text, path);
    if (!offsets) return std::nullopt;
    const auto found = offsets->find({scenario_.topic.name, 0});
    return found == offsets->end() ? std::nullopt : std::optional(found->second);
}

}  // namespace highwater::harness
