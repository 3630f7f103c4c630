// Goal: we read the files of a real Kafka 4.4 cluster as Kafka's own dump tool does, batch by batch and
// record by record.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <sstream>

#include "golden_frames.h"
#include "json_dump.h"
#include "wire/control_record.h"
#include "wire/metadata_record.h"
#include "wire/record_batch.h"

namespace highwater::test {
namespace {

struct DumpedRecord {
    /// "offset" -> "0", "CreateTime" -> "1796007643447", "keySize", "valueSize".
    std::map<std::string, std::string> facts;
    /// "payload" or, for a control record, its type: "LeaderChange".
    std::string kind;
    std::string text;
};
struct DumpedBatch {
    std::map<std::string, std::string> facts;
    std::vector<DumpedRecord> records;
};

/// "a: 1 b: 2 headerKeys: [] payload: x y" -> the pairs, and the rest of the line from the key after
/// "headerKeys: []".
std::map<std::string, std::string> read_facts(std::istringstream& line) {
    std::map<std::string, std::string> facts;
    std::string key;
    std::string value;
    while (line >> key >> value) {
        key.pop_back();
        facts[key] = value;
        if (key == "headerKeys") break;
    }
    return facts;
}

std::vector<DumpedBatch> read_dump(const std::string& file) {
    const Bytes bytes = read_test_file(file);
    std::istringstream lines{std::string(as_text(bytes))};
    std::vector<DumpedBatch> batches;
    std::string text;
    while (std::getline(lines, text)) {
        if (text.starts_with("baseOffset:")) {
            std::istringstream line(text);
            batches.push_back({read_facts(line), {}});
        } else if (text.starts_with("| ")) {
            std::istringstream line(text.substr(2));
            DumpedRecord record;
            record.facts = read_facts(line);
            line >> record.kind;
            record.kind.pop_back();
            std::getline(line >> std::ws, record.text);
            batches.back().records.push_back(std::move(record));
        }
    }
    return batches;
}

/// What the dump tool says of a batch, as we see it. `position` is its place in the file.
std::map<std::string, std::string> facts_of(const wire::BatchHeader& header, std::size_t position) {
    const std::int32_t last_sequence =
        header.base_sequence < 0 ? -1 : header.base_sequence + header.last_offset_delta;
    return {{"baseOffset", fmt::to_string(header.base_offset)},
            {"lastOffset", fmt::to_string(header.last_offset())},
            {"count", fmt::to_string(header.count)},
            {"baseSequence", fmt::to_string(header.base_sequence)},
            {"lastSequence", fmt::to_string(last_sequence)},
            {"producerId", fmt::to_string(header.producer_id)},
            {"producerEpoch", fmt::to_string(header.producer_epoch)},
            {"partitionLeaderEpoch", fmt::to_string(header.leader_epoch)},
            {"isTransactional", header.transactional() ? "true" : "false"},
            {"isControl", header.control() ? "true" : "false"},
            {"deleteHorizonMs", "OptionalLong.empty"},
            {"position", fmt::to_string(position)},
            {"CreateTime", fmt::to_string(header.max_timestamp)},
            {"size", fmt::to_string(header.size())},
            {"magic", fmt::to_string(header.magic)},
            {"compresscodec", header.compression() == wire::Compression::None ? "none" : "other"},
            {"crc", fmt::to_string(header.crc)},
            {"isvalid", "true"}};
}

std::string size_of(const std::optional<Bytes>& bytes) {
    return bytes ? fmt::to_string(bytes->size()) : "-1";
}

void expect_record(const wire::Record& record, const DumpedRecord& dumped) {
    EXPECT_EQ(fmt::to_string(record.offset), dumped.facts.at("offset"));
    EXPECT_EQ(fmt::to_string(record.timestamp), dumped.facts.at("CreateTime"));
    EXPECT_EQ(size_of(record.key), dumped.facts.at("keySize"));
    EXPECT_EQ(size_of(record.value), dumped.facts.at("valueSize"));
    EXPECT_TRUE(record.headers.empty());
}

/// Walks the batches of `log` beside the dump; `on_record` compares what a record says.
template <class OnRecord>
std::size_t compare_log(const Bytes& log, const std::vector<DumpedBatch>& dumped, OnRecord&& on_record) {
    const auto batches = wire::split_batches(log);
    if (!batches) {
        ADD_FAILURE() << batches.error().message;
        return 0;
    }
    EXPECT_EQ(batches->size(), dumped.size());
    std::size_t position = 0;
    std::size_t count = 0;
    for (std::size_t i = 0; i < std::min(batches->size(), dumped.size()); ++i) {
        const wire::BatchView& batch = (*batches)[i];
        const auto header = wire::validate_batch(batch.bytes);
        EXPECT_TRUE(header) << header.error().message;
        EXPECT_EQ(facts_of(batch.header, position), dumped[i].facts);
        position += batch.bytes.size();
        const auto records = wire::decode_records(batch.bytes);
        EXPECT_TRUE(records) << records.error().message;
        if (!records || records->size() != dumped[i].records.size()) {
            ADD_FAILURE() << "batch " << i << " has other records than the dump";
            continue;
        }
        for (std::size_t k = 0; k < records->size(); ++k, ++count) {
            SCOPED_TRACE(fmt::format("record at offset {}", (*records)[k].offset));
            expect_record((*records)[k], dumped[i].records[k]);
            on_record(batch.header, (*records)[k], dumped[i].records[k]);
        }
    }
    EXPECT_EQ(position, log.size());
    return count;
}

TEST(KafkaData, partition_segments_read_as_dumped) {
    for (const char* replica : {"n1", "n2", "n3"}) {
        SCOPED_TRACE(replica);
        const std::string folder = fmt::format("kafka-4.4.0-data/{}/t-0/", replica);
        const Bytes log = read_test_file(folder + "00000000000000000000.log");
        const std::size_t count =
            compare_log(log, read_dump(folder + "dump.txt"),
                        [](const wire::BatchHeader&, const wire::Record& record, const DumpedRecord& dumped) {
                            EXPECT_EQ(dumped.kind, "payload");
                            EXPECT_EQ(as_text(*record.value), dumped.text);
                        });
        EXPECT_EQ(count, 8U);
    }
}

/// "PARTITION_CHANGE_RECORD" of "PartitionChangeRecord", as the dump tool spells types.
std::string dumped_type(std::string_view name) {
    std::string type;
    for (const char c : name) {
        if (c >= 'A' && c <= 'Z' && !type.empty()) type.push_back('_');
        type.push_back(c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c);
    }
    return type;
}

void expect_metadata(const wire::Record& record, const nlohmann::json& dumped) {
    const auto decoded = wire::decode_metadata_record(*record.value);
    ASSERT_TRUE(decoded) << decoded.error().message;
    EXPECT_EQ(decoded->version, dumped.at("version"));
    EXPECT_EQ(dumped_type(wire::record_name(decoded->record)), dumped.at("type"));
    const auto json =
        std::visit([&](const auto& value) { return dump_struct(value, decoded->version, Tagged::WhenSet); },
                   decoded->record);
    EXPECT_EQ(json, dumped.at("data"));
    EXPECT_EQ(wire::encode_metadata_record(decoded->record, decoded->version), *record.value);
}

void expect_leader_change(const wire::Record& record, const nlohmann::json& dumped) {
    const auto message = wire::decode_leader_change(record);
    ASSERT_TRUE(message) << message.error().message;
    EXPECT_EQ(dump_struct(*message, message->version, Tagged::WhenSet), dumped);
    wire::Record again = wire::encode_leader_change(*message, record.timestamp);
    again.offset = record.offset;
    EXPECT_EQ(again, record);
}

TEST(KafkaData, metadata_log_reads_as_dumped) {
    const Bytes log = read_test_file("kafka-4.4.0-data/controller/metadata.log");
    int metadata = 0;
    int leader_changes = 0;
    compare_log(log, read_dump("kafka-4.4.0-data/controller/metadata.txt"),
                [&](const wire::BatchHeader& header, const wire::Record& record, const DumpedRecord& dumped) {
                    const auto json = nlohmann::json::parse(dumped.text);
                    if (header.control()) {
                        EXPECT_EQ(dumped.kind, "LeaderChange");
                        expect_leader_change(record, json);
                        ++leader_changes;
                    } else {
                        EXPECT_EQ(dumped.kind, "payload");
                        expect_metadata(record, json);
                        ++metadata;
                    }
                });
    EXPECT_EQ(leader_changes, 1);
    EXPECT_EQ(metadata, 82);
}

TEST(KafkaData, rebuilt_batches_equal_kafkas_bytes) {
    const Bytes log = read_test_file("kafka-4.4.0-data/controller/metadata.log");
    const auto batches = wire::split_batches(log);
    ASSERT_TRUE(batches);
    for (const wire::BatchView& batch : *batches) {
        const auto records = wire::decode_records(batch.bytes);
        ASSERT_TRUE(records);
        wire::BatchSpec spec;
        spec.base_offset = batch.header.base_offset;
        spec.leader_epoch = batch.header.leader_epoch;
        spec.control = batch.header.control();
        spec.records = *records;
        EXPECT_EQ(to_hex(wire::encode_batch(spec)), to_hex(batch.bytes))
            << "at offset " << batch.header.base_offset;
    }
}

}  // namespace
}  // namespace highwater::test
