#include "harness/observer.h"

#include <algorithm>

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

}  // namespace

Observer::Observer(const Cluster& cluster, const Scenario& scenario, std::string run_id,
                   workloads::Recorder& recorder)
    : cluster_(cluster), scenario_(scenario), run_id_(std::move(run_id)), recorder_(recorder) {}

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
    const auto view = best();
    switch (role->kind) {
        case Role::Kind::Id:
            return {role->id};
        case Role::Kind::Controller:
            return cluster_.controllers();
        case Role::Kind::All:
            return replicas();
        case Role::Kind::Client:
            return cluster_.client_ids();
        case Role::Kind::TargetOf:
            return targets_of(role->fault_id).value_or(std::vector<BrokerId>{});
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

}  // namespace highwater::harness
