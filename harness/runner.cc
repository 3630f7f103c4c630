#include "harness/runner.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <mutex>
#include <set>

#include "base/rng.h"
#include "checker/checker.h"
#include "harness/final_read.h"
#include "harness/findings.h"
#include "harness/kcat_client.h"
#include "harness/observer.h"
#include "harness/progress.h"
#include "harness/run_files.h"
#include "harness/workload_clients.h"
#include "nemesis/executor.h"
#include "nemesis/generate.h"
#include "nemesis/heal.h"
#include "results/changes.h"
#include "results/run_dir.h"
#include "workloads/workload.h"

namespace highwater::harness {
namespace {

constexpr Duration kStartDeadline = seconds(60);
constexpr Duration kQuiescenceDeadline = seconds(15);
constexpr Duration kProbeDeadline = seconds(5);
/// A JVM that heal has started listens after seconds, on a busy machine after many.
constexpr Duration kProbeDeadlineOfKafka = seconds(30);
/// A cut path answers at once, by a reset.
constexpr Duration kCutProbeDeadline = milliseconds(500);
/// Relays later than this are no relays of the delays that were asked for.
constexpr Duration kLateP99 = milliseconds(5);
constexpr Duration kLateMax = milliseconds(50);
/// Keeps the draws of mixes apart from those of the run itself.
constexpr std::uint64_t kMixStream = 0x6D69780000000000ULL;
/// After the last fault.
constexpr Duration kPhasesDeadline = seconds(60);

class Run {
public:
    /// `asked`: as the user gave it; its mixes are drawn from the seed.
    Run(const Scenario& asked, const RunOptions& options, results::RunDir dir)
        : asked_(asked),
          scenario_(nemesis::with_mixes_drawn(asked, Rng(options.seed ^ kMixStream))),
          options_(options),
          dir_(std::move(dir)),
          rng_(options.seed),
          progress_(STDERR_FILENO, options.verbose && options.live) {
        run_id_ = fmt::format("{:08x}", static_cast<std::uint32_t>(rng_.next()));
        result_.scenario = asked.name;
        result_.seed = options.seed;
        result_.sut = options.sut.name;
        result_.run_dir = dir_.path();
    }

    Result<results::RunResult> execute() {
        for (const auto phase : {&Run::prepare, &Run::play, &Run::heal, &Run::read}) {
            if (Status done = (this->*phase)(); !done) return tl::make_unexpected(done.error());
            if (interrupted()) return failure(kInterrupted);
        }
        stop_everything();
        return judge();
    }

private:
    [[nodiscard]] bool interrupted() const {
        return options_.interrupted != nullptr && options_.interrupted->load();
    }
    void say(const std::string& text) const {
        if (options_.verbose)
            progress_.print(fmt::format("{:>7.2f} s  {}", to_seconds(monotonic_now() - began_), text));
    }
    [[nodiscard]] std::string progress_line() const {
        const workloads::Tally tally = recorder_.tally();
        std::string line = fmt::format("{:>7.1f} s  acked {}  failed {}  unknown {}  read {}",
                                       to_seconds(monotonic_now() - began_), tally.acked, tally.failed,
                                       tally.unknown, tally.read);
        const auto isr = observer_->isr();
        const BrokerId leader = observer_->leader().value_or(kNoBroker);
        const auto end = observer_->log_end_offset(leader);
        const auto visible = observer_->high_watermark(leader);
        if (end && visible) line += fmt::format("  HW {} lag {}", *visible, *end - *visible);
        if (isr) line += fmt::format("  ISR {}", fmt::join(*isr, ","));
        if (const std::string faults = active_.text(); !faults.empty()) line += "  | " + faults;
        return line;
    }
    void doubt(std::string reason, std::string detail) {
        doubts_.push_back({std::move(reason), std::move(detail)});
    }

