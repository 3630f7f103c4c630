// An idempotent producer (librdkafka) writes on while leaders are killed: nothing it was told is lost, and
// nothing is there twice. HIGHWATER_NIGHTLY=1: 200 kills; otherwise five.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "tests/clients/clients_fixture.h"

namespace highwater::test {
namespace {

class OnceTest : public ClientsTest {
protected:
    static constexpr const char* kNumbers = "numbers";

    [[nodiscard]] std::size_t acknowledged() const {
        const std::string text = read_file(acked_);
        return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
    }
    PartitionView view() {
        for (const BrokerId id : {1, 2, 3}) {
            if (!cluster().running(id)) continue;
            const auto answer = cluster().client(id).call<wire::MetadataResponse>(metadata_request(kNumbers),
                                                                                  kMetadataVersion);
            if (!answer || answer->topics.empty() || answer->topics[0].partitions.empty()) continue;
            const auto& found = answer->topics[0].partitions[0];
            return {found.error_code, found.leader_id, found.isr_nodes};
        }
        return {};
    }
    /// Twenty more acknowledgements.
    bool goes_on() {
        const std::size_t before = acknowledged();
        return eventually(seconds(60), [&] { return acknowledged() >= before + 20; });
    }

    const std::string acked_ = files_.path() + "/acked";
};

TEST_F(OnceTest, EachAcknowledgedValueIsThereOnceThroughKillsOfTheLeader) {
    const int kills = std::getenv("HIGHWATER_NIGHTLY") != nullptr ? 200 : 5;
    create(kNumbers, {{"min.insync.replicas", "2"}});
    auto producer =
        start_python("once.py", {"produce", bootstrap(), kNumbers, acked_}, files_.path() + "/producer");
    ASSERT_TRUE(producer) << producer.error().message;
    for (int i = 0; i < kills && !HasFailure(); ++i) {
        ASSERT_TRUE(goes_on()) << "kill " << i << ": " << read_file(files_.path() + "/producer");
        PartitionView at_rest;
        ASSERT_TRUE(eventually(seconds(60),
                               [&] {
                                   at_rest = view();
                                   return at_rest.leader > 0 && at_rest.isr.size() == 3;
                               }))
            << "kill " << i;
        cluster().kill(at_rest.leader);
        // In turn before and after the others have elected: what comes back early must not lead with an old
        // log.
        if (i % 2 == 0) {
            ASSERT_TRUE(goes_on()) << "kill " << i << ": " << read_file(files_.path() + "/producer");
        }
        cluster().launch(at_rest.leader);
    }
    ASSERT_TRUE(goes_on());
    write_file(acked_ + ".stop", "");
    const auto status = producer->wait_exit(monotonic_now() + seconds(150));
    ASSERT_TRUE(status);
    EXPECT_EQ(status->code, 0) << read_file(files_.path() + "/producer");
    const Outcome verified = python("once.py", {"verify", bootstrap(), kNumbers, acked_}, seconds(300));
    EXPECT_EQ(verified.code, 0) << verified.output;
    fmt::print("{} kills: {}", kills, verified.output);
}

}  // namespace
}  // namespace highwater::test
