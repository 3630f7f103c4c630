#include "tests/clients/clients_fixture.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace highwater::test {
namespace {

/// Becomes the Python that has confluent-kafka; exit code 69 if it is not installed.
constexpr const char* kClients = HW_SOURCE_DIR "/scripts/conformance.sh";

std::vector<std::string> arguments(const std::string& script, std::vector<std::string> args) {
    args.insert(args.begin(), {"python", HW_SOURCE_DIR "/tests/clients/" + script});
    return args;
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
    EXPECT_TRUE(child) << child.error().message << "; scripts/dev setup installs what tests need";
    if (!child) return {};
    const auto status = child->wait_exit(monotonic_now() + limit);
    const std::string output = read_file(options.output_file);
    EXPECT_TRUE(status) << program << " still runs: " << output;
    return {status ? status->code : -1, output};
}

ClientsTest::Outcome ClientsTest::python(const std::string& script, const std::vector<std::string>& args,
                                         Duration limit) {
    return run(kClients, arguments(script, args), limit);
}

Result<harness::Child> ClientsTest::start_python(const std::string& script, std::vector<std::string> args,
                                                 const std::string& output_file) {
    harness::ChildOptions options;
    options.program = kClients;
    options.args = arguments(script, std::move(args));
    options.output_file = output_file;
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
