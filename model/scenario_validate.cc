// What one table of a scenario cannot know: ids that exist, faults that refer to earlier ones.
#include "model/scenario_validate.h"

#include <fmt/format.h>

#include <set>

namespace highwater {
namespace {

class Validator {
public:
    Validator(const Scenario& scenario, const std::string& file) : scenario_(scenario), file_(file) {}

    Status run() const {
        for (const auto& replicas : scenario_.topic.assignment) {
            std::set<BrokerId> seen;
            for (const BrokerId id : replicas) {
                if (const Status known = check_broker("topic.assignment", id); !known) return known;
                if (!seen.insert(id).second) {
                    return failure(fmt::format("{}: topic.assignment names broker {} twice", file_, id));
                }
            }
        }
        std::set<std::string> ids;
        for (const FaultSpec& fault : scenario_.faults) {
            if (const Status good = validate_fault(fault, ids); !good) return good;
            if (!ids.insert(fault.id).second) {
                return failure(fmt::format("{}: fault.id '{}' is used twice", file_, fault.id));
            }
        }
        for (const WorkloadSpec& workload : scenario_.workloads) {
            for (const WorkloadPhase& phase : workload.phases) {
                if (!phase.after.empty() && !ids.contains(phase.after))
                    return failure(fmt::format("{}: workload.phase.after refers to '{}', which is no fault",
                                               file_, phase.after));
            }
        }
        return {};
    }

private:
    Status check_broker(std::string_view key, BrokerId id) const {
        const bool broker = id >= 1 && id <= scenario_.cluster.brokers;
        const bool controller = id >= 100 && id < 100 + scenario_.cluster.controllers;
        if (broker || (controller && key != "topic.assignment")) return {};
        return failure(fmt::format("{}: {} names id {}, but the cluster has brokers 1 to {}{}", file_, key,
                                   id, scenario_.cluster.brokers,
                                   key == "topic.assignment" ? "" : " and controller 100"));
    }
    Status check_role(const FaultSpec& fault, const Role& role, const std::set<std::string>& earlier) const {
        if (role.kind == Role::Kind::Several) {
            for (const Role& member : role.members) {
                if (const Status good = check_role(fault, member, earlier); !good) return good;
            }
            return {};
        }
        const std::string key = fmt::format("fault '{}': {}", fault.id,
                                            fault.between ? "between"
                                            : fault.path  ? "path"
                                                          : "target");
        if (role.kind == Role::Kind::Id) return check_broker(key, role.id);
        if (role.kind == Role::Kind::TargetOf && !earlier.contains(role.fault_id)) {
            return failure(
                fmt::format("{}: {} refers to '{}', which is no earlier fault", file_, key, role.fault_id));
        }
        if (role.kind == Role::Kind::Client && !acts_on_path(fault.kind)) {
            return failure(fmt::format(
                "{}: {}: clients live in the harness; they can only be an end of a path", file_, key));
        }
        return {};
    }
    Status validate_fault(const FaultSpec& fault, const std::set<std::string>& earlier) const {
        const auto must_be_earlier = [&](std::string_view key, const std::string& id) -> Status {
            if (earlier.contains(id)) return {};
            return failure(fmt::format("{}: fault '{}': {} refers to '{}', which is no earlier fault", file_,
                                       fault.id, key, id));
        };
        if (!fault.after.empty()) {
            if (const Status good = must_be_earlier("after", fault.after); !good) return good;
        }
        if (!fault.release_of.empty()) {
            if (const Status good = must_be_earlier("target", fault.release_of); !good) return good;
        }
        std::vector<Role> roles;
        if (fault.target) roles.push_back(*fault.target);
        if (fault.between) roles.insert(roles.end(), {fault.between->first, fault.between->second});
        if (fault.path) roles.insert(roles.end(), {fault.path->source, fault.path->destination});
        if (fault.lasts && is_momentary(fault.kind)) {
            return failure(fmt::format("{}: fault '{}': for would have nothing to undo: {}", file_, fault.id,
                                       fault_kind_name(fault.kind)));
        }
        for (const Role& role : roles) {
            if (const Status good = check_role(fault, role, earlier); !good) return good;
        }
        if (fault.until) {
            for (const std::string& id : fault.until->fault_ids()) {
                if (id == fault.id) continue;
                if (const Status good = must_be_earlier("until", id); !good) return good;
            }
        }
        return {};
    }

    const Scenario& scenario_;
    const std::string& file_;
};

}  // namespace

Status validate_scenario(const Scenario& scenario, const std::string& file) {
    return Validator(scenario, file).run();
}

}  // namespace highwater
