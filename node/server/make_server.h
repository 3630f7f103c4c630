// Makes the server that a configuration asks for; the rules of each are in the files that broker_state.h and
// controller_server.cc name.
#pragma once

#include <memory>

#include "base/rng.h"
#include "node/log/storage.h"
#include "node/server/config.h"
#include "node/server/server.h"

namespace highwater::node {

/// Opens what the data directory holds. `storage` outlives the server. Errors: IO, another node's directory,
/// a malformed checkpoint.
Result<std::unique_ptr<Server>> make_broker_server(Instant now, std::int64_t wall_ms, NodeConfig config,
                                                   Storage& storage, Rng rng);
/// The same for a controller.
Result<std::unique_ptr<Server>> make_controller_server(Instant now, std::int64_t wall_ms, NodeConfig config,
                                                       Storage& storage, Rng rng);
/// Whichever process.roles says.
Result<std::unique_ptr<Server>> make_server(Instant now, std::int64_t wall_ms, NodeConfig config,
                                            Storage& storage, Rng rng);

}  // namespace highwater::node
