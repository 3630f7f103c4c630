// What the writer and the test that kills it agree on: the log's layout and the two files beside the writer's
// directory.
#pragma once

#include "node/log/log_settings.h"

namespace highwater::test {

/// Segments and index entries small enough that a life of some hundred appends meets every kind of step.
inline const node::LogSettings kLifeSettings{.segment_bytes = 20000, .index_interval_bytes = 500};
inline constexpr const char* kRecoveryPoints = "recovery-point-offset-checkpoint";

}  // namespace highwater::test
