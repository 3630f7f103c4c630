#include "harness/node_cluster.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/rng.h"

namespace highwater::harness {
namespace {

const std::string kElrVersion = "eligible.leader.replicas.version";
/// Levels that our node knows.
const std::set<std::string> kElrLevels = {"0", "1"};

}  // namespace

NodeCluster::NodeCluster(const Scenario& scenario, ClusterOptions options, std::string program)
    : ProcessCluster(scenario, std::move(options)), program_(std::move(program)) {
    cluster_id_ = Rng(this->options().seed).uuid().to_string();
}

NodeCluster::~NodeCluster() { stop(); }

Status NodeCluster::prepare() {
    const auto& properties = scenario().cluster.properties;
    if (const auto elr = properties.find(kElrVersion);
        elr != properties.end() && !kElrLevels.contains(elr->second))
        return failure(fmt::format("{}: our node knows 0 and 1, not {}", kElrVersion, elr->second));
    if (members().controllers.size() > 1)
        return failure("cluster.controllers: our node has one controller, not a quorum of them");
    return {};
}

std::string NodeCluster::properties(BrokerId id, std::int32_t incarnation) const {
    std::string text = fmt::format(
        "node.id={}\ncontroller.quorum.voters={}\nlog.dirs={}\nhighwater.cluster.id={}\n"
        "highwater.hosts.file={}/hosts\nhighwater.trace.file={}/trace-{}.jsonl\n"
        "highwater.incarnation={}\n",
        id, quorum_voters(), data_dir(id), cluster_id_, node_dir(id), node_dir(id), incarnation, incarnation);
    text += listener_properties(id);
    if (!options().bugs.empty()) text += fmt::format("highwater.bugs={}\n", options().bugs);
    for (const auto& [key, value] : scenario().cluster.properties) {
        // A feature of the cluster: our controller's own key, read when it makes the cluster.
        text += fmt::format("{}{}={}\n", key == kElrVersion ? "highwater." : "", key, value);
    }
    return text;
}

Result<ProcessCluster::Program> NodeCluster::program_of(BrokerId id, std::int32_t incarnation) {
    if (Status written = write_hosts(id); !written) return tl::make_unexpected(written.error());
    const std::string file = node_dir(id) + "/server.properties";
    if (Status written = write_file(file, properties(id, incarnation)); !written)
        return tl::make_unexpected(written.error());
    trace_files_.push_back(fmt::format("{}/trace-{}.jsonl", node_dir(id), incarnation));
    return Program{program_, {file}, file};
}

std::vector<std::string> NodeCluster::trace_files(BrokerId id) const {
    const std::string prefix = node_dir(id) + "/";
    std::vector<std::string> files;
    std::copy_if(trace_files_.begin(), trace_files_.end(), std::back_inserter(files),
                 [&prefix](const std::string& file) { return file.starts_with(prefix); });
    return files;
}

}  // namespace highwater::harness
