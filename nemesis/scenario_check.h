// What a scenario says about Kafka's protocol and the model cannot know: names of APIs.
#pragma once

#include "base/result.h"
#include "model/scenario.h"

namespace highwater::nemesis {

/// Error: an `api`, or one in passed(…) or held(…), that nobody knows, with the fault's id.
Status check_apis(const Scenario& scenario);

}  // namespace highwater::nemesis
