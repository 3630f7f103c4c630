// One run's result as people and machines get it: `run --json`, `check --json`, and what `compare` adds up.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "model/history.h"
#include "model/verdict.h"

namespace highwater::results {

/// When the run's phases were, for measures that need them.
struct Phases {
    std::optional<Instant> first_fault;
    std::optional<Instant> healed;
    /// ISR full again after heal.
    std::optional<Instant> recovered;
};

/// Counts and times of one run. Times in milliseconds; nullopt where there was nothing to measure.
struct Measures {
    std::int64_t acked = 0;           // acks=all
    std::int64_t lost_committed = 0;  // allowed ones too
    std::int64_t read_then_lost = 0;
    std::int64_t lost_weak = 0;
    std::int64_t dirty_reads = 0;
    std::int64_t rejected = 0;
    std::int64_t duplicates = 0;  // values at more than one offset, allowed ones too
    std::optional<std::int64_t> unavailable_ms;
    std::optional<std::int64_t> recovery_ms;
};

struct RunResult {
    std::string scenario;
    std::string sut = "node";
    std::uint64_t seed = 0;
    std::string run_dir;
    Verdict verdict;
    Measures measures;
    /// Sentences about what was measured, e.g. the time of an ISR shrink beside the timer that caused it.
    std::vector<std::string> findings;
    /// See results/changes.h.
    std::vector<std::string> changes;
    std::map<std::string, std::int64_t> error_codes;
};

Measures measure(const History& history, const Verdict& verdict, const Phases& phases);

/// Exactly {scenario, sut, seed, verdict, anomalies, violations, reasons, evidence,
/// unchecked [{check, why}], run_dir}, one line.
std::string run_result_to_json(const RunResult& result);
/// The same for a person: verdict, counts, first sentences, reasons, findings, where the files are.
std::string run_result_to_text(const RunResult& result);

}  // namespace highwater::results
