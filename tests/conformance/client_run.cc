#include "tests/conformance/client_run.h"

#include <fmt/format.h>

#include <sstream>

namespace highwater::test {
namespace {

constexpr Duration kPatience = seconds(240);
constexpr Duration kPoll = milliseconds(50);

std::vector<std::string> fields_of(const std::string& line) {
    std::vector<std::string> fields;
    std::istringstream in(line);
    for (std::string field; std::getline(in, field, '\t');) fields.push_back(field);
    return fields;
}

/// The whole lines of the file that come after `seen`, which is moved on.
std::vector<std::string> new_lines(const std::string& path, std::size_t& seen) {
    const std::string text = read_file(path);
    std::vector<std::string> lines;
    for (std::size_t end = text.find('\n', seen); end != std::string::npos; end = text.find('\n', seen)) {
        lines.push_back(text.substr(seen, end - seen));
        seen = end + 1;
    }
    return lines;
}

void take(const std::string& line, ClientRun& run, const std::function<void(const std::string&)>& kill) {
    const std::vector<std::string> fields = fields_of(line);
    if (fields.size() == 4 && fields[0] == "op") {
        run.operations.push_back({fields[1], std::stoll(fields[2]), fields[3]});
    } else if (fields.size() == 2 && fields[0] == "kill" && kill) {
        kill(fields[1]);
    }
}

}  // namespace

const std::vector<std::string>& client_names() {
    static const std::vector<std::string> names = {"kcat",          "confluent-kafka", "kafka-python",
                                                   "aiokafka",      "kafkajs",         "franz-go",
                                                   "kafka-clients", "kafka-tools"};
    return names;
}

ClientRun run_client(const std::string& client, const System& system, const std::string& prefix,
                     const std::string& operations, const std::function<void(const std::string&)>& kill) {
    TemporaryDirectory directory;
    harness::ChildOptions options;
    options.program = HW_SOURCE_DIR "/scripts/conformance.sh";
    options.args = {client, system.bootstrap(), prefix};
    if (!operations.empty()) options.args.push_back(operations);
    options.env["CONFORMANCE_DATA_DIRS"] = system.data_directories();
    options.output_file = directory.path() + "/output";
    write_file(options.output_file, "");
    ClientRun run;
    auto child = harness::Child::launch(options);
    if (!child) {
        run.output = child.error().message;
        return run;
    }
    const Instant deadline = monotonic_now() + kPatience;
    std::size_t seen = 0;
    std::optional<harness::ExitStatus> status;
    while (!status && monotonic_now() < deadline) {
        status = child->wait_exit(monotonic_now() + kPoll);
        for (const std::string& line : new_lines(options.output_file, seen)) take(line, run, kill);
    }
    run.output = read_file(options.output_file);
    if (status) {
        run.exit_code = status->code;
    } else {
        run.output += fmt::format("\n{} still ran after {} s\n", client, kPatience / seconds(1));
    }
    return run;
}

}  // namespace highwater::test
