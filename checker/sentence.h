// Anomalies told to people: one sentence that needs no file beside it, and the lines around it.
#pragma once

#include <string>
#include <vector>

#include "checker/context.h"

namespace highwater::checker {

/// Seconds since the first operation of the history: "12.31 s".
std::string time_text(const Context& context, Instant at);
/// "{1,2}".
std::string ids_text(const std::vector<BrokerId>& ids);
/// "offset 1042 (p3-977)"; without a value "offset 1042"; offset unknown: "p3-977".
std::string record_text(Offset offset, Value value);
/// "was acked by broker 2 in epoch 5 at 12.31 s with ISR {1,2}" or "was read by c1 at 12.31 s", from the
/// trace line if there is one.
std::string seen_text(const Context& context, std::int32_t partition, Offset offset, std::size_t op);
/// How the record got lost: the election, then the truncations that cut it, else what the final log has
/// instead. Parts joined by "; ", without a leading one. `since`: truncations before are another story.
std::string loss_text(const Context& context, std::int32_t partition, Offset offset, const LossCause& cause,
                      Instant since);
/// "offset … was acked …; broker 1 was elected …; broker 2 truncated …".
std::string loss_story(const Context& context, std::int32_t partition, const Place& place,
                       const LossCause& cause);
/// The final log three offsets around, the epoch tables that disagree, and the faults from `since` on.
std::vector<std::string> surroundings(const Context& context, std::int32_t partition, Offset offset,
                                      const LossCause& cause, Instant since);

}  // namespace highwater::checker