    Status prepare() {
        if (Status written = dir_.write("scenario.json", scenario_to_json(asked_)); !written) return written;
        if (Status opened = recorder_.open(dir_.file("history.jsonl"), history_meta()); !opened)
            return opened;
        std::int32_t clients = 0;
        for (const WorkloadSpec& spec : scenario_.workloads) {
            clients += spec.producers + spec.consumers;
            if (spec.client != ClientKind::Kcat) continue;
            if (Status there = ask_for_kcat(dir_.file("kcat-version.txt")); !there) return there;
        }
        ClusterOptions options;
        options.run_dir = dir_.path();
        options.seed = rng_.next();
        options.bugs = options_.bugs;
        options.clients = std::clamp(clients, 1, 50);
        cluster_ = make_cluster(options_.sut, scenario_, std::move(options));
        if (Status started = cluster_->start(monotonic_now() + kStartDeadline); !started) return started;
        recorder_.on_record([this](const Operation& operation) { cluster_->saw(operation); });
        observer_ = std::make_unique<Observer>(*cluster_, scenario_, run_id_, recorder_);
        observer_->start();
        progress_.show([this] { return progress_line(); });
        say(fmt::format("cluster up: {} brokers, topic {} whole", scenario_.cluster.brokers,
                        scenario_.topic.name));
        return {};
    }

    [[nodiscard]] HistoryMeta history_meta() const {
        HistoryMeta meta;
        meta.case_name = scenario_.name;
        meta.broker = options_.sut.profile();
        meta.run_id = run_id_;
        meta.replication_factor = static_cast<std::int32_t>(scenario_.topic.assignment.front().size());
        meta.min_isr = scenario_.topic.min_insync_replicas();
        meta.unclean = scenario_.topic.unclean_leader_election();
        const auto elr = scenario_.cluster.properties.find("eligible.leader.replicas.version");
        meta.elr =
            elr == scenario_.cluster.properties.end() ? options_.sut.elr_by_default() : elr->second != "0";
        std::set<std::int16_t> acks;
        for (const WorkloadSpec& spec : scenario_.workloads) {
            acks.insert(spec.acks.begin(), spec.acks.end());
            for (const WorkloadPhase& phase : spec.phases) acks.insert(phase.acks.begin(), phase.acks.end());
            const std::int32_t retries = std::max(spec.retries, hidden_retries_of(spec));
            meta.retries = std::max(meta.retries, spec.idempotent ? 0 : retries);
            meta.max_in_flight = std::max(meta.max_in_flight, spec.in_flight);
        }
        meta.idempotence = !scenario_.workloads.empty() &&
                           std::all_of(scenario_.workloads.begin(), scenario_.workloads.end(),
                                       [](const WorkloadSpec& spec) { return spec.idempotent; });
        if (acks.size() > 1) meta.acks = "mixed";
        if (acks.size() == 1) meta.acks = *acks.begin() == -1 ? "all" : std::to_string(*acks.begin());
        return meta;
    }

    /// Numbers of producers and consumers go on from one workload to the next.
    workloads::WorkloadContext workload_context(const WorkloadSpec& spec) {
        workloads::WorkloadContext context;
        context.spec = spec;
        context.partitions = static_cast<std::int32_t>(scenario_.topic.assignment.size());
        context.first_producer = next_producer_;
        context.first_consumer = next_consumer_;
        context.recorder = &recorder_;
        context.seed = rng_.next();
        context.fault_complete = [this](const std::string& id) { return fault_complete(id); };
        context.clients = [this, spec](const std::string& name) {
            WorkloadClientOptions client;
            client.client_id = name;
            client.topic = scenario_.topic.name;
            client.run_id = run_id_;
            client.brokers = cluster_->client_addresses(next_client_++);
            for (const BrokerId id : cluster_->brokers()) client.direct[id] = cluster_->direct_address(id);
            client.directory = dir_.file("kcat");
            return make_workload_client(spec, std::move(client));
        };
        next_producer_ += spec.producers;
        next_consumer_ += spec.consumers;
        return context;
    }

    void start_workloads() {
        for (const WorkloadSpec& spec : scenario_.workloads)
            workloads_.push_back(workloads::make_append_workload(workload_context(spec)));
        for (const auto& workload : workloads_) workload->start();
    }

