// One consumer of one partition, in one of three ways of reading.
#pragma once

#include <memory>
#include <string>

#include "workloads/stopper.h"
#include "workloads/workload.h"

namespace highwater::workloads {

class Consumer {
public:
    Consumer(const WorkloadContext& context, std::string name, std::int32_t partition, Stopper& stopper);
    /// Until the stopper stops.
    void run();

private:
    /// What stands between one read and the next.
    enum class Next : std::uint8_t { AtOnce, AfterAPause };
    Next read_once();
    Next failed(const PollReply& reply);
    void keep(PollReply reply, Instant invoked);
    /// The log ended below the position (an unclean election cut it): go on from where it ends now.
    void reset_to_end();
    void record_move(const char* op, Instant invoked);

    const WorkloadContext& context_;
    std::string name_;
    std::int32_t partition_;
    Stopper& stopper_;
    std::unique_ptr<Client> client_;
    Offset position_ = 0;
    std::int64_t reads_ = 0;
};

}  // namespace highwater::workloads
