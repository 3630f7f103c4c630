#include "wire/messages/metadata_records.h"

#include "wire/codec_impl.h"

namespace highwater::wire {

HW_WIRE_INSTANTIATE(RegisterBrokerRecord)
HW_WIRE_INSTANTIATE(UnregisterBrokerRecord)
HW_WIRE_INSTANTIATE(TopicRecord)
HW_WIRE_INSTANTIATE(PartitionRecord)
HW_WIRE_INSTANTIATE(ConfigRecord)
HW_WIRE_INSTANTIATE(PartitionChangeRecord)
HW_WIRE_INSTANTIATE(FenceBrokerRecord)
HW_WIRE_INSTANTIATE(UnfenceBrokerRecord)
HW_WIRE_INSTANTIATE(RemoveTopicRecord)
HW_WIRE_INSTANTIATE(FeatureLevelRecord)
HW_WIRE_INSTANTIATE(BrokerRegistrationChangeRecord)
HW_WIRE_INSTANTIATE(NoOpRecord)
HW_WIRE_INSTANTIATE(BeginTransactionRecord)
HW_WIRE_INSTANTIATE(EndTransactionRecord)
HW_WIRE_INSTANTIATE(AbortTransactionRecord)
HW_WIRE_INSTANTIATE(ProducerIdsRecord)
HW_WIRE_INSTANTIATE(RegisterControllerRecord)
HW_WIRE_INSTANTIATE(ClearElrRecord)
HW_WIRE_INSTANTIATE(LeaderChangeMessage)

}  // namespace highwater::wire