    Status play() {
        nemesis::ExecutorHooks hooks;
        hooks.record = [this](const FaultRecord& record) { record_fault(record); };
        hooks.completed = [this](const std::string& id) {
            active_.completed(id);
            const std::lock_guard lock(completed_mutex_);
            completed_.insert(id);
        };
        hooks.wait = [this](Instant until) { observer_->wait(until); };
        hooks.interrupted = [this] { return interrupted(); };
        hooks.members = {cluster_->brokers(), cluster_->controllers(), cluster_->client_ids()};
        executor_ = std::make_unique<nemesis::Executor>(scenario_, *cluster_, *observer_, rng_.fork(),
                                                        std::move(hooks));
        observer_->set_targets([this](const std::string& id) { return executor_->targets_of(id); });
        start_workloads();
        const Instant started = monotonic_now();
        executor_->run(started);
        for (const nemesis::Doubt& doubt_found : executor_->doubts())
            doubt(doubt_found.reason, doubt_found.detail);
        finish_phases();
        const Instant linger_until = monotonic_now() + scenario_.linger;
        observer_->wait_for([this] { return interrupted(); }, linger_until);
        const auto first =
            std::find_if(executor_->records().begin(), executor_->records().end(),
                         [](const FaultRecord& record) { return record.kind != FaultKind::Await; });
        if (first != executor_->records().end()) phases_.first_fault = first->effective;
        return {};
    }

    [[nodiscard]] bool fault_complete(const std::string& id) const {
        const std::lock_guard lock(completed_mutex_);
        return completed_.contains(id);
    }
    /// A phase with a count is part of the scenario: what was not appended shows nothing.
    void finish_phases() {
        const auto finished = [this] {
            return interrupted() || std::all_of(workloads_.begin(), workloads_.end(),
                                                [](const auto& workload) { return workload->finished(); });
        };
        if (!observer_->wait_for(finished, monotonic_now() + kPhasesDeadline))
            doubt("workload-unfinished",
                  fmt::format("the records of a phase were not all appended within {:.0f} s",
                              to_seconds(kPhasesDeadline)));
    }

    void record_fault(const FaultRecord& record) {
        say(fmt::format("{} {} {} -> {}{}{}", record.id, fault_kind_name(record.kind), record.asked,
                        record.struck(), record.ok ? "" : " FAILED: ", record.ok ? "" : record.detail));
        const FaultSpec* spec = spec_of(record);
        const bool ends = record.kind == FaultKind::Await || (spec != nullptr && spec->lasts);
        active_.struck(record, spec == nullptr ? "" : spec->release_of, ends);
        if (record.kind == FaultKind::Await) return;  // it struck nobody
        add_fault_operation(record, record.requested, std::max(record.effective, record.requested));
        if (record.ok) prove_cut(record);
    }
    [[nodiscard]] const FaultSpec* spec_of(const FaultRecord& record) const {
        for (const FaultSpec& spec : scenario_.faults) {
            if (spec.id == record.id) return &spec;
        }
        return nullptr;
    }
    /// What is done to each path of a fault.
    [[nodiscard]] FaultKind done_to_paths(const FaultRecord& record) const {
        const FaultSpec* spec = spec_of(record);
        return is_partition(record.kind) && spec != nullptr ? spec->by : record.kind;
    }
    /// A path that is cut or refused for everything must not answer; the checker doubts the run if it does.
    void prove_cut(const FaultRecord& record) {
        const FaultKind done = done_to_paths(record);
        if (done != FaultKind::Cut && done != FaultKind::Refuse) return;
        const FaultSpec* spec = spec_of(record);
        const bool narrowed = spec != nullptr && (!spec->api.empty() || spec->part != FramePart::Both);
        for (const auto& [source, destination] : record.paths) {
            if (narrowed || nemesis::AddressPlan::link_port(source, destination) == 0) continue;
            const Instant asked = monotonic_now();
            const Status answered = cluster_->network().probe(source, destination, asked + kCutProbeDeadline);
            Probe probe;
            probe.ok = answered.has_value();
            probe.source = source;
            probe.destination = destination;
            probe.detail = answered ? "answered" : answered.error().message;
            add_probe(std::move(probe), asked);
        }
    }
    void add_fault_operation(const FaultRecord& record, Instant from, Instant to) {
        FaultOp op;
        // A partition by cut is one to the checker too: its paths must not answer.
        op.kind = fault_kind_name(record.paths.empty() ? record.kind : done_to_paths(record));
        op.id = record.id;
        op.target = fmt::format("{}", fmt::join(record.targets, ","));
        op.status = record.ok ? "ok" : "fail";
        op.detail = record.detail;
        op.paths = record.paths;
        add_fault_operation(std::move(op), from, to);
    }
    void add_fault_operation(FaultOp op, Instant from, Instant to) {
        Operation operation;
        operation.invoked = from;
        operation.completed = to;
        operation.what = std::move(op);
        recorder_.record("nemesis", std::move(operation));
    }

