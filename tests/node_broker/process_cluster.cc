#include "tests/node_broker/process_cluster.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>
#include <thread>

#include "base/assert.h"

namespace highwater::test {
namespace {

constexpr Duration kRequestTimeout = seconds(15);

nemesis::SlotClaim claim_slot() {
    auto claim = nemesis::SlotClaim::claim();
    HW_ASSERT(claim, "{}", claim.error().message);
    return std::move(*claim);
}

}  // namespace

bool eventually(Duration limit, const std::function<bool()>& condition) {
    const Instant deadline = monotonic_now() + limit;
    while (!condition()) {
        if (monotonic_now() > deadline) return false;
        std::this_thread::sleep_for(milliseconds(10));
    }
    return true;
}

std::int64_t resident_bytes(pid_t pid) {
    const std::string status = read_file(fmt::format("/proc/{}/status", pid));
    const std::size_t at = status.find("VmRSS:");
    HW_ASSERT(at != std::string::npos, "no VmRSS of {}", pid);
    return std::stoll(status.substr(at + 6)) * 1024;
}

std::string read_file(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
}

void write_file(const std::string& path, const std::string& content) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << content;
}

TemporaryDirectory::TemporaryDirectory() {
    std::string name = (std::filesystem::temp_directory_path() / "highwater-test-XXXXXX").string();
    HW_ASSERT(::mkdtemp(name.data()) != nullptr, "{}", name);
    path_ = name;
}

TemporaryDirectory::~TemporaryDirectory() {
    if (testing::Test::HasFailure()) {
        std::cerr << "kept: " << path_ << "\n";
        return;
    }
    std::error_code ignored;  // what is left in /tmp hurts nobody
    std::filesystem::remove_all(path_, ignored);
}

Result<Bytes> WireClient::exchange(BytesView frame) {
    const Instant deadline = monotonic_now() + kRequestTimeout;
    const auto lost = [&](workloads::SocketFailure why) {
        socket_.close();
        return failure(fmt::format("{}: {}", address_.to_string(), workloads::socket_failure_name(why)));
    };
    if (!socket_.connected()) {
        if (const auto why = socket_.connect(address_, deadline)) return lost(*why);
    }
    if (const auto why = socket_.send_frame(frame, deadline)) return lost(*why);
    auto answer = socket_.receive_frame(deadline);
    if (!answer) return lost(answer.error());
    return std::move(*answer);
}

ProcessCluster::ProcessCluster(const std::string& extra_properties) : claim_(claim_slot()) {
    for (const BrokerId id : {kController, 1, 2, 3}) {
        std::filesystem::create_directories(directory(id));
        write_files(id, extra_properties);
    }
}

std::string ProcessCluster::directory(BrokerId id) const { return fmt::format("{}/{}", root_.path(), id); }
std::string ProcessCluster::output(BrokerId id) const { return read_file(directory(id) + "/stdout.log"); }

WireClient ProcessCluster::client(BrokerId id) const {
    return WireClient({plan().real_address(id), nemesis::kClientPort});
}

void ProcessCluster::write_files(BrokerId id, const std::string& extra_properties) const {
    std::string hosts;
    for (const BrokerId other : {kController, 1, 2, 3}) {
        hosts += fmt::format("{} {}\n", plan().real_address(other), nemesis::AddressPlan::name(other));
    }
    write_file(directory(id) + "/hosts", hosts);
    const std::string address = plan().real_address(id);
    std::string text = fmt::format(
        "node.id={}\nlog.dirs={}/data\nhighwater.hosts.file={}/hosts\nhighwater.trace.file={}/trace.jsonl\n"
        "highwater.cluster.id=MkU3OEVBNTcwNTJENDM2Qk\ncontroller.quorum.voters=100@c100:{}\n"
        "controller.listener.names=CONTROLLER\nbroker.session.timeout.ms=2000\nbroker.heartbeat.interval.ms="
        "200\n"
        "replica.lag.time.max.ms=3000\nreplica.fetch.backoff.ms=100\n",
        id, directory(id), directory(id), directory(id), nemesis::kControllerPort);
    if (id == kController) {
        text += fmt::format("process.roles=controller\nlisteners=CONTROLLER://{}:{}\n", address,
                            nemesis::kControllerPort);
    } else {
        text += fmt::format(
            "process.roles=broker\nlisteners=INTERNAL://{0}:{1},CLIENT://{0}:{2},DIRECT://{0}:{3}\n"
            "advertised.listeners=INTERNAL://b{4}:{1},CLIENT://b{4}:{2},DIRECT://{0}:{3}\n"
            "inter.broker.listener.name=INTERNAL\n",
            address, nemesis::kInternalPort, nemesis::kClientPort, nemesis::kDirectPort, id);
    }
    write_file(directory(id) + "/server.properties", text + extra_properties);
}

void ProcessCluster::launch(BrokerId id) {
    harness::ChildOptions options;
    options.program = HW_BIN_DIR "/highwater-node";
    options.args = {directory(id) + "/server.properties"};
    options.output_file = directory(id) + "/stdout.log";
    auto child = harness::Child::launch(options);
    ASSERT_TRUE(child) << child.error().message;
    children_[id] = std::make_unique<harness::Child>(std::move(*child));
}

void ProcessCluster::launch_all() {
    for (const BrokerId id : {kController, 1, 2, 3}) launch(id);
}

harness::ExitStatus ProcessCluster::terminate(BrokerId id) {
    const auto child = std::move(children_.at(id));
    children_.erase(id);
    EXPECT_EQ(::kill(child->pid(), SIGTERM), 0);
    const auto status = child->wait_exit(monotonic_now() + seconds(20));
    EXPECT_TRUE(status) << id << " still runs after SIGTERM\n" << output(id);
    return status.value_or(harness::ExitStatus{});
}

void ProcessCluster::signal(BrokerId id, int number) {
    EXPECT_EQ(::kill(children_.at(id)->pid(), number), 0);
}

void ProcessCluster::kill(BrokerId id) {
    EXPECT_TRUE(children_.at(id)->kill(monotonic_now() + seconds(10)));
    children_.erase(id);
}

}  // namespace highwater::test
