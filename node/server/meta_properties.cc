#include "node/server/meta_properties.h"

#include <fmt/format.h>

namespace highwater::node {
namespace {

constexpr const char* kFile = "meta.properties";

}  // namespace

Result<MetaProperties> load_meta_properties(Storage& storage, const NodeConfig& config, Rng& rng) {
    auto bytes = storage.read_file(kFile);
    if (!bytes) return tl::make_unexpected(bytes.error());
    MetaProperties meta{config.cluster_id, config.node_id, {}};
    if (!bytes->has_value()) {
        if (config.cluster_id.is_zero()) {
            return failure(
                fmt::format("there is no {} yet, so the key highwater.cluster.id is needed", kFile));
        }
        meta.directory_id = rng.uuid();
        const std::string text =
            fmt::format("version=1\ncluster.id={}\nnode.id={}\ndirectory.id={}\n",
                        meta.cluster_id.to_string(), meta.node_id, meta.directory_id.to_string());
        if (Status written = storage.replace_file(kFile, as_bytes_view(text), Durability::Flushed);
            !written) {
            return tl::make_unexpected(written.error());
        }
        return meta;
    }
    const auto properties = parse_properties(as_text(**bytes), kFile);
    if (!properties) return tl::make_unexpected(properties.error());
    for (const char* key : {"version", "cluster.id", "node.id", "directory.id"}) {
        if (!properties->contains(key)) return failure(fmt::format("{}: {} is missing", kFile, key));
    }
    const auto expect = [&](const char* key, const std::string& value) -> Status {
        const Property& found = properties->at(key);
        if (found.value == value) return {};
        return failure(
            fmt::format("{}: {} is {}, the configuration says {}", found.origin, key, found.value, value));
    };
    if (Status same = expect("version", "1"); !same) return tl::make_unexpected(same.error());
    const auto cluster = Uuid::parse(properties->at("cluster.id").value);
    if (!cluster) return failure(properties->at("cluster.id").origin, cluster.error());
    meta.cluster_id = *cluster;
    if (!config.cluster_id.is_zero()) {
        if (Status same = expect("cluster.id", config.cluster_id.to_string()); !same)
            return tl::make_unexpected(same.error());
    }
    if (Status same = expect("node.id", std::to_string(config.node_id)); !same)
        return tl::make_unexpected(same.error());
    const auto directory = Uuid::parse(properties->at("directory.id").value);
    if (!directory) return failure(properties->at("directory.id").origin, directory.error());
    meta.directory_id = *directory;
    return meta;
}

}  // namespace highwater::node
