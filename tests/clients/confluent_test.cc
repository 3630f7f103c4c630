// confluent-kafka sees what Kafka would show it. No group APIs.
#include <gtest/gtest.h>

#include "tests/clients/clients_fixture.h"

namespace highwater::test {
namespace {

class ConfluentKafkaTest : public ClientsTest {
protected:
    void scenario(const std::string& name) {
        const Outcome outcome = python("conformance.py", {name, bootstrap()});
        EXPECT_EQ(outcome.code, 0) << outcome.output << cluster().output(1);
        for (const BrokerId id : {1, 2, 3}) {
            // A client whose request was not understood is closed with a warning.
            EXPECT_EQ(cluster().output(id).find("WARN closing connection"), std::string::npos)
                << cluster().output(id);
        }
    }
};

TEST_F(ConfluentKafkaTest, Metadata) { scenario("metadata"); }
TEST_F(ConfluentKafkaTest, Acks) { scenario("acks"); }
TEST_F(ConfluentKafkaTest, Codecs) { scenario("codecs"); }
TEST_F(ConfluentKafkaTest, Watermarks) { scenario("watermarks"); }
TEST_F(ConfluentKafkaTest, KeysAndHeaders) { scenario("keys_and_headers"); }
TEST_F(ConfluentKafkaTest, Idempotent) { scenario("idempotent"); }
TEST_F(ConfluentKafkaTest, Topics) { scenario("topics"); }
TEST_F(ConfluentKafkaTest, Configs) { scenario("configs"); }

}  // namespace
}  // namespace highwater::test