    /// Everything back: rules away, processes awake and running; proven by traffic and probes, then by
    /// progress.
    Status heal() {
        const auto rules = cluster_->network().heal();
        if (!rules.ok) doubt("not-healed", "the relays kept a rule: " + rules.detail);
        for (const BrokerId id : all_processes()) {
            if (cluster_->paused(id)) {
                const auto effect = cluster_->resume(id);
                if (!effect.ok)
                    doubt("not-healed", fmt::format("process {} did not resume: {}", id, effect.detail));
            }
        }
        if (scenario_.heal.restart_all) {
            for (const BrokerId id : all_processes()) {
                if (cluster_->ended_by_fault(id)) restart(id);
            }
        }
        const Instant healed = monotonic_now();
        active_.clear();
        phases_.healed = healed;
        record_windows(healed);
        FaultOp all_back;
        all_back.kind = "heal";
        all_back.status = "ok";
        add_fault_operation(std::move(all_back), healed, healed);
        say("healed: every rule away, every process running");
        prove_paths(healed);
        prove_progress(healed);
        return {};
    }
    [[nodiscard]] std::vector<BrokerId> all_processes() const {
        std::vector<BrokerId> ids = cluster_->controllers();
        const std::vector<BrokerId> brokers = cluster_->brokers();
        ids.insert(ids.end(), brokers.begin(), brokers.end());
        return ids;
    }
    void restart(BrokerId id) {
        const auto effect = cluster_->restart(id);
        if (!effect.ok)
            return doubt("not-healed", fmt::format("process {} did not restart: {}", id, effect.detail));
        FaultRecord record;
        record.id = "heal";
        record.kind = FaultKind::Restart;
        record.targets = {id};
        record.ok = true;
        add_fault_operation(record, effect.requested, effect.effective);
    }
    /// A second operation of each fault's id, from its end: the window in which it was in force.
    void record_windows(Instant healed) {
        for (const FaultRecord& record : executor_->records()) {
            const bool no_window = record.kind == FaultKind::Kill ||
                                   (is_momentary(record.kind) && record.kind != FaultKind::Restart);
            if (!record.ok || no_window) continue;
            const Instant end =
                record.undone ? *record.undone : std::min(record.completed.value_or(healed), healed);
            FaultRecord over = record;
            over.paths.clear();  // only the window's end: the path is struck once
            add_fault_operation(over, end, end);
            record_kills(record);
        }
    }

    /// A stop that had to be escalated is an unclean one, and is told as what it was.
    void record_kills(const FaultRecord& record) {
        const FaultSpec* spec = spec_of(record);
        for (const auto& [id, gone] : record.killed) {
            FaultOp op;
            op.kind = fault_kind_name(FaultKind::Kill);
            op.id = record.id;
            op.target = std::to_string(id);
            op.status = "ok";
            op.detail = fmt::format("SIGKILL after {}: it had not ended by SIGTERM",
                                    format_duration(spec->kill_after.value_or(Duration{0})));
            add_fault_operation(std::move(op), gone, gone);
        }
    }

