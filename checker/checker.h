// The judge: from what clients were told and saw, and what the nodes traced, to a verdict. Pure: no IO, clock
// or thread. Every kind and every evidence name is defined in docs/anomalies.md.
#pragma once

#include <string>
#include <vector>

#include "model/history.h"
#include "model/trace.h"
#include "model/verdict.h"

namespace highwater::checker {

struct CheckInput {
    const History& history;
    /// nullptr: black box only. Events after the last operation of the history are ignored (the cluster is
    /// being stopped then).
    const Trace* trace = nullptr;
    /// Why the runner already knows that the run proves less than it should: "fault-not-effective",
    /// "not-healed", "target-unresolved", "timing-degraded" … "topic-mismatch" and "bad-time" void
    /// everything.
    std::vector<std::string> run_reasons;
    /// One sentence for each run reason; may be shorter.
    std::vector<std::string> run_reason_details;
};

/// Failed premises void everything; otherwise invalid beats unknown beats valid.
[[nodiscard]] Verdict check(const CheckInput& input);

/// After check(): each name of `sometimes` that has no evidence, and each of `never` that has some, makes a
/// verdict that is not invalid unknown, with the reason expectation-not-met.
void expect_evidence(Verdict& verdict, const std::vector<std::string>& sometimes,
                     const std::vector<std::string>& never);

}  // namespace highwater::checker
