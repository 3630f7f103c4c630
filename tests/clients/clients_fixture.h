// Real client programs, unchanged, against three brokers; they find the cluster by its DIRECT listeners,
// whose addresses need no names.
#pragma once

#include <string>
#include <vector>

#include "tests/node_broker/cluster_fixture.h"

namespace highwater::test {

class ClientsTest : public ClusterTest {
protected:
    struct Outcome {
        int code = -1;
        std::string output;
    };

    /// With every broker known to every broker.
    void SetUp() override;

    [[nodiscard]] std::string bootstrap();
    /// A program of PATH, to its end.
    Outcome run(const std::string& program, const std::vector<std::string>& args,
                Duration limit = seconds(90));
    /// `script` of tests/clients, to its end, with the Python that has confluent-kafka.
    Outcome python(const std::string& script, const std::vector<std::string>& args,
                   Duration limit = seconds(90));
    Result<harness::Child> start_python(const std::string& script, std::vector<std::string> args,
                                        const std::string& output_file);
    void create(const std::string& topic,
                const std::vector<std::pair<std::string, std::string>>& configs = {});

    TemporaryDirectory files_;
};

}  // namespace highwater::test
