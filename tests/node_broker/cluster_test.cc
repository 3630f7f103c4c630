// A cluster of real processes from start to stop: what a client is told through raw frames, across a kill -9
// and a clean stop, and what the traces say afterwards.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <optional>

#include "model/trace.h"
#include "tests/node_broker/cluster_fixture.h"

namespace highwater::test {
namespace {

TEST_F(ClusterTest, AcknowledgedRecordsSurviveAKillAndACleanStop) {
    start_with_topic({{1, 2, 3}});
    EXPECT_EQ(produce(1, {10, 11, 12}), 0);
    EXPECT_EQ(produce(1, {13}), 3);
    EXPECT_EQ(read_all(1), (std::vector<std::uint64_t>{10, 11, 12, 13}));
    // Followers learn the high watermark one fetch later.
    EXPECT_TRUE(eventually(seconds(10), [&] { return read_all(3).size() == 4; }));

    cluster().kill(1);
    EXPECT_EQ(produce(2, {14, 15}), 4);
    EXPECT_EQ(view_of(2, 0).leader, 2);
    cluster().launch(1);
    EXPECT_TRUE(eventually(seconds(20), [&] { return view_of(2, 0).isr.size() == 3; }))
        << cluster().output(1);
    EXPECT_TRUE(eventually(seconds(10), [&] { return read_all(1).size() == 6; }));
    EXPECT_EQ(read_all(1), (std::vector<std::uint64_t>{10, 11, 12, 13, 14, 15}));

    // A clean stop moves leadership first: no session has to run out.
    const harness::ExitStatus status = cluster().terminate(2);
    EXPECT_EQ(status.code, 143) << status.to_string() << "\n" << cluster().output(2);
    EXPECT_EQ(view_of(3, 0).leader, 1);
    EXPECT_EQ(produce(1, {16}), 6);
    cluster().launch(2);
    EXPECT_TRUE(eventually(seconds(20), [&] { return view_of(1, 0).isr.size() == 3; }))
        << cluster().output(2);
    for (const BrokerId id : {1, 2, 3}) {
        EXPECT_TRUE(eventually(seconds(10), [&] { return read_all(id).size() == 7; })) << "broker " << id;
    }

    for (const BrokerId id : {1, 2, 3, ProcessCluster::kController}) {
        EXPECT_EQ(cluster().terminate(id).code, 143) << cluster().output(id);
    }
    std::vector<std::string> traces;
    for (const BrokerId id : {1, 2, 3, ProcessCluster::kController})
        traces.push_back(cluster().directory(id) + "/trace.jsonl");
    const Result<Trace> trace = read_trace(traces);
    ASSERT_TRUE(trace) << trace.error().message;
    const auto count = [&](BrokerId node, TraceKind kind) {
        return std::count_if(trace->events.begin(), trace->events.end(), [&](const TraceEvent& event) {
            return event.node == node && event.kind == kind;
        });
    };
    EXPECT_EQ(count(1, TraceKind::Start), 2);
    EXPECT_EQ(count(1, TraceKind::Stop), 1) << "the first incarnation was killed";
    EXPECT_EQ(count(2, TraceKind::Stop), 2);
    EXPECT_GE(count(2, TraceKind::Ack), 1);
    EXPECT_GE(count(ProcessCluster::kController, TraceKind::Fence), 1);
}

TEST_F(ClusterTest, TheWholeClusterRestarts) {
    start_with_topic({{2, 3, 1}});
    EXPECT_EQ(produce(2, {7, 8}), 0);
    for (const BrokerId id : {1, 2, 3, ProcessCluster::kController}) cluster().kill(id);
    cluster().launch_all();
    // What a broker says at first is what the metadata log said before the kill, so the leader is asked again
    // and again.
    EXPECT_EQ(produce([this] { return view_of(1, 0).leader; }, {9}), 2);
    for (const BrokerId id : {1, 2, 3}) {
        EXPECT_TRUE(eventually(seconds(10), [&] { return read_all(id).size() == 3; })) << "broker " << id;
    }
}

TEST_F(ClusterTest, HostileBytesCostOnlyTheirConnection) {
    start_with_topic({{1, 2, 3}});
    const workloads::SocketAddress address{cluster().plan().real_address(1), nemesis::kClientPort};
    const Instant deadline = monotonic_now() + seconds(20);
    const std::vector<Bytes> hostile = {
        {}, {1}, {0, 99, 0, 0, 0, 0, 0, 1, 0, 0}, Bytes(100, 0xFF), {0, 1, 0, 11, 0, 0, 0, 1, 0xFF, 0xFF}};
    for (const Bytes& frame : hostile) {
        workloads::Socket socket;
        ASSERT_FALSE(socket.connect(address, deadline));
        ASSERT_FALSE(socket.send_frame(frame, deadline));
        EXPECT_FALSE(socket.receive_frame(deadline)) << to_hex(frame);
    }
    EXPECT_EQ(produce(1, {1}), 0);
}

TEST_F(ClusterTest, AFrameThatIsTooLongIsRefusedAtItsLength) {
    cluster().launch_all();
    ASSERT_TRUE(eventually(seconds(20), [&] { return brokers_known_to(1) == 3; })) << cluster().output(1);
    const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ASSERT_GE(fd, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(nemesis::kClientPort);
    ASSERT_EQ(::inet_pton(AF_INET, cluster().plan().real_address(1).c_str(), &address.sin_addr), 1);
    ASSERT_EQ(::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
    const Bytes prefix = {0x7F, 0xFF, 0xFF, 0xFF};
    ASSERT_EQ(::send(fd, prefix.data(), prefix.size(), 0), 4);
    std::uint8_t byte = 0;
    EXPECT_LE(::recv(fd, &byte, 1, 0), 0) << "the broker waits for 2 GiB";
    ::close(fd);
    EXPECT_NE(cluster().output(1).find("a frame of 2147483647 bytes"), std::string::npos)
        << cluster().output(1);
}

}  // namespace
}  // namespace highwater::test
