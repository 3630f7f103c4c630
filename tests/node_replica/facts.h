// Partition facts and answers as one readable line each, for transcripts.
#pragma once

#include <string>
#include <vector>

#include "node/replica/partition.h"

namespace highwater::node {

/// "0..2", "nothing" for an unknown range.
std::string offsets(Offset first, Offset last);
std::string members(const std::vector<BrokerId>& ids);
std::string describe(const PartitionFact& fact);
std::string describe(const FetchAnswer& answer);
std::string describe(const AlterPartitionProposal& proposal);
/// "leader@1 LEO 5 HW 3 ISR 1,2 (+3)".
std::string describe(const Partition& partition);
/// The batches of `records` as offsets with their epochs: "0..2 of epoch 1".
std::string describe_records(const Bytes& records);

}  // namespace highwater::node
