#include "tests/sim/cluster.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "base/assert.h"
#include "base/overloaded.h"
#include "node/server/inspection.h"
#include "node/server/make_server.h"
#include "node/trace/trace_line.h"

namespace highwater::sim {
namespace {

constexpr std::uint16_t kInternalPort = 19091;
constexpr std::uint16_t kClientPort = 19092;
constexpr std::uint16_t kControllerPort = 19094;

/// "b1", "c100".
BrokerId id_of_name(const std::string& host) { return static_cast<BrokerId>(std::stoi(host.substr(1))); }

std::string listener_of(std::uint16_t port) {
    switch (port) {
        case kInternalPort:
            return "INTERNAL";
        case kClientPort:
            return "CLIENT";
        case kControllerPort:
            return "CONTROLLER";
        default:
            break;
    }
    HW_ASSERT(false, "port {}", port);
}

const node::ServerInspection& inspect(const node::Server& server) {
    return dynamic_cast<const node::ServerInspection&>(server);
}

}  // namespace

Cluster::Cluster(ClusterOptions options)
    : options_(std::move(options)), rng_(options_.seed), network_(scheduler_, rng_.fork()) {
    processes_[kController] = std::make_unique<Process>(*this, kController);
    for (const BrokerId id : kBrokers) processes_[id] = std::make_unique<Process>(*this, id);
    invariants_ = std::make_unique<Invariants>(*this, partitions(), kBrokers, std::min(options_.min_isr, 3));
}

Cluster::~Cluster() = default;

std::vector<TopicPartition> Cluster::partitions() const {
    std::vector<TopicPartition> ids;
    for (std::size_t i = 0; i < options_.assignment.size(); ++i)
        ids.push_back({kTopic, static_cast<std::int32_t>(i)});
    return ids;
}

void Cluster::say(const std::string& what) const {
    if (options_.verbose) fmt::print(stderr, "{:10.6f} {}\n", static_cast<double>(now().ns) / 1e9, what);
}

// -- processes
// ----------------------------------------------------------------------------------------------------

node::NodeConfig Cluster::config_of(BrokerId id) const {
    node::NodeConfig config;
    config.node_id = id;
    config.is_controller = id == kController;
    config.controller = {kController, "c100", kControllerPort};
    if (id == kController) {
        config.listeners = {{"CONTROLLER", "c100", kControllerPort}};
    } else {
        config.listeners = {{"INTERNAL", fmt::format("b{}", id), kInternalPort},
                            {"CLIENT", fmt::format("b{}", id), kClientPort}};
    }
    config.advertised = config.listeners;
    config.log_dirs = "memory";
    config.broker_session_timeout = milliseconds(3000);
    config.broker_heartbeat_interval = milliseconds(500);
    config.replica_lag_time_max = milliseconds(3000);
    config.replica_fetch_wait_max = milliseconds(500);
    config.replica_fetch_backoff = milliseconds(200);
    config.high_watermark_checkpoint_interval = milliseconds(2000);
    config.replica_fetch_max_bytes = options_.fetch_max_bytes;
    config.unclean_election_interval = milliseconds(5000);
    config.min_insync_replicas = options_.min_isr;
    config.eligible_leader_replicas = options_.elr ? 1 : 0;
    config.bugs = options_.bugs;
    config.cluster_id.bytes[0] = 1;
    return config;
}

void Cluster::launch(BrokerId id) {
    Process& process = *processes_.at(id);
    HW_ASSERT(!process.server, "{} runs already", id);
    say(fmt::format("launch {}", id));
    ++process.incarnation;
    process.trace_sequence = 0;
    auto server = node::make_server(now(), wall_ms(), config_of(id), process.storage, rng_.fork());
    HW_ASSERT(server, "{}: {}", id, server.error().message);
    process.server = std::move(*server);
    network_.up(id, process);
    step(process, node::Tick{});
}

void Cluster::kill(BrokerId id) {
    Process& process = *processes_.at(id);
    if (!process.server) return;
    say(fmt::format("kill {}", id));
    process.server.reset();
    process.paused = false;
    process.inbox.clear();
    process.armed_for = Instant::never();
    network_.down(id);
    invariants_->stopped(id);
}

void Cluster::lose_power(BrokerId id) {
    ++counts_.power_losses;
    say(fmt::format("power loss of {}", id));
    kill(id);
    processes_.at(id)->storage.lose_unflushed();
    invariants_->lost_power(id);
}

void Cluster::terminate(BrokerId id) {
    say(fmt::format("terminate {}", id));
    Process& process = *processes_.at(id);
    if (process.server) input(process, node::StopRequested{});
}

void Cluster::pause(BrokerId id) {
    if (!running(id)) return;
    say(fmt::format("pause {}", id));
    processes_.at(id)->paused = true;
}

void Cluster::resume(BrokerId id) {
    Process& process = *processes_.at(id);
    if (!process.paused) return;
    say(fmt::format("resume {}", id));
    process.paused = false;
    const std::deque<node::Input> inbox = std::exchange(process.inbox, {});
    for (const node::Input& waiting : inbox) {
        if (process.server) step(process, waiting);
    }
    if (process.server) arm(process);
}

void Cluster::heal() {
    say("heal");
    healed_ = true;
    network_.heal();
    for (const auto& [id, process] : processes_) {
        if (process->paused) resume(id);
        if (!process->server) launch(id);
    }
}

ConnId Cluster::Process::accepted(const std::string& listener) {
    const ConnId conn = next_accepted;
    next_accepted += 2;
    cluster.input(*this, node::Accepted{conn, listener});
    return conn;
}
void Cluster::Process::connected(ConnId conn) { cluster.input(*this, node::Connected{conn}); }
void Cluster::Process::received(ConnId conn, Bytes frame) {
    cluster.input(*this, node::FrameReceived{conn, std::move(frame)});
}
void Cluster::Process::disconnected(ConnId conn, const std::string& reason) {
    cluster.input(*this, node::Disconnected{conn, reason});
}

// -- steps
// --------------------------------------------------------------------------------------------------------

void Cluster::input(Process& process, node::Input input) {
    if (process.paused) {
        process.inbox.push_back(std::move(input));
    } else if (process.server) {
        step(process, input);
    }
}

void Cluster::step(Process& process, const node::Input& input) {
    ++counts_.steps;
    note_spin(process.id);
    process.server->step(now(), wall_ms(), input);
    const node::Ready ready = process.server->take_ready();
    if (options_.verbose) trace(process, ready.events);
    for (const std::string& line : ready.log) say(fmt::format("{}: {}", process.id, line));
    for (const node::WriteFile& file : ready.files) {
        const Status written =
            process.storage.replace_file(file.path, as_bytes_view(file.content), node::Durability::Flushed);
        HW_ASSERT(written, "{}", written.error().message);
    }
    count(ready.events);
    invariants_->after_step(now(), process.id, ready.events);
    for (const node::NetworkAction& action : ready.network) perform(process, action);
    if (ready.stopped) {
        say(fmt::format("{} stopped", process.id));
        kill(process.id);
        if (!healed_) return;
        scheduler_.after(milliseconds(100), [this, id = process.id] {
            if (!running(id)) launch(id);
        });
    } else {
        arm(process);
    }
}

void Cluster::perform(Process& process, const node::NetworkAction& action) {
    std::visit(overloaded{[&](const node::Open& of) {
                              network_.open(process.id, of.conn, id_of_name(of.host), listener_of(of.port));
                          },
                          [&](const node::Send& of) { network_.send(process.id, of.conn, of.payload); },
                          [&](const node::Close& of) { network_.close(process.id, of.conn, of.reason); }},
               action);
}

void Cluster::arm(Process& process) {
    const Instant due = process.server->deadline();
    if (due == process.armed_for || due == Instant::never()) return;
    process.armed_for = due;
    scheduler_.at(due, [this, &process, due, incarnation = process.incarnation] {
        if (!process.server || process.incarnation != incarnation || process.armed_for != due) return;
        process.armed_for = Instant::never();
        if (!process.paused) step(process, node::Tick{});
    });
}

void Cluster::note_spin(BrokerId id) {
    if (now() != step_instant_) {
        step_instant_ = now();
        steps_at_instant_ = 0;
    }
    HW_ASSERT(++steps_at_instant_ < 10'000, "seed {}: {} makes step after step while time stands still",
              options_.seed, id);
}

void Cluster::count(const std::vector<node::Event>& events) {
    const auto of_partition =
        overloaded{[&](const node::Truncated&) { ++counts_.truncations; },
                   [&](const node::ProduceAnswered& of) {
                       if (of.error == 0 && of.acks == -1) ++counts_.acknowledged;
                   },
                   [&](const node::Served&) { ++counts_.served; },
                   [&](const node::BugActivated&) { ++counts_.bug_actions; }, [](const auto&) {}};
    for (const node::Event& event : events) {
        if (const auto* replica = std::get_if<node::PartitionEvent>(&event)) {
            std::visit(of_partition, replica->fact);
        } else if (const auto* decision = std::get_if<node::ControllerEvent>(&event)) {
            if (std::holds_alternative<node::BugActivated>(*decision)) ++counts_.bug_actions;
            const auto* change = std::get_if<node::PartitionChanged>(decision);
            if (change == nullptr) continue;
            ++(change->elected ? counts_.elections : counts_.isr_changes);
            if (change->last_known_leader)
                ++counts_.last_known_elections;
            else if (change->unclean)
                ++counts_.unclean_elections;
            note_eligible(*change);
            if (change->elected && change->cause == "preferred") ++counts_.preferred_elections;
        }
    }
}

/// Elected from the ELR: not from the ISR, and not uncleanly.
void Cluster::note_eligible(const node::PartitionChanged& change) {
    std::vector<BrokerId>& isr = last_isr_[change.partition];
    if (change.elected && change.leader != kNoBroker && !change.unclean &&
        std::count(isr.begin(), isr.end(), change.leader) == 0)
        ++counts_.elr_elections;
    isr = change.isr;
}

Cluster::Counts& Cluster::Counts::operator+=(const Counts& other) {
    steps += other.steps;
    elections += other.elections;
    unclean_elections += other.unclean_elections;
    last_known_elections += other.last_known_elections;
    elr_elections += other.elr_elections;
    preferred_elections += other.preferred_elections;
    isr_changes += other.isr_changes;
    power_losses += other.power_losses;
    truncations += other.truncations;
    acknowledged += other.acknowledged;
    served += other.served;
    bug_actions += other.bug_actions;
    return *this;
}

void Cluster::trace(Process& process, const std::vector<node::Event>& events) {
    std::string lines;
    for (const node::Event& event : events) {
        node::append_trace_line(lines, {now(), process.id, process.incarnation, ++process.trace_sequence},
                                event);
    }
    fmt::print(stderr, "{}", lines);
}

bool Cluster::run_until(Duration limit, const std::function<bool()>& condition) {
    const Instant end = now() + limit;
    while (invariants_->violations().empty()) {
        if (condition()) return true;
        if (!scheduler_.run_one(end)) return condition();
    }
    return false;
}

// -- what is seen
// -------------------------------------------------------------------------------------------------

const node::Partition* Cluster::partition(BrokerId broker, const TopicPartition& id) const {
    const Process& process = *processes_.at(broker);
    return process.server ? inspect(*process.server).find_partition(id) : nullptr;
}

const node::MetadataImage* Cluster::image() const { return image_of(kController); }

const node::MetadataImage* Cluster::image_of(BrokerId broker) const {
    const Process& process = *processes_.at(broker);
    return process.server ? &inspect(*process.server).metadata_image() : nullptr;
}

bool Cluster::steps_freely(BrokerId broker) const { return running(broker) && !paused(broker); }

bool Cluster::reaches_controller(BrokerId broker) const {
    return steps_freely(broker) && steps_freely(kController) && network_.clear(broker, kController);
}

/// What must not last is looked at now and then.
void Cluster::watch() {
    invariants_->watch(now());
    scheduler_.after(milliseconds(250), [this] { watch(); });
}

BrokerId Cluster::leader(const TopicPartition& id) const {
    const node::MetadataImage* seen = image();
    const node::PartitionImage* of = seen != nullptr ? seen->partition(id) : nullptr;
    return of != nullptr ? of->leader : kNoBroker;
}

std::vector<BrokerId> Cluster::isr(const TopicPartition& id) const {
    const node::MetadataImage* seen = image();
    const node::PartitionImage* of = seen != nullptr ? seen->partition(id) : nullptr;
    return of != nullptr ? of->isr : std::vector<BrokerId>{};
}

bool Cluster::all_in_sync() const {
    const node::MetadataImage* decided = image();
    if (decided == nullptr) return false;
    for (const TopicPartition& id : partitions()) {
        if (isr(id).size() != kBrokers.size()) return false;
        for (const BrokerId broker : kBrokers) {
            // Opened only once the process is registered.
            const node::Partition* replica = partition(broker, id);
            if (replica == nullptr || replica->leader_epoch() != decided->partition(id)->leader_epoch)
                return false;
        }
    }
    return true;
}

bool Cluster::settled() const {
    const node::MetadataImage* decided = image();
    if (decided == nullptr) return false;
    for (const BrokerId id : kBrokers) {
        const node::BrokerImage* broker = decided->broker(id);
        if (broker == nullptr || !broker->active() || !running(id)) return false;
        if (image_of(id)->end_offset() < decided->end_offset()) return false;
    }
    for (const TopicPartition& id : partitions()) {
        if (isr(id).size() != kBrokers.size() || leader(id) == kNoBroker) return false;
        const node::Partition* lead = partition(leader(id), id);
        if (lead == nullptr || lead->role() != node::Role::Leader) return false;
        for (const BrokerId broker : kBrokers) {
            const node::Partition* replica = partition(broker, id);
            if (replica == nullptr || replica->high_watermark() != lead->log().log_end_offset() ||
                replica->log().log_end_offset() != lead->log().log_end_offset()) {
                return false;
            }
        }
    }
    return true;
}

bool Cluster::start() {
    for (const auto& [id, process] : processes_) launch(id);
    const auto all_unfenced = [this] {
        const node::MetadataImage* seen = image();
        return seen != nullptr && std::all_of(kBrokers.begin(), kBrokers.end(), [&](BrokerId id) {
                   return seen->broker(id) != nullptr && !seen->broker(id)->fenced;
               });
    };
    if (!run_until(seconds(20), all_unfenced)) return false;
    Client admin(250, scheduler_, network_);
    const std::vector<std::pair<std::string, std::string>> configs = {
        {"unclean.leader.election.enable", options_.unclean ? "true" : "false"}};
    bool created = false;
    admin.call<wire::CreateTopicsResponse>(
        1, test::create_topic_request(kTopic, options_.assignment, configs), test::kCreateTopicsVersion,
        seconds(10), [&](const Result<wire::CreateTopicsResponse>& answer) {
            created = answer && answer->topics.at(0).error_code == wire::ErrorCode::None;
        });
    run_until(seconds(10), [&] { return !admin.busy(); });
    network_.down(250);
    watch();
    return created && run_until(seconds(10), [this] { return settled(); });
}

}  // namespace highwater::sim
