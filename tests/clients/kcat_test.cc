// kcat sees what Kafka would show it. No group APIs.
#include <gtest/gtest.h>

#include "tests/clients/clients_fixture.h"

namespace highwater::test {
namespace {

using KcatTest = ClientsTest;

TEST_F(KcatTest, ListsTheCluster) {
    create("listed");
    ASSERT_TRUE(eventually(seconds(20), [&] {
        return run("kcat", {"-b", bootstrap(), "-L", "-J", "-t", "listed"}).output.find("\"leader\":1") !=
               std::string::npos;
    }));
    const Outcome list = run("kcat", {"-b", bootstrap(), "-L", "-t", "listed"});
    EXPECT_EQ(list.code, 0) << list.output;
    EXPECT_NE(list.output.find("3 brokers"), std::string::npos) << list.output;
    EXPECT_NE(list.output.find("partition 0, leader 1, replicas: 1,2,3"), std::string::npos) << list.output;
}

TEST_F(KcatTest, ProducesAndConsumes) {
    create("lines");
    const std::string input = files_.path() + "/lines";
    std::string text;
    for (int i = 0; i < 1000; ++i) text += "line " + std::to_string(i) + "\n";
    write_file(input, text);
    const Outcome produced =
        run("kcat", {"-b", bootstrap(), "-t", "lines", "-p", "0", "-P", "-X", "acks=all", "-l", input});
    EXPECT_EQ(produced.code, 0) << produced.output;
    const Outcome consumed =
        run("kcat", {"-b", bootstrap(), "-t", "lines", "-p", "0", "-C", "-o", "beginning", "-e", "-q"});
    EXPECT_EQ(consumed.code, 0) << consumed.output;
    EXPECT_EQ(consumed.output, text);
    const Outcome watermark = run("kcat", {"-b", bootstrap(), "-Q", "-t", "lines:0:-1"});
    EXPECT_NE(watermark.output.find("lines [0] offset 1000"), std::string::npos) << watermark.output;
}

}  // namespace
}  // namespace highwater::test
