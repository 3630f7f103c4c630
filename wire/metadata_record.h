// One record of __cluster_metadata as a value, and its form in the log: frame version 1, type, version,
// flexible body.
#pragma once

#include <string_view>
#include <variant>

#include "wire/messages/metadata_records.h"

namespace highwater::wire {

using MetadataRecord =
    std::variant<RegisterBrokerRecord, UnregisterBrokerRecord, TopicRecord, PartitionRecord, ConfigRecord,
                 PartitionChangeRecord, FenceBrokerRecord, UnfenceBrokerRecord, RemoveTopicRecord,
                 FeatureLevelRecord, BrokerRegistrationChangeRecord, NoOpRecord, BeginTransactionRecord,
                 EndTransactionRecord, AbortTransactionRecord, ProducerIdsRecord, RegisterControllerRecord,
                 ClearElrRecord>;

/// Kafka's name of the record, e.g. "PartitionChangeRecord".
std::string_view record_name(const MetadataRecord& record);

/// The value of the Kafka record. `version` must be one of the record's kVersions.
Bytes encode_metadata_record(const MetadataRecord& record, std::int16_t version);

struct VersionedMetadataRecord {
    MetadataRecord record;
    std::int16_t version = 0;
};
/// Errors: another frame version, an unknown type, a malformed body.
Result<VersionedMetadataRecord> decode_metadata_record(BytesView value);

}  // namespace highwater::wire
