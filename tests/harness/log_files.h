// Segment files as a broker writes them, in a directory of the test.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "wire/record_batch.h"

namespace highwater::harness {

class LogDirectory {
public:
    LogDirectory() {
        std::string name = (std::filesystem::temp_directory_path() / "highwater-log-XXXXXX").string();
        EXPECT_NE(::mkdtemp(name.data()), nullptr);
        path_ = name;
    }
    ~LogDirectory() {
        std::error_code error;
        std::filesystem::remove_all(path_, error);
    }
    LogDirectory(const LogDirectory&) = delete;
    LogDirectory& operator=(const LogDirectory&) = delete;

    [[nodiscard]] const std::string& path() const { return path_; }
    [[nodiscard]] std::string segment(Offset base) const {
        std::string digits = std::to_string(base);
        return path_ + "/" + std::string(20 - digits.size(), '0') + digits + ".log";
    }
    /// Appends these bytes to the segment.
    void write(Offset base, const Bytes& bytes) const {
        std::ofstream out(segment(base), std::ios::binary | std::ios::app);
        out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    }

private:
    std::string path_;
};

/// One batch of `count` records.
inline Bytes batch_of(Offset base, LeaderEpoch epoch, int count, const std::string& value = "v") {
    wire::BatchSpec spec;
    spec.base_offset = base;
    spec.leader_epoch = epoch;
    for (int i = 0; i < count; ++i) {
        wire::Record record;
        record.timestamp = 1'000;
        record.value = Bytes(value.begin(), value.end());
        spec.records.push_back(std::move(record));
    }
    return wire::encode_batch(spec);
}

}  // namespace highwater::harness
