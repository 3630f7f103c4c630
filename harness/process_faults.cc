// What the nemesis does to the processes of a cluster.
#include <fmt/format.h>

#include <filesystem>
#include <thread>

#include "harness/process_cluster.h"
#include "nemesis/tcp_table.h"
#include "workloads/broker_client.h"

namespace highwater::harness {
namespace {

constexpr Duration kFaultDeadline = seconds(10);
constexpr Duration kLook = milliseconds(1);

}  // namespace

ProcessCluster::Node* ProcessCluster::live_node(BrokerId id, nemesis::FaultEffect& effect) {
    effect.requested = monotonic_now();
    effect.effective = effect.requested;
    const auto found = nodes_.find(id);
    if (found != nodes_.end() && running(id)) return &found->second;
    effect.detail = "the process is not running";
    return nullptr;
}

nemesis::FaultEffect ProcessCluster::pause(BrokerId id) {
    nemesis::FaultEffect effect;
    Node* node = live_node(id, effect);
    if (node == nullptr) return effect;
    effect = node->process->pause(monotonic_now() + kFaultDeadline);
    node->paused = effect.ok;
    return effect;
}

nemesis::FaultEffect ProcessCluster::resume(BrokerId id) {
    nemesis::FaultEffect effect;
    Node* node = live_node(id, effect);
    if (node == nullptr) return effect;
    effect = node->process->resume(monotonic_now() + kFaultDeadline);
    if (effect.ok) node->paused = false;
    return effect;
}

nemesis::FaultEffect ProcessCluster::terminate(BrokerId id) {
    nemesis::FaultEffect effect;
    Node* node = live_node(id, effect);
    if (node == nullptr) return effect;
    node->end_expected = true;
    return node->process->terminate();
}

nemesis::FaultEffect ProcessCluster::kill(BrokerId id) {
    nemesis::FaultEffect effect;
    Node* node = live_node(id, effect);
    if (node == nullptr) return effect;
    node->end_expected = true;
    const Instant deadline = monotonic_now() + kFaultDeadline;
    effect = node->process->kill(deadline);
    if (!effect.ok) return effect;
    std::string listens = listening(id);
    // What the kernel still closes takes a moment; somebody who inherited the socket keeps it.
    while (!listens.empty() && monotonic_now() < deadline) {
        std::this_thread::sleep_for(kLook);
        listens = listening(id);
    }
    effect.ok = listens.empty();
    effect.detail = listens;
    effect.effective = monotonic_now();
    if (effect.ok) effect.proof = "its ports are free, " + effect.proof;
    return effect;
}

std::string ProcessCluster::listening(BrokerId id) const {
    const auto sockets = nemesis::read_tcp_table();
    if (!sockets) return sockets.error().message;
    const std::string address = slot_->plan().real_address(id) + ":";
    for (const nemesis::TcpSocket& socket : *sockets) {
        const std::string local = socket.local.to_string();
        if (socket.state == nemesis::TcpState::Listen && local.starts_with(address))
            return fmt::format("somebody still listens at {}", local);
    }
    return "";
}

nemesis::FaultEffect ProcessCluster::restart(BrokerId id) {
    nemesis::FaultEffect effect;
    effect.requested = monotonic_now();
    if (running(id)) {
        // A restart after SIGTERM waits for the orderly end.
        Node& node = nodes_.at(id);
        if (!node.end_expected) {
            effect.effective = monotonic_now();
            effect.detail = "the process still runs";
            return effect;
        }
        if (!node.process->wait_gone(monotonic_now() + kFaultDeadline).ok) {
            const nemesis::FaultEffect killed = node.process->kill(monotonic_now() + kFaultDeadline);
            if (!killed.ok) return killed;
            effect.detail =
                fmt::format("it did not end within {} of SIGTERM: SIGKILL", format_duration(kFaultDeadline));
        }
    }
    const Status launched = launch(id);
    effect.effective = monotonic_now();
    effect.ok = launched.has_value();
    if (!launched) effect.detail = launched.error().message;
    const Node& node = nodes_.at(id);
    if (effect.ok)
        effect.proof = fmt::format("process {} runs, start {}", node.child->pid(), node.incarnation);
    return effect;
}

nemesis::FaultEffect ProcessCluster::wipe(BrokerId id) {
    nemesis::FaultEffect effect;
    effect.requested = monotonic_now();
    if (running(id)) {
        const nemesis::FaultEffect killed = kill(id);
        if (!killed.ok) return killed;
        effect.proof = killed.proof + "; ";
    }
    nodes_[id].end_expected = true;
    std::error_code error;
    const std::uintmax_t removed = std::filesystem::remove_all(node_dir(id) + "/data", error);
    effect.effective = monotonic_now();
    effect.ok = !error;
    if (error) effect.detail = fmt::format("{}/data: {}", node_dir(id), error.message());
    effect.proof += fmt::format("{} files and folders removed", error ? 0 : removed);
    return effect;
}

namespace {

/// What the controller did with each partition: "t-0: NONE".
nemesis::FaultEffect effect_of(const wire::ElectLeadersResponse& response) {
    nemesis::FaultEffect effect;
    effect.ok = response.error_code == wire::ErrorCode::None;
    if (!effect.ok) effect.detail = wire::error_name(response.error_code);
    for (const auto& topic : response.replica_election_results) {
        for (const auto& partition : topic.partition_result) {
            const std::string answer = fmt::format("{}-{}: {}", topic.topic, partition.partition_id,
                                                   wire::error_name(partition.error_code));
            // Not needed: what was asked for is so already.
            const bool fine = partition.error_code == wire::ErrorCode::None ||
                              partition.error_code == wire::ErrorCode::ElectionNotNeeded;
            std::string& text = fine ? effect.proof : effect.detail;
            text += (text.empty() ? "" : ", ") + answer;
            effect.ok = effect.ok && fine;
        }
    }
    return effect;
}

}  // namespace

nemesis::FaultEffect ProcessCluster::elect(bool unclean) {
    wire::ElectLeadersRequest request;
    request.election_type = unclean ? 1 : 0;
    request.timeout_ms = static_cast<std::int32_t>(kFaultDeadline / milliseconds(1));
    auto& topic = request.topic_partitions.emplace().emplace_back();
    topic.topic = scenario_.topic.name;
    for (std::size_t i = 0; i < scenario_.topic.assignment.size(); ++i)
        topic.partitions.push_back(static_cast<std::int32_t>(i));
    const Instant requested = monotonic_now();
    nemesis::FaultEffect effect;
    effect.detail = "no broker runs that could be asked";
    // Any broker passes it on to the controller.
    for (const BrokerId id : members_.brokers) {
        if (!running(id) || paused(id)) continue;
        workloads::BrokerClient client(direct_address(id), "nemesis", "");
        const auto response = client.elect_leaders(request, monotonic_now() + kFaultDeadline);
        if (response) {
            effect = effect_of(*response);
            break;
        }
        effect.detail = fmt::format("broker {}: {}", id, workloads::attempt_error(response.error()));
    }
    effect.requested = requested;
    effect.effective = monotonic_now();
    return effect;
}

namespace {

bool answered(const workloads::AttemptEnd& end) {
    const auto* code = std::get_if<wire::ErrorCode>(&end);
    return code != nullptr && *code == wire::ErrorCode::None;
}

/// Asks the leader for its log's end and claims to have it. Error: what went wrong.
Result<std::string> claim_log_end(workloads::BrokerClient& leader, const std::string& topic,
                                  std::int32_t partition, BrokerId as) {
    constexpr std::int32_t kDebuggingReplica = -2;
    constexpr std::int64_t kLatest = -1;
    const auto end =
        leader.list_offset(topic, partition, kDebuggingReplica, kLatest, monotonic_now() + kFaultDeadline);
    if (!answered(end.end)) return failure(workloads::attempt_error(end.end));
    const auto claim =
        leader.claim_fetched(topic, partition, as, end.offset, monotonic_now() + kFaultDeadline);
    if (!answered(claim.end)) return failure(workloads::attempt_error(claim.end));
    return fmt::format("{}-{}: claimed to have everything below {}", topic, partition, end.offset);
}

}  // namespace

nemesis::FaultEffect ProcessCluster::forge_fetch(BrokerId as) {
    nemesis::FaultEffect effect;
    effect.requested = monotonic_now();
    effect.detail = "no broker told who leads";
    const std::string& topic = scenario_.topic.name;
    for (const BrokerId id : members_.brokers) {
        if (!running(id) || paused(id)) continue;
        workloads::BrokerClient asked(direct_address(id), "forger", "");
        const auto metadata = asked.metadata(topic, monotonic_now() + kFaultDeadline);
        if (!metadata || metadata->topics.empty()) continue;
        effect.detail.clear();
        for (const auto& partition : metadata->topics.front().partitions) {
            if (partition.leader_id == kNoBroker || partition.leader_id == as) continue;
            workloads::BrokerClient leader(direct_address(partition.leader_id), "forger", "");
            const auto claimed = claim_log_end(leader, topic, partition.partition_index, as);
            std::string& text = claimed ? effect.proof : effect.detail;
            text +=
                fmt::format("{}{}", text.empty() ? "" : ", ", claimed ? *claimed : claimed.error().message);
        }
        break;
    }
    effect.ok = effect.detail.empty() && !effect.proof.empty();
    effect.effective = monotonic_now();
    return effect;
}

}  // namespace highwater::harness
