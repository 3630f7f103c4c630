// Watches every broker from outside, over its DIRECT listener, and answers the questions of conditions and
// roles.
#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "harness/cluster.h"
#include "harness/event_watch.h"
#include "model/condition.h"
#include "workloads/recorder.h"

namespace highwater::harness {

/// What one broker last said of the partition under test (partition 0).
struct BrokerSample {
    /// When the questions behind it were sent, and the last of them answered.
    Instant asked;
    Instant at;
    BrokerId leader = kNoBroker;
    LeaderEpoch epoch = kNoEpoch;
    std::vector<BrokerId> isr;
    std::vector<BrokerId> replicas;
    /// Brokers that are fenced or gone, as this one has heard.
    std::vector<BrokerId> offline;
    std::optional<Offset> log_end_offset;
    std::optional<Offset> high_watermark;
};

class Observer final : public ClusterFacts {
public:
    Observer(Cluster& cluster, const Scenario& scenario, std::string run_id, workloads::Recorder& recorder);
    ~Observer() override;
    void start();
    void stop();

    /// Returns at `until`, or earlier when somebody said something new.
    void wait(Instant until) const;
    /// Until `predicate(*this)`; false if `deadline` came first.
    bool wait_for(const std::function<bool()>& predicate, Instant deadline) const;
    /// The newest sample of a broker that answered at `since` or later.
    [[nodiscard]] std::optional<BrokerSample> sample(BrokerId broker, Instant since) const;
    void set_targets(std::function<std::optional<std::vector<BrokerId>>(const std::string&)> targets);

    [[nodiscard]] std::optional<std::vector<BrokerId>> isr() const override;
    [[nodiscard]] std::vector<BrokerId> replicas() const override;
    [[nodiscard]] std::optional<BrokerId> leader() const override;
    [[nodiscard]] std::optional<LeaderEpoch> epoch() const override;
    [[nodiscard]] std::optional<Offset> high_watermark(BrokerId broker) const override;
    [[nodiscard]] std::optional<Offset> log_end_offset(BrokerId broker) const override;
    [[nodiscard]] bool fenced(BrokerId broker) const override;
    [[nodiscard]] std::int64_t acked() const override { return recorder_.acked(); }
    [[nodiscard]] std::optional<std::vector<BrokerId>> targets_of(const std::string& fault_id) const override;
    [[nodiscard]] std::vector<BrokerId> resolve(std::string_view role) const override;
    [[nodiscard]] std::optional<Offset> checkpoint(BrokerId broker) const override;
    [[nodiscard]] std::optional<bool> answered(BrokerId broker, Instant since) const override;
    [[nodiscard]] std::optional<std::int64_t> frames_passed(const FrameQuery& query,
                                                            Instant since) const override;
    [[nodiscard]] std::optional<std::int64_t> frames_held(const FrameQuery& query) const override;
    [[nodiscard]] std::optional<std::int64_t> trace_lines(const TraceQuery& query,
                                                          Instant since) const override;
    [[nodiscard]] std::optional<std::int64_t> log_lines(const LogQuery& query, Instant since) const override;

private:
    [[nodiscard]] std::vector<BrokerId> resolve_one(const Role& role) const;
    /// Adds up over the paths that the query means now; nullopt: a role that nobody holds, an unknown API.
    [[nodiscard]] std::optional<std::int64_t> over_paths(
        const FrameQuery& query,
        const std::function<std::uint64_t(BrokerId, BrokerId, std::int16_t)>& count) const;
    void watch(BrokerId broker);
    /// The view with the highest leader epoch; among equals the leader's own, else the newest. Only views
    /// that are fresh: a frozen broker's last word is no news.
    [[nodiscard]] std::optional<BrokerSample> best() const;

    Cluster& cluster_;
    const Scenario& scenario_;
    std::string run_id_;
    workloads::Recorder& recorder_;
    std::function<std::optional<std::vector<BrokerId>>(const std::string&)> targets_;
    /// Asked by the thread that plays the faults alone.
    mutable EventWatch events_;
    mutable std::mutex mutex_;
    mutable std::condition_variable changed_;
    std::map<BrokerId, BrokerSample> samples_;
    BrokerId last_leader_ = kNoBroker;
    bool stopping_ = false;
    std::vector<std::thread> threads_;
};

}  // namespace highwater::harness
