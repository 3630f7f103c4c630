#include "harness/sut.h"

#include <fmt/format.h>

#include "harness/kafka/cluster.h"
#include "harness/node_cluster.h"
#include "harness/program_paths.h"

namespace highwater::harness {

Result<Sut> Sut::parse(const std::string& text) {
    Sut sut;
    if (text == "node") return sut;
    constexpr std::string_view kKafka = "kafka";
    const bool kafka =
        text.starts_with(kKafka) && (text.size() == kKafka.size() || text[kKafka.size()] == ':');
    if (!kafka) return failure(fmt::format("--sut {}: neither node nor kafka[:VERSION|:/PATH]", text));
    auto found = KafkaDistribution::find(text.size() == kKafka.size() ? kDefaultKafka
                                                                      : text.substr(kKafka.size() + 1));
    if (!found) return failure(fmt::format("--sut {}", text), found.error());
    sut.name = "kafka:" + found->version.text;
    sut.kafka = std::move(*found);
    return sut;
}

Result<std::vector<Sut>> parse_suts(const std::string& text) {
    std::vector<Sut> suts;
    std::size_t begin = 0;
    while (begin <= text.size()) {
        const std::size_t comma = std::min(text.find(',', begin), text.size());
        auto sut = Sut::parse(text.substr(begin, comma - begin));
        if (!sut) return tl::make_unexpected(sut.error());
        suts.push_back(std::move(*sut));
        begin = comma + 1;
    }
    return suts;
}

std::unique_ptr<ProcessCluster> make_cluster(const Sut& sut, const Scenario& scenario, ClusterOptions options) {
    if (sut.kafka) return std::make_unique<KafkaCluster>(scenario, std::move(options), *sut.kafka);
    return std::make_unique<NodeCluster>(scenario, std::move(options), node_program());
}

}  // namespace highwater::harness
