#include "nemesis/scenario_check.h"

#include <fmt/format.h>

#include "nemesis/rule_set.h"

namespace highwater::nemesis {

Status check_apis(const Scenario& scenario) {
    for (const FaultSpec& fault : scenario.faults) {
        std::vector<std::string> apis{fault.api};
        if (fault.until) {
            for (std::string& api : fault.until->apis()) apis.push_back(std::move(api));
        }
        for (const std::string& api : apis) {
            if (const auto known = parse_api(api); !known)
                return failure(fmt::format("fault '{}'", fault.id), known.error());
        }
    }
    return {};
}

}  // namespace highwater::nemesis
