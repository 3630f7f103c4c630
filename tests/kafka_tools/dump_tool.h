// Kafka's own DumpLogSegments, from the jars that `scripts/dev kafka` fetches, as an oracle for the files we
// write.
#pragma once

#include <string>
#include <vector>

#include "node/log/partition_log.h"

namespace highwater::test {

struct Dumped {
    int exit_code = -1;
    /// Both outputs of the tool.
    std::string text;

    [[nodiscard]] std::size_t count(const std::string& part) const;
};

/// Runs the tool over `files` with further `options`. A failure of the test, naming the command that fetches
/// what is missing, if there is no Java or no Kafka.
Dumped dump(const std::vector<std::string>& files, const std::string& options = "");

/// The schemas of all messages in Kafka's jars: a JSON object of their texts by file name. "" after a failure
/// of the test, as above.
std::string kafka_schemas();

/// What the tool prints when it finds something wrong; "" if it found nothing.
std::string complaints(const Dumped& dumped);

/// "baseOffset: … partitionLeaderEpoch: …" of each batch, as the tool prints it, and as our log has it.
std::vector<std::string> batches_in(const Dumped& dumped);
std::vector<std::string> batches_in(const node::PartitionLog& log);

/// Files of `directory` with this ending, whole paths, sorted.
std::vector<std::string> files_with(const std::string& directory, const std::string& ending);

}  // namespace highwater::test
