#include "tests/kafka_tools/dump_tool.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <sstream>

#include "harness/kafka/distribution.h"
#include "wire/record_batch.h"

namespace highwater::test {
namespace {

namespace fs = std::filesystem;

Dumped run(const std::string& command) {
    Dumped done;
    FILE* pipe = ::popen((command + " 2>&1").c_str(), "r");
    if (pipe == nullptr) return done;
    std::array<char, 4096> part{};
    while (const std::size_t got = std::fread(part.data(), 1, part.size(), pipe))
        done.text.append(part.data(), got);
    const int status = ::pclose(pipe);
    if (WIFEXITED(status)) done.exit_code = WEXITSTATUS(status);
    return done;
}

}  // namespace

std::size_t Dumped::count(const std::string& part) const {
    std::size_t found = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
    return found;
}

std::string kafka_schemas() {
    const auto kafka = harness::KafkaDistribution::find(harness::kDefaultKafka);
    if (!kafka) {
        ADD_FAILURE() << "Kafka's jars cannot be read: " << kafka.error().message;
        return "";
    }
    std::string jars;
    for (const std::string& jar : kafka->jars) jars += " '" + jar + "'";
    const Dumped read = run("python3 '" HW_SOURCE_DIR "/tests/kafka_tools/schemas.py'" + jars);
    if (read.exit_code == 0) return read.text;
    ADD_FAILURE() << "Kafka's jars cannot be read (python3: scripts/dev setup): " << read.text;
    return "";
}

Dumped dump(const std::vector<std::string>& files, const std::string& options) {
    const auto kafka = harness::KafkaDistribution::find(harness::kDefaultKafka);
    if (!kafka) {
        ADD_FAILURE() << "Kafka's tools cannot run: " << kafka.error().message;
        return {};
    }
    std::string list;
    for (const std::string& file : files) list += (list.empty() ? "" : ",") + file;
    return run("'" + kafka->java + "' -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -cp '" + kafka->class_path() +
               "' org.apache.kafka.tools.DumpLogSegments " + options + " --files '" + list + "'");
}

namespace {

/// Seen at the tool with damaged files; ADamagedFileIsFoundOut shows each of them again.
bool complains(const std::string& line) {
    // What the records hold says nothing; of a batch the last word does.
    if (line.starts_with("| ")) return false;
    if (line.starts_with("baseOffset: ")) return line.find("isvalid: true") == std::string::npos;
    // The tool begins every segment with offset -1 in mind, and says this of Kafka's own files too when they
    // do not start at 0.
    if (line.starts_with("  -1 is followed by ")) return false;
    for (const char* sign : {" is followed by ", "Index offset: ", "Index timestamp: ", "Indexed offset: ",
                             " invalid bytes at the end of ", "Snapshot is corrupt", "Exception"}) {
        if (line.find(sign) != std::string::npos) return true;
    }
    return false;
}

}  // namespace

std::string complaints(const Dumped& dumped) {
    std::string found;
    std::istringstream lines(dumped.text);
    for (std::string line; std::getline(lines, line);) {
        if (complains(line)) found += line + "\n";
    }
    if (dumped.exit_code != 0 && found.empty())
        found = "exit code " + std::to_string(dumped.exit_code) + "\n" + dumped.text;
    return found;
}

std::vector<std::string> batches_in(const Dumped& dumped) {
    std::vector<std::string> found;
    std::istringstream lines(dumped.text);
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with("baseOffset: "))
            found.push_back(line.substr(0, line.find(" isTransactional: ")));
    }
    return found;
}

std::vector<std::string> batches_in(const node::PartitionLog& log) {
    std::vector<std::string> told;
    const auto bytes = log.read(log.log_start_offset(), log.log_end_offset(), std::size_t{1} << 30U);
    if (!bytes) {
        ADD_FAILURE() << bytes.error().message;
        return told;
    }
    const auto views = wire::split_batches(*bytes);
    if (!views) {
        ADD_FAILURE() << views.error().message;
        return told;
    }
    for (const wire::BatchView& view : *views) {
        const wire::BatchHeader& header = view.header;
        told.push_back(fmt::format(
            "baseOffset: {} lastOffset: {} count: {} baseSequence: {} lastSequence: {} producerId: {} "
            "producerEpoch: {} partitionLeaderEpoch: {}",
            header.base_offset, header.last_offset(), header.count, header.base_sequence,
            header.base_sequence < 0 ? -1 : header.base_sequence + header.last_offset_delta,
            header.producer_id, header.producer_epoch, header.leader_epoch));
    }
    return told;
}

std::vector<std::string> files_with(const std::string& directory, const std::string& ending) {
    std::vector<std::string> found;
    for (const fs::directory_entry& entry : fs::directory_iterator(directory)) {
        const std::string path = entry.path().string();
        if (path.ends_with(ending)) found.push_back(path);
    }
    std::sort(found.begin(), found.end());
    return found;
}

}  // namespace highwater::test
