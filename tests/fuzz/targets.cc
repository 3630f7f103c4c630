#include "tests/fuzz/targets.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "base/assert.h"
#include "base/crc32c.h"
#include "tests/wire/golden_frames.h"
#include "tests/wire/messages.h"
#include "wire/control_record.h"
#include "wire/frame.h"
#include "wire/record_batch.h"

namespace highwater::fuzz {
namespace {

using Decoder = bool (*)(BytesView body, std::int16_t version);

struct Target {
    std::string name;
    /// Of versions; the selector counts from the low one.
    std::int16_t low = 0;
    std::int16_t high = 0;
    Decoder decode = nullptr;
};

template <class Message>
bool decode_message(BytesView body, std::int16_t version) {
    const auto message = wire::decode<Message>(body, version);
    if (!message) {
        HW_ASSERT(!message.error().message.empty());
        return false;
    }
    const auto again = wire::decode<Message>(wire::encode(*message, version), version);
    HW_ASSERT(again, "{} v{} cannot be decoded again: {}", Message::kName, version, again.error().message);
    HW_ASSERT(*again == *message, "{} v{} means something else when encoded", Message::kName, version);
    return true;
}

bool decode_batches(BytesView body, std::int16_t) {
    const auto batches = wire::split_batches(body);
    if (!batches) return false;
    bool accepted = false;
    for (const wire::BatchView& batch : *batches) {
        static_cast<void>(wire::validate_batch(batch.bytes));
        if (const auto records = wire::decode_records(batch.bytes)) {
            accepted = true;
            for (const wire::Record& record : *records) {
                HW_ASSERT(record.offset >= batch.header.base_offset);
                HW_ASSERT(record.offset <= batch.header.last_offset());
            }
        }
    }
    return accepted;
}

/// The CRC is set right first, so that what lies behind it is reached.
bool decode_batches_behind_the_crc(BytesView body, std::int16_t version) {
    constexpr std::size_t kCrcAt = 17;
    constexpr std::size_t kCrcFrom = 21;
    Bytes bytes(body.begin(), body.end());
    if (bytes.size() < wire::kBatchHeaderSize) return decode_batches(body, version);
    ByteWriter prefix;
    prefix.i32(static_cast<std::int32_t>(bytes.size() - wire::kBatchPrefixSize));
    std::copy(prefix.bytes().begin(), prefix.bytes().end(), bytes.begin() + 8);
    ByteWriter crc;
    crc.u32(crc32c(BytesView(bytes).subspan(kCrcFrom)));
    std::copy(crc.bytes().begin(), crc.bytes().end(), bytes.begin() + kCrcAt);
    return decode_batches(bytes, version);
}

bool decode_metadata(BytesView body, std::int16_t) {
    const auto record = wire::decode_metadata_record(body);
    if (!record) return false;
    const Bytes encoded = wire::encode_metadata_record(record->record, record->version);
    const auto again = wire::decode_metadata_record(encoded);
    HW_ASSERT(again, "{}", again.error().message);
    HW_ASSERT(again->record == record->record, "{}", wire::record_name(record->record));
    return true;
}

/// A whole request as a server meets it: header, then the body that the header announces.
bool decode_request(BytesView body, std::int16_t) {
    static_cast<void>(wire::peek_request_header(body));
    const auto frame = wire::decode_request_header(body);
    if (!frame) return false;
    bool accepted = false;
    test::for_each_message(test::ApiMessages{}, [&]<class Message>() {
        if (!Message::kName.ends_with("Request") || Message::kApiKey != frame->header.api_key) return;
        if (!Message::kVersions.has(frame->header.api_version)) return;
        accepted = decode_message<Message>(frame->body, frame->header.api_version);
    });
    return accepted;
}

bool decode_response_headers(BytesView body, std::int16_t version) {
    bool accepted = false;
    for (const wire::ApiInfo& api : wire::kApis)
        accepted |= wire::decode_response_header(body, api.key, version).has_value();
    return accepted;
}

bool answer_api_versions(BytesView, std::int16_t version) {
    for (const wire::ListenerKind kind : {wire::ListenerKind::Client, wire::ListenerKind::Internal}) {
        const auto answer = wire::answer_api_versions(kind, version);
        HW_ASSERT(wire::decode<wire::ApiVersionsResponse>(wire::encode(answer.response, answer.encode_at),
                                                          answer.encode_at));
    }
    return true;
}

bool decode_length(BytesView body, std::int16_t) {
    const auto size = wire::read_length_prefix(body, 1000);
    HW_ASSERT(!size || *size <= 1000);
    return size.has_value();
}

const std::vector<Target>& targets() {
    static const std::vector<Target> all = [] {
        std::vector<Target> list = {
            {"record batches", 0, 0, decode_batches},
            {"record batches behind the CRC", 0, 0, decode_batches_behind_the_crc},
            {"metadata record", 0, 0, decode_metadata},
            {"request", 0, 0, decode_request},
            {"response header", 0, 17, decode_response_headers},
            {"answer to ApiVersions", -1, 20, answer_api_versions},
            {"length prefix", 0, 0, decode_length},
        };
        test::for_each_message([&]<class Message>() {
            list.push_back({std::string(Message::kName), Message::kVersions.low, Message::kVersions.high,
                            decode_message<Message>});
        });
        return list;
    }();
    return all;
}

struct Selected {
    const Target* target;
    std::int16_t version;
};

Selected select(BytesView input) {
    HW_ASSERT(input.size() >= kSelectorBytes);
    const Target& target = targets()[input[0] % targets().size()];
    const int versions = target.high - target.low + 1;
    return {&target, static_cast<std::int16_t>(target.low + input[1] % versions)};
}

Bytes input_for(std::string_view name, std::int16_t version, BytesView body) {
    for (std::size_t i = 0; i < targets().size(); ++i) {
        const Target& target = targets()[i];
        if (target.name != name) continue;
        Bytes input = {static_cast<std::uint8_t>(i), static_cast<std::uint8_t>(version - target.low)};
        input.insert(input.end(), body.begin(), body.end());
        return input;
    }
    return {};
}

void add_frames(const std::string& file, std::vector<Bytes>& corpus) {
    for (const test::GoldenFrame& frame : test::read_golden_frames(file)) {
        if (Bytes input = input_for(frame.message, frame.version, frame.bytes); !input.empty())
            corpus.push_back(std::move(input));
        const std::string_view name = frame.message;
        if (!name.ends_with("Request")) continue;
        const wire::ApiInfo* api = wire::find_api(name.substr(0, name.size() - 7));
        if (api == nullptr) continue;
        ByteWriter request;
        wire::write_request_header(request, {api->key, frame.version, 7, "fuzz"});
        request.raw(frame.bytes);
        corpus.push_back(input_for("request", 0, request.bytes()));
    }
}

}  // namespace

bool run_target(BytesView input) {
    const Selected selected = select(input);
    return selected.target->decode(input.subspan(kSelectorBytes), selected.version);
}

std::string target_name(BytesView input) {
    const Selected selected = select(input);
    return fmt::format("{} v{}", selected.target->name, selected.version);
}

std::vector<Bytes> seed_corpus() {
    std::vector<Bytes> corpus;
    for (std::size_t i = 0; i < targets().size(); ++i)
        corpus.push_back({static_cast<std::uint8_t>(i), 0, 0, 0, 0, 0});
    for (const char* file :
         {"captured_frames.jsonl.gz", "controller_frames.jsonl.gz", "random_frames.jsonl.gz",
          "group_frames.jsonl.gz"})
        add_frames(file, corpus);
    for (const char* log :
         {"kafka-4.4.0-data/n1/t-0/00000000000000000000.log", "kafka-4.4.0-data/controller/metadata.log"}) {
        const Bytes bytes = test::read_test_file(log);
        const auto batches = wire::split_batches(bytes);
        if (!batches) throw std::runtime_error(fmt::format("{}: {}", log, batches.error().message));
        for (const wire::BatchView& batch : *batches) {
            corpus.push_back(input_for("record batches", 0, batch.bytes));
            corpus.push_back(input_for("record batches behind the CRC", 0, batch.bytes));
            const auto records = wire::decode_records(batch.bytes);
            if (!records || batch.header.control()) continue;
            for (const wire::Record& record : *records) {
                if (record.value) corpus.push_back(input_for("metadata record", 0, *record.value));
            }
        }
    }
    return corpus;
}

}  // namespace highwater::fuzz
