// What a fault does to a cluster when it strikes, while it is in force and when it is undone. When that is,
// is the executor's business.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "base/rng.h"
#include "model/fault.h"
#include "nemesis/fault_target.h"
#include "nemesis/grudge.h"
#include "nemesis/node_spec.h"

namespace highwater::nemesis {

/// What one struck fault still has to do or to take back.
struct InForce {
    /// Ids of rules, in the order they came into force.
    std::vector<std::string> rules;
    /// Flaky: what is to be stopped or restored, and when.
    struct Move {
        Instant at;
        bool stops = false;
        PathRule rule;
    };
    std::deque<Move> moves;
    /// Terminate with kill_after: who is still there.
    std::vector<BrokerId> leaving;
    std::optional<Instant> kill_at;

    [[nodiscard]] bool settled() const { return moves.empty() && leaving.empty(); }
    /// Nothing has to be done before then.
    [[nodiscard]] Instant next_moment() const;
};

class FaultActions {
public:
    FaultActions(FaultTarget& target, NodeSpecs specs, Rng rng)
        : target_(target), specs_(std::move(specs)), rng_(rng) {}

    /// Fills targets, paths, effective, ok, detail and proof of the record. Empty targets: nobody held the
    /// role. Not for Release.
    void strike(const FaultSpec& fault, FaultRecord& record, InForce& force);
    /// Does what is due: moves of a flaky path, SIGKILL after a deadline. Error: it had no effect.
    Status go_on(const FaultSpec& fault, FaultRecord& record, InForce& force, Instant now);
    /// Everything back: rules away, paused processes resumed, ended ones started. Error: what stays as it is.
    Status undo(const FaultSpec& fault, FaultRecord& record, InForce& force);

private:
    FaultEffect act(const FaultSpec& fault, BrokerId id);
    void strike_processes(const FaultSpec& fault, FaultRecord& record, InForce& force);
    void strike_paths(const FaultSpec& fault, FaultRecord& record, InForce& force);
    [[nodiscard]] Grudge paths_of(const FaultSpec& fault, FaultRecord& record);
    void plan_moves(const FaultSpec& fault, const Grudge& paths, InForce& force);
    Status move(const InForce::Move& move, FaultRecord& record, InForce& force);
    static PathRule rule_for(const FaultSpec& fault, BrokerId source, BrokerId destination);

    FaultTarget& target_;
    NodeSpecs specs_;
    Rng rng_;
};

}  // namespace highwater::nemesis
