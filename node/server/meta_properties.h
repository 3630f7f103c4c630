// meta.properties: whose data directory this is. Written at the first start, checked at every later one.
#pragma once

#include <string>

#include "base/rng.h"
#include "base/uuid.h"
#include "node/log/storage.h"
#include "node/server/config.h"

namespace highwater::node {

struct MetaProperties {
    Uuid cluster_id;
    BrokerId node_id = kNoBroker;
    Uuid directory_id;
};

/// Reads it, or creates it with a new directory id. The cluster id comes from the configuration, or from the
/// file alone where the configuration has none. Errors: another cluster.id or node.id than the
/// configuration's, no cluster id anywhere, malformed, IO.
Result<MetaProperties> load_meta_properties(Storage& storage, const NodeConfig& config, Rng& rng);

}  // namespace highwater::node
