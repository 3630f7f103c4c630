#include "harness/observer.h"

#include <algorithm>

#include "nemesis/rule_set.h"
#include "workloads/broker_client.h"

namespace highwater::harness {
namespace {

constexpr Duration kInterval = milliseconds(30);
/// A frozen broker accepts and never answers.
constexpr Duration kPatience = milliseconds(300);
/// Older views do not count for what is true now.
constexpr Duration kFresh = milliseconds(800);

std::vector<BrokerId> last_in_order(const std::vector<BrokerId>& order, const std::vector<BrokerId>& among) {
    for (auto id = order.rbegin(); id != order.rend(); ++id) {
        if (std::find(among.begin(), among.end(), *id) != among.end()) return {*id};
    }
    return {};
}

std::vector<BrokerId> all_processes(const Cluster& cluster) {
    std::vector<BrokerId> ids = cluster.controllers();
    const std::vector<BrokerId> brokers = cluster.brokers();
    ids.insert(ids.end(), brokers.begin(), brokers.end());
    return ids;
}

}  // namespace

Observer::Observer(Cluster& cluster, const Scenario& scenario, std::string run_id,
                   workloads::Recorder& recorder)
    : cluster_(cluster),
      scenario_(scenario),
      run_id_(std::move(run_id)),
      recorder_(recorder),
      events_(
          all_processes(cluster), [&cluster](BrokerId id) { return cluster.trace_files(id); },
          [&cluster](BrokerId id) { return cluster.log_files(id); }) {}

Observer::~Observer() { stop(); }

void Observer::start() {
    for (const BrokerId broker : cluster_.brokers()) threads_.emplace_back([this, broker] { watch(broker); });
}

void Observer::stop() {
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    changed_.notify_all();
    for (std::thread& thread : threads_) {
        if (thread.joinable()) thread.join();
    }
    threads_.clear();
}

void Observer::watch(BrokerId broker) {
    workloads::BrokerClient client(cluster_.direct_address(broker), "observer", run_id_);
    const std::string& topic = scenario_.topic.name;
    BrokerSample told;
    while (true) {
        BrokerSample sample;
        const Instant asked = monotonic_now();
        sample.asked = asked;
        const auto metadata = client.metadata(topic, asked + kPatience);
        const bool answered =
            metadata && metadata->topics.size() == 1 && !metadata->topics[0].partitions.empty();
        if (answered) {
            const auto& entry = metadata->topics[0].partitions[0];
            sample.leader = entry.leader_id;
            sample.epoch = entry.leader_epoch;
            sample.isr = entry.isr_nodes;
            sample.replicas = entry.replica_nodes;
            sample.offline = entry.offline_replicas;
            std::sort(sample.isr.begin(), sample.isr.end());
            // The high watermark first: what is read later can only be further on.
            workloads::FetchOptions nothing;
            const auto end = client.list_offset(topic, 0, -2, -1, monotonic_now() + kPatience);
            if (end.offset >= 0) {
                sample.log_end_offset = end.offset;
                nothing.from = end.offset;
                const auto fetched = client.fetch(topic, 0, nothing, monotonic_now() + kPatience);
                if (fetched.high_watermark >= 0) sample.high_watermark = fetched.high_watermark;
            }
            sample.at = monotonic_now();
            if (sample.log_end_offset && sample.high_watermark)
                cluster_.sampled(broker, {sample.at, sample.leader, sample.epoch, *sample.log_end_offset,
                                          *sample.high_watermark});
            if (sample.leader != told.leader || sample.epoch != told.epoch || sample.isr != told.isr) {
                told = sample;
                Observe observe;
                observe.isr = sample.isr;
                observe.replicas = sample.replicas;
                observe.leader = sample.leader;
                observe.epoch = sample.epoch;
                observe.broker = broker;
                observe.sampled = true;
                Operation operation;
                operation.invoked = asked;
                operation.completed = sample.at;
                operation.what = std::move(observe);
                recorder_.record("observer", std::move(operation));
            }
        }
        std::unique_lock lock(mutex_);
        if (answered) {
            if (sample.leader != kNoBroker) last_leader_ = sample.leader;
            samples_[broker] = std::move(sample);
            changed_.notify_all();
        }
        if (changed_.wait_for(lock, kInterval, [this] { return stopping_; })) return;
    }
}

void Observer::wait(Instant until) const {
    std::unique_lock lock(mutex_);
    const Duration left = std::max(until - monotonic_now(), Duration{0});
    changed_.wait_for(lock, left);
}

bool Observer::wait_for(const std::function<bool()>& predicate, Instant deadline) const {
    while (!predicate()) {
        if (monotonic_now() >= deadline) return false;
        wait(std::min(deadline, monotonic_now() + kInterval));
    }
    return true;
}

std::optional<BrokerSample> Observer::sample(BrokerId broker, Instant since) const {
    const std::lock_guard lock(mutex_);
    const auto found = samples_.find(broker);
    if (found == samples_.end() || found->second.at < since) return std::nullopt;
    return found->second;
}

void Observer::set_targets(std::function<std::optional<std::vector<BrokerId>>(const std::string&)> targets) {
    targets_ = std::move(targets);
}

std::optional<BrokerSample> Observer::best() const {
    const std::lock_guard lock(mutex_);
    const Instant oldest = monotonic_now() - kFresh;
    const BrokerSample* best = nullptr;
    bool best_is_leader = false;
    for (const auto& [broker, sample] : samples_) {
        if (sample.at < oldest) continue;
        const bool is_leader = sample.leader == broker;
        const bool better =
            best == nullptr || sample.epoch > best->epoch ||
            (sample.epoch == best->epoch &&
             (is_leader > best_is_leader || (is_leader == best_is_leader && sample.at > best->at)));
        if (!better) continue;
        best = &sample;
        best_is_leader = is_leader;
    }
    if (best == nullptr) return std::nullopt;
    return *best;
}

std::optional<std::vector<BrokerId>> Observer::isr() const {
    const auto view = best();
    return view ? std::optional(view->isr) : std::nullopt;
}

std::vector<BrokerId> Observer::replicas() const { return scenario_.topic.assignment.front(); }

std::optional<BrokerId> Observer::leader() const {
    const auto view = best();
    return view ? std::optional(view->leader) : std::nullopt;
}

std::optional<LeaderEpoch> Observer::epoch() const {
    const auto view = best();
    return view ? std::optional(view->epoch) : std::nullopt;
}

std::optional<Offset> Observer::high_watermark(BrokerId broker) const {
    const auto view = sample(broker, monotonic_now() - kFresh);
    return view ? view->high_watermark : std::nullopt;
}

std::optional<Offset> Observer::log_end_offset(BrokerId broker) const {
    const auto view = sample(broker, monotonic_now() - kFresh);
    return view ? view->log_end_offset : std::nullopt;
}

bool Observer::fenced(BrokerId broker) const {
    const auto view = best();
    return view && std::find(view->offline.begin(), view->offline.end(), broker) != view->offline.end();
}

std::optional<std::vector<BrokerId>> Observer::targets_of(const std::string& fault_id) const {
    return targets_ ? targets_(fault_id) : std::nullopt;
}

std::vector<BrokerId> Observer::resolve(std::string_view text) const {
    const auto role = parse_role(text);
    if (!role) return {};
    std::vector<BrokerId> ids;
    for (const Role& part : role->parts()) {
        const std::vector<BrokerId> holders = resolve_one(part);
        ids.insert(ids.end(), holders.begin(), holders.end());
    }
    return ids;
}

std::vector<BrokerId> Observer::resolve_one(const Role& role) const {
    const auto view = best();
    switch (role.kind) {
        case Role::Kind::Id:
            return {role.id};
        case Role::Kind::Controller:
            return cluster_.active_controllers();
        case Role::Kind::All:
            return replicas();
        case Role::Kind::Brokers:
            return cluster_.brokers();
        case Role::Kind::Client:
            return cluster_.client_ids();
        // Drawn anew at every look they would mean nothing: faults draw them.
        case Role::Kind::BrokerAny:
        case Role::Kind::Minority:
        case Role::Kind::Majority:
        case Role::Kind::Several:
            return {};
        case Role::Kind::TargetOf:
            return targets_of(role.fault_id).value_or(std::vector<BrokerId>{});
        case Role::Kind::Leader:
            if (!view || view->leader == kNoBroker) return {};
            return {view->leader};
        case Role::Kind::IsrLast:
            if (!view || view->isr.empty()) return {};
            // In the order of the assignment, whatever order the broker lists them in.
            return last_in_order(replicas(), view->isr);
        case Role::Kind::FollowerAny:
        case Role::Kind::FollowerAll:
            break;
    }
    // Without a leader, followers are those that did not lead last.
    BrokerId leads = view ? view->leader : kNoBroker;
    if (leads == kNoBroker) {
        const std::lock_guard lock(mutex_);
        leads = last_leader_;
    }
    std::vector<BrokerId> followers = replicas();
    std::erase(followers, leads);
    return followers;
}

std::optional<Offset> Observer::checkpoint(BrokerId broker) const {
    return cluster_.checkpointed_high_watermark(broker);
}

std::optional<bool> Observer::answered(BrokerId broker, Instant since) const {
    const std::vector<BrokerId> brokers = cluster_.brokers();
    if (std::find(brokers.begin(), brokers.end(), broker) == brokers.end()) return std::nullopt;
    const std::lock_guard lock(mutex_);
    const auto found = samples_.find(broker);
    return found != samples_.end() && found->second.asked >= since;
}

std::optional<std::int64_t> Observer::over_paths(
    const FrameQuery& query,
    const std::function<std::uint64_t(BrokerId, BrokerId, std::int16_t)>& count) const {
    const auto api = nemesis::parse_api(query.api);
    const std::vector<BrokerId> sources = resolve(query.source);
    const std::vector<BrokerId> destinations = resolve(query.destination);
    if (!api || sources.empty() || destinations.empty()) return std::nullopt;
    std::uint64_t total = 0;
    for (const BrokerId source : sources) {
        for (const BrokerId destination : destinations) {
            if (source != destination) total += count(source, destination, *api);
        }
    }
    return static_cast<std::int64_t>(total);
}

std::optional<std::int64_t> Observer::frames_passed(const FrameQuery& query, Instant since) const {
    return over_paths(query, [&](BrokerId source, BrokerId destination, std::int16_t api) {
        return cluster_.network().passed_since(source, destination, api, query.part, since);
    });
}

std::optional<std::int64_t> Observer::frames_held(const FrameQuery& query) const {
    return over_paths(query, [&](BrokerId source, BrokerId destination, std::int16_t api) {
        return cluster_.network().waiting(source, destination, api, query.part);
    });
}

std::optional<std::int64_t> Observer::trace_lines(const TraceQuery& query, Instant since) const {
    const std::vector<BrokerId> of = query.at.empty() ? all_processes(cluster_) : resolve(query.at);
    if (of.empty()) return std::nullopt;
    return events_.trace_lines(query, of, since);
}

std::optional<std::int64_t> Observer::log_lines(const LogQuery& query, Instant since) const {
    // Also when nobody holds the role: the first question marks where the files are.
    const std::vector<BrokerId> of = resolve(query.role);
    const std::int64_t count = events_.log_lines(query, of, since);
    if (of.empty()) return std::nullopt;
    return count;
}

}  // namespace highwater::harness
