// Frames that Kafka's own Java library wrote, with the JSON it prints for each; and hex, base64 and gzip to
// read them.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/bytes.h"

namespace highwater::test {

struct GoldenFrame {
    /// As in Kafka's schemas: "FetchRequest", "PartitionRecord".
    std::string message;
    std::int16_t version = 0;
    /// The body alone.
    Bytes bytes;
    nlohmann::json json;
    /// "random", or the client run that was recorded.
    std::string source;
};

/// All frames of testdata/<file>, a gzip of JSON lines. Throws std::runtime_error naming file and line.
std::vector<GoldenFrame> read_golden_frames(const std::string& file);

/// A file of testdata as bytes or text. Throws std::runtime_error.
Bytes read_test_file(const std::string& file);

/// Standard base64 with padding, as Kafka's JSON shows byte strings.
std::string to_base64(BytesView bytes);

}  // namespace highwater::test