    void prove_paths(Instant healed) {
        nemesis::Grudge paths;
        for (const FaultRecord& record : executor_->records()) {
            paths.insert(paths.end(), record.paths.begin(), record.paths.end());
        }
        nemesis::ProofOptions options;
        options.healed = healed;
        options.patience = options_.sut.kafka ? kProbeDeadlineOfKafka : kProbeDeadline;
        options.wait = [this](Instant until) { observer_->wait(until); };
        options.interrupted = [this] { return interrupted(); };
        std::size_t by_traffic = 0;
        const std::vector<nemesis::PathProof> proofs =
            nemesis::prove_healed(cluster_->network(), paths, options);
        for (const nemesis::PathProof& proof : proofs) {
            if (!proof.ok)
                doubt("not-healed",
                      fmt::format("path {}->{}: {}", proof.source, proof.destination, proof.detail));
            if (proof.by_traffic) ++by_traffic;
        }
        if (!proofs.empty())
            say(fmt::format(
                "{} struck connection kinds carry again: {} by their own traffic, the others by probes",
                proofs.size(), by_traffic));
    }

    void prove_progress(Instant healed) {
        const Instant deadline = healed + scenario_.heal.progress_within;
        const bool whole = observer_->wait_for(
            [&] {
                const auto isr = observer_->isr();
                return (isr && isr->size() == observer_->replicas().size()) || interrupted();
            },
            deadline);
        if (whole) phases_.recovered = monotonic_now();
        add_probe(whole, whole ? "isr-full"
                               : fmt::format("isr-full: not within {}",
                                             format_duration(scenario_.heal.progress_within)));
        const auto any = [this](auto property) {
            return std::any_of(scenario_.workloads.begin(), scenario_.workloads.end(), property);
        };
        if (!any([](const WorkloadSpec& spec) { return spec.appends_acks_all(); })) return;
        // The last phase may wait for a fault that never was complete: only a load without phases surely goes
        // on.
        const bool goes_on = any([](const WorkloadSpec& spec) {
            return spec.phases.empty() && spec.appends_acks_all_to_the_end();
        });
        if (!goes_on) append_one(deadline);
        const bool acked =
            recorder_.wait_for_ack_all(healed, std::max(deadline, monotonic_now() + seconds(1))).has_value();
        add_probe(acked, acked ? "progress"
                               : fmt::format("progress: no acks=all append within {}",
                                             format_duration(scenario_.heal.progress_within)));
        say(whole && acked ? "progress: ISR whole, appends acknowledged" : "NO progress after heal");
    }
    /// The workloads have appended what they had to: the harness proves progress itself, with one more
    /// record.
    void append_one(Instant deadline) {
        WorkloadSpec one;
        one.consumers = 0;
        one.rate = std::nullopt;
        one.phases.emplace_back().records = 1;
        workloads::WorkloadContext context = workload_context(one);
        const auto workload = workloads::make_append_workload(std::move(context));
        workload->start();
        observer_->wait_for([&] { return interrupted() || workload->finished(); }, deadline);
        workload->stop();
    }
    void add_probe(bool ok, std::string detail) {
        Probe probe;
        probe.ok = ok;
        probe.detail = std::move(detail);
        add_probe(std::move(probe), monotonic_now());
    }
    void add_probe(Probe probe, Instant asked) {
        Operation operation;
        operation.invoked = asked;
        operation.completed = monotonic_now();
        operation.what = std::move(probe);
        recorder_.record("nemesis", std::move(operation));
    }

    Status read() {
        for (const auto& workload : workloads_) workload->stop();
        if (!wait_for_quiescence(*cluster_, scenario_, *observer_, monotonic_now() + kQuiescenceDeadline)) {
            say("the replicas did not come to rest: the final read may be incomplete");
        }
        const auto leader = observer_->leader();
        final_reads(*cluster_, scenario_, run_id_, leader.value_or(kNoBroker), recorder_);
        for (const std::string& crash : cluster_->crashes()) add_probe(false, "node-crashed: " + crash);
        const auto bypasses = cluster_->bypasses();
        if (!bypasses) return tl::make_unexpected(bypasses.error());
        for (const std::string& bypass : *bypasses)
            doubt("fault-not-effective", "a connection stepped around the relays: " + bypass);
        return {};
    }

