// Goal: a partition that Kafka wrote in several segments, under several leader epochs, by idempotent
// producers and with records out of time order, is to us what Kafka's own dump tool says of it: every batch,
// record, index entry and producer. Both as a clean stop left it and after a SIGKILL, when its last indexes
// are full of zeros. Method: testdata/kafka-4.3.1/{clean,killed} are Kafka 4.3.1's directories; dump.txt,
// indexes.txt and snapshots.txt are what DumpLogSegments printed of them.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "batches.h"
#include "node/log/checkpoint.h"
#include "node/log/file_storage.h"
#include "node/log/partition_metadata.h"
#include "node/log/segment.h"
#include "storages.h"
#include "temp_dir.h"
#include "wire/record_batch.h"

namespace highwater::test {
namespace {

namespace fs = std::filesystem;

/// What Kafka had: the topic's index.interval.bytes.
const node::LogSettings kKafkas{.index_interval_bytes = 200};

std::vector<std::string> lines_of(const std::string& path) {
    std::ifstream in(path);
    std::vector<std::string> lines;
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    EXPECT_FALSE(lines.empty()) << path;
    return lines;
}

/// Lines of `path` below "Dumping NAME", by name; only those that begin with `beginning`.
std::map<std::string, std::vector<std::string>> dumped(const std::string& path,
                                                       const std::string& beginning) {
    std::map<std::string, std::vector<std::string>> by_file;
    std::string file;
    for (const std::string& line : lines_of(path)) {
        if (line.starts_with("Dumping ")) {
            file = line.substr(8);
            by_file[file];
        } else if (line.starts_with(beginning)) {
            by_file[file].push_back(line);
        }
    }
    return by_file;
}

std::string as_dumped(const wire::BatchHeader& header, std::size_t position) {
    return fmt::format(
        "baseOffset: {} lastOffset: {} count: {} baseSequence: {} lastSequence: {} producerId: {} "
        "producerEpoch: {} partitionLeaderEpoch: {} isTransactional: false isControl: false deleteHorizonMs: "
        "OptionalLong.empty position: {} CreateTime: {} size: {} magic: {} compresscodec: none crc: {} "
        "isvalid: true",
        header.base_offset, header.last_offset(), header.count, header.base_sequence,
        header.base_sequence < 0 ? -1 : header.base_sequence + header.last_offset_delta, header.producer_id,
        header.producer_epoch, header.leader_epoch, position, header.max_timestamp, header.size(),
        header.magic, header.crc);
}

std::string as_dumped(const wire::BatchHeader& header, const wire::Record& record) {
    std::string headers;
    for (const wire::RecordHeader& each : record.headers) headers += (headers.empty() ? "" : ",") + each.key;
    return fmt::format(
        "| offset: {} CreateTime: {} keySize: {} valueSize: {} sequence: {} headerKeys: [{}]{} "
        "payload: {}",
        record.offset, record.timestamp, record.key ? static_cast<int>(record.key->size()) : -1,
        record.value->size(),
        header.base_sequence < 0 ? -1 : header.base_sequence + record.offset - header.base_offset, headers,
        record.key ? fmt::format(" key: {}", as_text(*record.key)) : "", as_text(*record.value));
}

class KafkaSegments : public testing::TestWithParam<const char*> {
protected:
    void SetUp() override {
        fs::copy(source, copy.path(), fs::copy_options::recursive);
        for (const fs::directory_entry& entry : fs::directory_iterator(source + "/t-0"))
            originals["t-0/" + entry.path().filename().string()] = original(entry.path());
        const auto points = node::parse_offset_checkpoint(
            original(source + "/recovery-point-offset-checkpoint"), "recovery points");
        ASSERT_TRUE(points) << points.error().message;
        start = {.clean = clean, .recovery_point = points->at({"t", 0})};
        ASSERT_EQ(start.recovery_point, 76);
    }
    static std::string original(const fs::path& path) {
        std::ifstream in(path, std::ios::binary);
        EXPECT_TRUE(in) << path;
        return {std::istreambuf_iterator<char>(in), {}};
    }

