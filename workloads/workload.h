// A workload drives clients and records every operation. It never judges.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/rng.h"
#include "model/scenario.h"
#include "workloads/client.h"
#include "workloads/recorder.h"

namespace highwater::workloads {

class Workload {
public:
    virtual ~Workload() = default;
    virtual void start() = 0;
    /// Every counted phase has ended; a workload without counts is always finished.
    [[nodiscard]] virtual bool finished() const = 0;
    /// Lets operations in flight end; returns when every thread has ended.
    virtual void stop() = 0;
};

struct WorkloadContext {
    WorkloadSpec spec;
    std::int32_t partitions = 1;
    /// Numbers of this workload's producers begin here: unique over all workloads of a run.
    std::int64_t first_producer = 1;
    /// The same of its consumers: one name is one consumer with one position.
    std::int32_t first_consumer = 1;
    ClientFactory clients;
    Recorder* recorder = nullptr;
    std::uint64_t seed = 0;
    /// Thread-safe: is the fault with this id complete? For phases that begin after one.
    std::function<bool(const std::string&)> fault_complete;
};

/// kind "append": producers that append unique values, consumers that read each partition as the spec says.
std::unique_ptr<Workload> make_append_workload(WorkloadContext context);

}  // namespace highwater::workloads
