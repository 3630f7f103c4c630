// What a run went through, without its times: the changes of leader and ISR in order, and the error codes
// that clients were told. Two systems that follow the same rules go through the same.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "model/history.h"
#include "model/trace.h"

namespace highwater::results {

/// Of the trace's `partition` lines, one step for each that changes leader, epoch or ISR:
/// "leader 1 epoch 0 ISR 1,2,3 (created)", "ISR 1,2 (fenced)", "no leader, epoch 1, ISR none (fenced)". ISRs
/// are sorted; steps of partitions other than 0 begin with the partition.
std::vector<std::string> leadership_changes(const Trace& trace);

/// "Produce NOT_ENOUGH_REPLICAS": how often, over all clients. What is no code of Kafka's (a lost connection,
/// no answer in time) counts by its own word.
std::map<std::string, std::int64_t> error_codes(const History& history);

}  // namespace highwater::results