    /// Everything that can be read from the log, in the tool's words; positions begin anew in each segment.
    static std::vector<std::string> told(const node::PartitionLog& log, const std::vector<Offset>& segments) {
        std::vector<std::string> lines;
        const auto bytes = log.read(log.log_start_offset(), log.log_end_offset(), std::size_t{1} << 30U);
        EXPECT_TRUE(bytes) << bytes.error().message;
        const auto views = wire::split_batches(*bytes);
        EXPECT_TRUE(views) << views.error().message;
        std::size_t position = 0;
        for (const wire::BatchView& view : *views) {
            if (std::count(segments.begin(), segments.end(), view.header.base_offset) > 0) position = 0;
            lines.push_back(as_dumped(view.header, position));
            position += view.bytes.size();
            const auto records = wire::decode_records(view.bytes);
            EXPECT_TRUE(records) << records.error().message;
            for (const wire::Record& record : *records) lines.push_back(as_dumped(view.header, record));
        }
        return lines;
    }

    void expect_as_dumped(const node::PartitionLog& log) const {
        std::vector<std::string> expected;
        for (const std::string& line : lines_of(source + "/dump.txt")) {
            if (line.starts_with("baseOffset: ") || line.starts_with("| ")) expected.push_back(line);
        }
        std::vector<Offset> bases;
        for (const auto& [name, content] : originals) {
            if (name.ends_with(".log")) bases.push_back(std::stoll(name.substr(4)));
        }
        EXPECT_EQ(log.segment_count(), bases.size());
        EXPECT_EQ(told(log, bases), expected);
        EXPECT_EQ(format_epoch_checkpoint(log.epochs()), originals.at("t-0/leader-epoch-checkpoint"));
    }

