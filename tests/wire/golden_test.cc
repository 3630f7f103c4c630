// Goal: our codec and Kafka's Java library agree on every byte and every field of every message we implement,
// in every version, for recorded traffic and for random values.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <set>

#include "golden_frames.h"
#include "json_dump.h"
#include "messages.h"
#include "wire/record_batch.h"

namespace highwater::test {
namespace {

/// What is wrong with the frame, or nothing.
using Check = std::function<std::string(const GoldenFrame&)>;

template <class Message>
std::string check_frame(const GoldenFrame& frame) {
    const auto message = wire::decode<Message>(frame.bytes, frame.version);
    if (!message) return "decode: " + message.error().message;
    const Bytes again = wire::encode(*message, frame.version);
    if (again != frame.bytes) {
        return fmt::format("encoded\n  {} instead of\n  {}", to_hex(again), to_hex(frame.bytes));
    }
    const auto lean = dump_struct(*message, frame.version, Tagged::WhenSet);
    const auto full = dump_struct(*message, frame.version, Tagged::Always);
    return json_difference(frame.json, lean, full);
}

struct Implemented {
    Check check;
    wire::Versions versions;
    std::map<std::int16_t, int> checked;
};

std::map<std::string, Implemented> implemented_messages() {
    std::map<std::string, Implemented> messages;
    for_each_message([&]<class Message>() {
        messages.emplace(std::string(Message::kName),
                         Implemented{&check_frame<Message>, Message::kVersions, {}});
    });
    return messages;
}

TEST(GoldenFrames, every_frame_decodes_encodes_and_prints_as_kafka_does) {
    auto messages = implemented_messages();
    std::map<std::string, int> not_implemented;
    for (const char* file : {"captured_frames.jsonl.gz", "random_frames.jsonl.gz",
                             "controller_frames.jsonl.gz", "group_frames.jsonl.gz"}) {
        const auto frames = read_golden_frames(file);
        ASSERT_FALSE(frames.empty()) << file;
        for (std::size_t i = 0; i < frames.size(); ++i) {
            const GoldenFrame& frame = frames[i];
            const auto message = messages.find(frame.message);
            if (message == messages.end()) {
                ++not_implemented[frame.message];
                continue;
            }
            const std::string problem = message->second.check(frame);
            EXPECT_EQ(problem, "") << file << " line " << i + 1 << ": " << frame.message << " v"
                                   << frame.version;
            ++message->second.checked[frame.version];
        }
    }
    for (const auto& [name, message] : messages) {
        std::string counts;
        for (const auto& [version, count] : message.checked) counts += fmt::format(" v{}:{}", version, count);
        fmt::print("{:32}{}\n", name, counts);
        EXPECT_FALSE(message.checked.empty()) << name << " was never checked";
        for (std::int16_t version = message.versions.low; version <= message.versions.high; ++version) {
            // ApiVersions 5 is of Kafka 4.4; the library that wrote the frames is 4.3.
            if (name.starts_with("ApiVersions") && version == 5) continue;
            EXPECT_TRUE(message.checked.contains(version)) << name << " v" << version << " was never checked";
        }
    }
    int skipped = 0;
    for (const auto& [name, count] : not_implemented) skipped += count;
    fmt::print("{} frames of {} messages that are not implemented were left out\n", skipped,
               not_implemented.size());
}

/// Batches within `records`, each validated and, if not compressed, read to its last record.
void check_batches(const GoldenFrame& frame, const Bytes& records,
                   std::map<wire::Compression, int>& batches) {
    const auto split = wire::split_batches(records);
    ASSERT_TRUE(split) << split.error().message;
    std::size_t whole = 0;
    for (const wire::BatchView& batch : *split) {
        const auto header = wire::validate_batch(batch.bytes);
        ASSERT_TRUE(header) << frame.message << " v" << frame.version << " " << frame.source << ": "
                            << header.error().message;
        ++batches[header->compression()];
        whole += batch.bytes.size();
        const auto read = wire::decode_records(batch.bytes);
        if (header->compression() != wire::Compression::None) {
            ASSERT_FALSE(read);
            EXPECT_NE(read.error().message.find("compressed"), std::string::npos) << read.error().message;
            continue;
        }
        ASSERT_TRUE(read) << read.error().message;
        ASSERT_EQ(read->size(), static_cast<std::size_t>(header->count));
        EXPECT_EQ(read->front().offset, header->base_offset);
        EXPECT_EQ(read->back().offset, header->last_offset());
    }
    EXPECT_EQ(whole, records.size());
}

TEST(GoldenFrames, batches_that_real_clients_and_brokers_sent_are_valid) {
    std::map<wire::Compression, int> batches;
    for (const GoldenFrame& frame : read_golden_frames("captured_frames.jsonl.gz")) {
        if (frame.message == "ProduceRequest") {
            const auto request = wire::decode<wire::ProduceRequest>(frame.bytes, frame.version);
            ASSERT_TRUE(request) << request.error().message;
            for (const auto& topic : request->topic_data) {
                for (const auto& partition : topic.partition_data) {
                    if (partition.records) check_batches(frame, *partition.records, batches);
                }
            }
        } else if (frame.message == "FetchResponse") {
            const auto response = wire::decode<wire::FetchResponse>(frame.bytes, frame.version);
            ASSERT_TRUE(response) << response.error().message;
            for (const auto& topic : response->responses) {
                for (const auto& partition : topic.partitions) {
                    if (partition.records) check_batches(frame, *partition.records, batches);
                }
            }
        }
    }
    for (const auto& [codec, count] : batches) {
        fmt::print("codec {}: {} batches\n", static_cast<int>(codec), count);
    }
    EXPECT_GT(batches[wire::Compression::None], 0);
    EXPECT_GT(batches.size(), 1U) << "no compressed batch was recorded";
}

}  // namespace
}  // namespace highwater::test