    void stop_everything() {
        progress_.stop();
        observer_->stop();
        result_.findings = path_findings();
        cluster_->stop();
    }
    [[nodiscard]] std::vector<std::string> path_findings() const {
        std::vector<std::string> findings;
        const nemesis::Lateness late = cluster_->network().lateness();
        if (late.count > 0) {
            findings.push_back(
                fmt::format("relays delayed {} frames; late by {:.1f} ms at p99, {:.1f} ms at most",
                            late.count, to_millis(late.p99), to_millis(late.max)));
            if (late.p99 > kLateP99 || late.max > kLateMax)
                findings.push_back(
                    fmt::format("timing-degraded: the machine was too busy for the relays, which had {}",
                                cluster_->network().scheduling()));
        }
        return findings;
    }

    Result<results::RunResult> judge() {
        if (Status complete = recorder_.status(); !complete) return tl::make_unexpected(complete.error());
        auto trace = merge_traces(cluster_->trace_files(), dir_);
        if (!trace) return tl::make_unexpected(trace.error());
        checker::CheckInput input{recorder_.history(), &*trace, {}, {}};
        for (const nemesis::Doubt& found : doubts_) {
            input.run_reasons.push_back(found.reason);
            input.run_reason_details.push_back(found.detail);
        }
        result_.verdict = checker::check(input);
        checker::expect_evidence(result_.verdict, scenario_.expect.sometimes, scenario_.expect.never);
        result_.measures = results::measure(recorder_.history(), result_.verdict, phases_);
        result_.changes = results::leadership_changes(*trace);
        result_.error_codes = results::error_codes(recorder_.history());
        for (std::string& finding : shrink_findings(*trace, executor_->records(), scenario_)) {
            result_.findings.push_back(std::move(finding));
        }
        for (std::string& finding : attack_findings(executor_->records()))
            result_.findings.push_back(std::move(finding));
        for (std::string& finding : client_findings(recorder_.history()))
            result_.findings.push_back(std::move(finding));
        for (std::string& finding : restart_findings(*trace, executor_->records()))
            result_.findings.push_back(std::move(finding));
        if (Status written =
                write_run_files(dir_, options_, scenario_, executor_->records(), phases_, result_);
            !written) {
            return tl::make_unexpected(written.error());
        }
        if (auto page = report(*trace); !page) return tl::make_unexpected(page.error());
        if (result_.verdict.kind == VerdictKind::Valid) {
            if (Status pruned = dir_.prune_data(); !pruned) return tl::make_unexpected(pruned.error());
        }
        return std::move(result_);
    }
    Result<std::string> report(const Trace& trace) const {
        results::ReportInput input{result_, recorder_.history(), executor_->records(), phases_};
        input.scenario = &scenario_;
        input.trace = &trace;
        input.bugs = options_.bugs;
        input.reproduce = options_.reproduce;
        return write_report(dir_.path(), input);
    }

    const Scenario& asked_;
    const Scenario scenario_;
    const RunOptions& options_;
    results::RunDir dir_;
    Rng rng_;
    std::string run_id_;
    Instant began_ = monotonic_now();
    results::RunResult result_;
    results::Phases phases_;
    std::vector<nemesis::Doubt> doubts_;
    // Destroyed in reverse: workloads and observer before the cluster they talk to.
    workloads::Recorder recorder_;
    std::unique_ptr<Cluster> cluster_;
    std::unique_ptr<Observer> observer_;
    std::unique_ptr<nemesis::Executor> executor_;
    mutable std::mutex completed_mutex_;
    std::set<std::string> completed_;
    std::atomic<std::int32_t> next_client_ = 0;
    std::int64_t next_producer_ = 1;
    std::int32_t next_consumer_ = 1;
    std::vector<std::unique_ptr<workloads::Workload>> workloads_;
    ActiveFaults active_;
    // Last: its thread asks all of the others.
    mutable Progress progress_;
};

}  // namespace

Result<results::RunResult> run_scenario(const Scenario& scenario, const RunOptions& options) {
    auto dir = results::RunDir::create(options.out, scenario.name, options.seed);
    if (!dir) return tl::make_unexpected(dir.error());
    return Run(scenario, options, std::move(*dir)).execute();
}

}  // namespace highwater::harness
