#include "tests/clients/clients_fixture.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdlib>
#include <filesystem>

namespace highwater::test {
namespace {

constexpr const char* kInstall = "install it with: scripts/dev setup";

/// scripts/dev installs the clients here.
std::string python_path() {
    const char* cache = std::getenv("XDG_CACHE_HOME");
    const char* home = std::getenv("HOME");
    const std::string root =
        cache != nullptr && *cache != '\0' ? cache : fmt::format("{}/.cache", home != nullptr ? home : "");
    return root + "/highwater/confluent-kafka-" HW_CONFLUENT_KAFKA "/bin/python";
}

}  // namespace

void ClientsTest::SetUp() {
    cluster().launch_all();
    for (const BrokerId id : {1, 2, 3}) {
        ASSERT_TRUE(eventually(seconds(20), [&] { return brokers_known_to(id) == 3; }))
            << cluster().output(id);
    }
}

std::string ClientsTest::bootstrap() {
    std::vector<std::string> addresses;
    for (const BrokerId id : {1, 2, 3})
        addresses.push_back(fmt::format("{}:{}", cluster().plan().real_address(id), nemesis::kDirectPort));
    return fmt::format("{}", fmt::join(addresses, ","));
}

ClientsTest::Outcome ClientsTest::run(const std::string& program, const std::vector<std::string>& args,
                                      Duration limit) {
    harness::ChildOptions options;
    options.program = program;
    options.args = args;
    options.output_file = files_.path() + "/output";
    write_file(options.output_file, "");
    auto child = harness::Child::launch(options);
    EXPECT_TRUE(child) << child.error().message << "; " << kInstall;
    if (!child) return {};
    const auto status = child->wait_exit(monotonic_now() + limit);
    const std::string output = read_file(options.output_file);
    EXPECT_TRUE(status) << program << " still runs: " << output;
    return {status ? status->code : -1, output};
}

ClientsTest::Outcome ClientsTest::python(const std::string& script, const std::vector<std::string>& args,
                                         Duration limit) {
    std::vector<std::string> all = {HW_SOURCE_DIR "/tests/clients/" + script};
    all.insert(all.end(), args.begin(), args.end());
    EXPECT_TRUE(std::filesystem::exists(python_path())) << python_path() << " is missing; " << kInstall;
    return run(python_path(), all, limit);
}

Result<harness::Child> ClientsTest::start_python(const std::string& script, std::vector<std::string> args,
                                                 const std::string& output_file) {
    args.insert(args.begin(), HW_SOURCE_DIR "/tests/clients/" + script);
    harness::ChildOptions options;
    options.program = python_path();
    options.args = std::move(args);
    options.output_file = output_file;
    EXPECT_TRUE(std::filesystem::exists(options.program)) << options.program << " is missing; " << kInstall;
    return harness::Child::launch(options);
}

void ClientsTest::create(const std::string& topic,
                         const std::vector<std::pair<std::string, std::string>>& configs) {
    const auto created = cluster().client(1).call<wire::CreateTopicsResponse>(
        create_topic_request(topic, {{1, 2, 3}}, configs), kCreateTopicsVersion);
    ASSERT_TRUE(created) << created.error().message;
    ASSERT_EQ(created->topics.at(0).error_code, wire::ErrorCode::None);
}

}  // namespace highwater::test