    const std::string source = fmt::format("{}/kafka-4.3.1/{}", HW_TEST_DATA, GetParam());
    const bool clean = std::string_view(GetParam()) == "clean";
    TempDir copy;
    node::FileStorage storage{copy.path()};
    /// Content by path.
    std::map<std::string, std::string> originals;
    node::LogStart start;
};

TEST_P(KafkaSegments, OpenAsDumped) {
    const auto log = open_log(storage, kKafkas, start);
    EXPECT_EQ(log->recovered_cut_bytes(), 0U);
    EXPECT_EQ(log->log_end_offset(), clean ? 76 : 114);
    EXPECT_EQ(log->recovery_point(), 76);
    expect_as_dumped(*log);
    for (const auto& [name, content] : originals) {
        // The indexes that recovery wrote again have no zeros at their end.
        if (!clean && name.starts_with("t-0/00000000000000000093.") && name.ends_with("index")) continue;
        EXPECT_EQ(text_of(storage, name), content) << name;
    }
    EXPECT_EQ(text_of(storage, kEpochFile), originals.at("t-0/leader-epoch-checkpoint"));
}

TEST_P(KafkaSegments, IndexesReadAsDumped) {
    const auto files = dumped(source + "/indexes.txt", "");
    ASSERT_EQ(files.size(), clean ? 8U : 12U);
    for (const auto& [name, expected] : files) {
        SCOPED_TRACE(name);
        std::vector<std::string> lines;
        const std::string stem = name.substr(0, 20);
        const Offset base = std::stoll(stem);
        const std::string path = "t-0/" + stem;
        // Preallocated and never cut to size: Kafka asks the tool to be content with zeros.
        const std::string content = originals.at("t-0/" + name);
        const bool whole = content.find_last_not_of('\0') + 40 > content.size();
        ByteReader in(as_bytes_view(content));
        if (name.ends_with(".index")) {
            node::OffsetIndex index(path + ".index");
            EXPECT_EQ(index.load(storage, 1U << 20U).value(), whole);
            while (in.remaining() >= 8) {
                const Offset offset = base + in.i32();
                lines.push_back(fmt::format("offset: {} position: {}", offset, in.i32()));
            }
        } else {
            node::TimeIndex index(path + ".timeindex");
            EXPECT_EQ(index.load(storage, 1U << 20U).value(), whole);
            while (in.remaining() >= 12) {
                const std::int64_t timestamp = in.i64();
                lines.push_back(fmt::format("timestamp: {} offset: {}", timestamp, base + in.i32()));
            }
        }
        lines.resize(expected.size());
        EXPECT_EQ(lines, expected);
    }
}

TEST_P(KafkaSegments, RebuiltIndexesEqualKafkas) {
    for (const auto& [name, content] : originals) {
        if (!name.ends_with("index")) continue;
        ASSERT_TRUE(storage.remove_file(name));
    }
    const auto log = open_log(storage, kKafkas, start);
    expect_as_dumped(*log);
    for (const auto& [name, content] : originals) {
        if (!name.ends_with("index")) continue;
        const std::string rebuilt = text_of(storage, name).value_or("");
        // Full of zeros behind its entries, if Kafka was killed.
        EXPECT_EQ(rebuilt, content.substr(0, rebuilt.size())) << name;
        EXPECT_EQ(content.find_first_not_of('\0', rebuilt.size()), std::string::npos) << name;
    }
}

TEST_P(KafkaSegments, SnapshotsReadAndWriteAsKafkas) {
    const auto files = dumped(source + "/snapshots.txt", "producerId: ");
    ASSERT_EQ(files.size(), clean ? 4U : 5U);
    for (const auto& [name, expected] : files) {
        const std::string content = originals.at("t-0/" + name);
        const auto states = node::parse_producer_snapshot(as_bytes_view(content), name);
        ASSERT_TRUE(states) << states.error().message;
        std::vector<std::string> lines;
        for (const auto& [id, state] : states->all()) {
            ASSERT_EQ(state.batches.size(), 1U);
            const node::ProducerBatch& last = state.batches.back();
            lines.push_back(
                fmt::format("producerId: {} producerEpoch: {} coordinatorEpoch: -1 currentTxnFirstOffset: "
                            "OptionalLong.empty "
                            "lastTimestamp: {} firstSequence: {} lastSequence: {} lastOffset: {} "
                            "offsetDelta: {} timestamp: "
                            "{}",
                            id, state.epoch, state.last_timestamp, last.first_sequence, last.last_sequence,
                            last.last_offset, last.last_offset - last.first_offset, last.timestamp));
        }
        EXPECT_EQ(lines, expected) << name;
        EXPECT_EQ(as_text(node::format_producer_snapshot(*states)), content) << name;
    }
}

TEST_P(KafkaSegments, ProducersGoOnWhereTheyWere) {
    const auto log = open_log(storage, kKafkas, start);
    std::map<ProducerId, std::int32_t> last;
    for (const std::string& line : lines_of(source + "/dump.txt")) {
        if (!line.starts_with("baseOffset: ")) continue;
        std::istringstream words(line);
        std::map<std::string, std::string> facts;
        for (std::string name, value; words >> name >> value;) facts[name] = value;
        const ProducerId id = std::stoll(facts.at("producerId:"));
        if (id >= 0) last[id] = std::stoi(facts.at("lastSequence:"));
    }
    ASSERT_EQ(last.size(), clean ? 4U : 6U);
    for (const auto& [id, state] : log->producers().all()) EXPECT_EQ(state.last_sequence(), last[id]) << id;
    // The youngest two are known in any case; Kafka forgot the first ones at its restart.
    const ProducerId youngest = last.rbegin()->first;
    for (const ProducerId id : {youngest - 1, youngest}) EXPECT_NE(log->producers().find(id), nullptr) << id;
}

TEST_P(KafkaSegments, GoOnAsOurs) {
    Offset end = 0;
    {
        const auto log = open_log(storage, kKafkas, start);
        end = log->log_end_offset();
        lead(*log, 9, {"ours"});
        ASSERT_TRUE(log->close());
    }
    const auto log = open_log(storage, kKafkas, {.clean = true});
    EXPECT_EQ(log->log_end_offset(), end + 1);
    EXPECT_EQ(log->epochs().entries().back(), (node::EpochEntry{9, end}));
    ASSERT_TRUE(log->truncate_to(end));
    expect_as_dumped(*log);
}

INSTANTIATE_TEST_SUITE_P(Stops, KafkaSegments, testing::Values("clean", "killed"),
                         [](const auto& stop) { return std::string(stop.param); });

}  // namespace
}  // namespace highwater::test
