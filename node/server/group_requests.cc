// What members of groups and tools for groups ask: each request goes to the coordinator of its group, or is
// told why not.
#include "node/server/broker_state.h"

namespace highwater::node {
namespace {

using wire::ErrorCode;

/// One member at the top until then, a list with an error for each since.
constexpr std::int16_t kLeaveListSince = 3;

}  // namespace

BrokerState::Coordinated BrokerState::coordinator_of(const std::string& group) {
    const auto index = group_partition(group);
    const auto led = index ? led_groups.find(*index) : led_groups.end();
    if (led == led_groups.end()) return {nullptr, ErrorCode::NotCoordinator};
    if (led->second.unreadable) return {nullptr, ErrorCode::CoordinatorNotAvailable};
    if (!led->second.loaded) return {nullptr, ErrorCode::CoordinatorLoadInProgress};
    return {led->second.coordinator.get(), ErrorCode::None};
}

BrokerState::Coordinated BrokerState::coordinator_of_members(const std::string& group) {
    // Only offsets may belong to a group without a name.
    return group.empty() ? Coordinated{nullptr, ErrorCode::InvalidGroupId} : coordinator_of(group);
}

GroupCall BrokerState::call_back(GroupReply reply) {
    group_calls.emplace(next_group_call, std::move(reply));
    return next_group_call++;
}

void BrokerState::handle(const RequestId& id, const wire::RequestHeader& header,
                         const wire::JoinGroupRequest& request) {
    const Coordinated at = coordinator_of_members(request.group_id);
    if (at.coordinator == nullptr) {
        wire::JoinGroupResponse refused;
        refused.error_code = at.error;
        refused.protocol_name = std::nullopt;
        refused.member_id = request.member_id;
        return inbound.answer(id, wire::encode_response(refused, header.api_version, header.correlation_id));
    }
    const GroupCall call = call_back([this, id, header](const GroupResponse& response) {
        inbound.answer(id, wire::encode_response(std::get<wire::JoinGroupResponse>(response),
                                                 header.api_version, header.correlation_id));
    });
    const GroupClient client{header.client_id.value_or(""), inbound.peer(id.conn)};
    at.coordinator->join(now, wall_ms, call, header.api_version, client, request);
}

void BrokerState::handle(const RequestId& id, const wire::RequestHeader& header,
                         const wire::SyncGroupRequest& request) {
    const Coordinated at = coordinator_of_members(request.group_id);
    if (at.coordinator == nullptr) {
        wire::SyncGroupResponse refused;
        refused.error_code = at.error;
        return inbound.answer(id, wire::encode_response(refused, header.api_version, header.correlation_id));
    }
    const GroupCall call = call_back([this, id, header](const GroupResponse& response) {
        inbound.answer(id, wire::encode_response(std::get<wire::SyncGroupResponse>(response),
                                                 header.api_version, header.correlation_id));
    });
    at.coordinator->sync(now, wall_ms, call, request);
}

void BrokerState::handle(const RequestId& id, const wire::RequestHeader& header,
                         const wire::HeartbeatRequest& request) {
    const Coordinated at = coordinator_of_members(request.group_id);
    wire::HeartbeatResponse response;
    response.error_code = at.error;
    if (at.coordinator != nullptr) response = at.coordinator->heartbeat(now, request);
    inbound.answer(id, wire::encode_response(response, header.api_version, header.correlation_id));
}

void BrokerState::handle(const RequestId& id, const wire::RequestHeader& header,
                         const wire::LeaveGroupRequest& request) {
    const Coordinated at = coordinator_of_members(request.group_id);
    wire::LeaveGroupResponse response;
    response.error_code = at.error;
    if (at.coordinator != nullptr) {
        response = at.coordinator->leave(now, request);
        if (header.api_version < kLeaveListSince && !response.members.empty())
            response.error_code = response.members.front().error_code;
    }
    inbound.answer(id, wire::encode_response(response, header.api_version, header.correlation_id));
}

void BrokerState::handle(const RequestId& id, const wire::RequestHeader& header,
                         const wire::DescribeGroupsRequest& request) {
    wire::DescribeGroupsResponse response;
    for (const std::string& group : request.groups) {
        const Coordinated at = coordinator_of(group);
        if (at.coordinator != nullptr) {
            response.groups.push_back(at.coordinator->describe(group, header.api_version));
            continue;
        }
        auto& refused = response.groups.emplace_back();
        refused.group_id = group;
        refused.error_code = at.error;
        refused.error_message = std::nullopt;
    }
    inbound.answer(id, wire::encode_response(response, header.api_version, header.correlation_id));
}

void BrokerState::handle(const RequestId& id, const wire::RequestHeader& header,
                         const wire::ListGroupsRequest& request) {
    wire::ListGroupsResponse response;
    for (const auto& [index, led] : led_groups) {
        if (led.loaded)
            led.coordinator->list(request, response);
        else
            response.error_code = ErrorCode::CoordinatorLoadInProgress;
    }
    inbound.answer(id, wire::encode_response(response, header.api_version, header.correlation_id));
}

void BrokerState::handle(const RequestId& id, const wire::RequestHeader& header,
                         const wire::DeleteGroupsRequest& request) {
    struct Answer {
        wire::DeleteGroupsResponse response;
        std::size_t waiting = 0;
    };
    const auto answer = std::make_shared<Answer>();
    answer->waiting = request.groups_names.size();
    const auto done = [this, id, header, answer] {
        inbound.answer(id,
                       wire::encode_response(answer->response, header.api_version, header.correlation_id));
    };
    if (request.groups_names.empty()) return done();
    answer->response.results.resize(request.groups_names.size());
    for (std::size_t i = 0; i < request.groups_names.size(); ++i) {
        const std::string& group = request.groups_names[i];
        answer->response.results[i].group_id = group;
        const auto one_done = [answer, done, i](ErrorCode error) {
            answer->response.results[i].error_code = error;
            if (--answer->waiting == 0) done();
        };
        const Coordinated at = coordinator_of(group);
        if (at.coordinator == nullptr) {
            one_done(at.error);
            continue;
        }
        const GroupCall call =
            call_back([one_done](const GroupResponse& response) { one_done(std::get<ErrorCode>(response)); });
        at.coordinator->remove(now, wall_ms, call, group);
    }
}

}  // namespace highwater::node
