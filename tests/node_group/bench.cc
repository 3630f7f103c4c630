#include "tests/node_group/bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "base/overloaded.h"

namespace highwater::node {
namespace {

constexpr std::int64_t kWall = 1'700'000'000'000;

std::vector<std::string> split(const std::string& text, char at) {
    std::vector<std::string> parts;
    std::istringstream in(text);
    for (std::string part; std::getline(in, part, at);) parts.push_back(part);
    return parts;
}

std::string text_of(const Bytes& bytes) { return std::string(bytes.begin(), bytes.end()); }
Bytes bytes_of(const std::string& text) { return Bytes(text.begin(), text.end()); }

std::optional<std::string> given(const std::string& text) {
    return text.empty() ? std::nullopt : std::optional(text);
}

wire::ErrorCode error_of(const std::string& name) {
    for (std::int16_t code = -1; code < 200; ++code) {
        if (wire::error_name(static_cast<wire::ErrorCode>(code)) == name)
            return static_cast<wire::ErrorCode>(code);
    }
    throw std::runtime_error("no error is called " + name);
}

}  // namespace

GroupBench::GroupBench() : coordinator_(std::make_unique<GroupCoordinator>(GroupSettings{}, Rng(seed_))) {}

std::string GroupBench::run(const std::string& command) {
    CommandWords words(command);
    const std::string verb = words.next();
    std::string output = call(verb, words);
    output += take();
    for (const std::string& word : words.left_over()) output += "nobody asked for " + word + "\n";
    return output;
}

std::string GroupBench::call(const std::string& verb, CommandWords& words) {
    if (verb == "join") return join(words), "";
    if (verb == "sync") return sync(words), "";
    if (verb == "commit") return commit(words), "";
    if (verb == "fetch") return fetch(words);
    if (verb == "describe") return describe(words);
    if (verb == "list") return list();
    if (verb == "wait") return wait(milliseconds(std::stoll(words.next()))), "";
    if (verb == "hold") return held_ = true, "";
    if (verb == "written") return end_write(error_of(words.next("NONE"))), "";
    if (verb == "resign") return coordinator_->resign(), "";
    if (verb == "delete") {
        calls_[next_call_] = "delete";
        return coordinator_->remove(now_, kWall, next_call_++, words.next()), "";
    }
    if (verb == "heartbeat") {
        wire::HeartbeatRequest request;
        request.group_id = words.next();
        request.member_id = id_of(words.next());
        request.generation_id = static_cast<std::int32_t>(words.number("gen", 0));
        request.group_instance_id = given(words.get("instance"));
        return "heartbeat: " + wire::error_name(coordinator_->heartbeat(now_, request).error_code) + "\n";
    }
    if (verb == "leave") {
        wire::LeaveGroupRequest request;
        request.group_id = words.next();
        auto& member = request.members.emplace_back();
        member.member_id = id_of(words.next());
        member.group_instance_id = given(words.get("instance"));
        return "leave: " + wire::error_name(coordinator_->leave(now_, request).members.at(0).error_code) +
               "\n";
    }
    if (verb == "failover") {
        coordinator_ = std::make_unique<GroupCoordinator>(GroupSettings{}, Rng(++seed_));
        waiting_.clear();
        std::string output;
        for (const wire::Record& record : log_) {
            if (const Status read = coordinator_->replay(record); !read)
                output += read.error().message + "\n";
        }
        coordinator_->loaded(now_);
        return output;
    }
    return "no such command: " + verb + "\n";
}

void GroupBench::join(CommandWords& words) {
    wire::JoinGroupRequest request;
    request.group_id = words.next();
    const std::string member = words.get("member");
    request.member_id = id_of(member);
    request.group_instance_id = given(words.get("instance"));
    request.session_timeout_ms = static_cast<std::int32_t>(words.number("session", 10'000));
    request.rebalance_timeout_ms = static_cast<std::int32_t>(words.number("rebalance", 60'000));
    request.protocol_type = words.get("type", "consumer");
    const std::string client = words.get("client", "a");
    for (const std::string& name : split(words.get("protocols", "range"), ','))
        request.protocols.push_back({name, bytes_of(client + " by " + name)});
    const auto version = static_cast<std::int16_t>(words.number("v", 9));
    calls_[next_call_] = "join by " + (member.empty() ? client : member);
    coordinator_->join(now_, kWall, next_call_++, version, {client, "/127.0.0.1"}, request);
}

void GroupBench::sync(CommandWords& words) {
    wire::SyncGroupRequest request;
    request.group_id = words.next();
    const std::string member = words.next();
    request.member_id = id_of(member);
    request.generation_id = static_cast<std::int32_t>(words.number("gen", 0));
    request.group_instance_id = given(words.get("instance"));
    request.protocol_name = given(words.get("protocol"));
    for (const std::string& one : split(words.get("assign"), ',')) {
        const std::size_t colon = one.find(':');
        request.assignments.push_back({id_of(one.substr(0, colon)), bytes_of(one.substr(colon + 1))});
    }
    calls_[next_call_] = "sync by " + member;
    coordinator_->sync(now_, kWall, next_call_++, request);
}

void GroupBench::commit(CommandWords& words) {
    OffsetCommit request;
    request.group = words.next();
    request.generation = static_cast<std::int32_t>(words.number("gen", -1));
    request.instance = given(words.get("instance"));
    const auto metadata = static_cast<std::size_t>(words.number("metadata", 0));
    for (const std::string& word : words.left_over()) {
        const std::size_t equals = word.find('=');
        if (equals == std::string::npos) {
            request.member = id_of(words.next());
            continue;
        }
        const std::string partition = word.substr(0, equals);
        const Offset offset = words.number(partition, 0);
        request.entries.push_back(
            {*TopicPartition::parse(partition), {offset, 0, std::string(metadata, 'm')}});
    }
    calls_[next_call_] = "commit";
    coordinator_->commit(now_, kWall, next_call_++, request);
}

std::string GroupBench::fetch(CommandWords& words) {
    const auto* offsets = coordinator_->offsets(words.next());
    if (offsets == nullptr) return "no such group\n";
    std::string output;
    for (const auto& [partition, offset] : *offsets)
        output += fmt::format("{}: {}\n", partition.to_string(), offset.offset);
    return output.empty() ? "nothing committed\n" : output;
}

std::string GroupBench::describe(CommandWords& words) {
    const auto group = coordinator_->describe(words.next(), 6);
    if (group.error_code != wire::ErrorCode::None)
        return fmt::format("{}: {}\n", wire::error_name(group.error_code), *group.error_message);
    std::string output =
        fmt::format("{} {} {}\n", group.group_state, group.protocol_type, group.protocol_data);
    for (const auto& member : group.members) {
        output += fmt::format("  {}{} of {}{}: \"{}\" gets \"{}\"\n", shown_id(member.member_id),
                              member.group_instance_id ? " = " + *member.group_instance_id : "",
                              member.client_id, member.client_host, text_of(member.member_metadata),
                              text_of(member.member_assignment));
    }
    return output;
}

std::string GroupBench::list() {
    wire::ListGroupsResponse response;
    coordinator_->list({}, response);
    std::string output;
    for (const auto& group : response.groups)
        output += fmt::format("{} {} {} {}\n", group.group_id, group.protocol_type, group.group_state,
                              group.group_type);
    return output.empty() ? "no groups\n" : output;
}

void GroupBench::wait(Duration time) {
    const Instant until = now_ + time;
    while (coordinator_->deadline() <= until) {
        now_ = std::max(now_, coordinator_->deadline());
        coordinator_->tick(now_, kWall);
        if (coordinator_->deadline() <= now_) throw std::runtime_error("a deadline does not pass");
    }
    now_ = until;
}

void GroupBench::end_write(wire::ErrorCode error) {
    if (waiting_.empty()) throw std::runtime_error("no write waits");
    const GroupWrite write = std::move(waiting_.front());
    waiting_.pop_front();
    if (error == wire::ErrorCode::None || error == wire::ErrorCode::NotEnoughReplicasAfterAppend)
        log_.insert(log_.end(), write.records.begin(), write.records.end());
    coordinator_->written(now_, write.id, error);
}

std::string GroupBench::take() {
    coordinator_->tick(now_, kWall);
    for (GroupWrite& write : coordinator_->take_writes()) waiting_.push_back(std::move(write));
    while (!held_ && !waiting_.empty()) end_write(wire::ErrorCode::None);
    std::string output;
    for (const GroupAnswer& answer : coordinator_->take_answers()) output += show(answer);
    return output;
}

std::string GroupBench::show(const GroupAnswer& answer) {
    const std::string what = fmt::format("{} ms: {}: ", now_.ns / 1'000'000, calls_.at(answer.call));
    return what +
           std::visit(
               overloaded{
                   [&](const wire::JoinGroupResponse& join) {
                       std::string text = wire::error_name(join.error_code);
                       if (join.error_code == wire::ErrorCode::None) {
                           text += fmt::format(" generation {} {} leader {}", join.generation_id,
                                               join.protocol_name.value_or("-"), shown_id(join.leader));
                       }
                       text += " you are " + shown_id(join.member_id);
                       if (join.skip_assignment) text += " skip assignment";
                       for (const auto& member : join.members)
                           text += fmt::format("\n  {}: {}", shown_id(member.member_id),
                                               text_of(member.metadata));
                       return text;
                   },
                   [](const wire::SyncGroupResponse& sync) {
                       return wire::error_name(sync.error_code) + " \"" + text_of(sync.assignment) + "\"";
                   },
                   [](const CommitErrors& errors) {
                       std::string text;
                       for (const wire::ErrorCode error : errors)
                           text += (text.empty() ? "" : " ") + wire::error_name(error);
                       return text;
                   },
                   [](const wire::ErrorCode error) { return wire::error_name(error); },
               },
               answer.response) +
           "\n";
}

std::string GroupBench::id_of(const std::string& shown) const {
    for (const auto& [id, name] : shown_) {
        if (name == shown) return id;
    }
    return shown;
}

std::string GroupBench::shown_id(const std::string& id) {
    // NAME-8-4-4-4-12
    constexpr std::size_t kUuid = 37;
    if (id.size() <= kUuid) return id.empty() ? "nobody" : id;
    const auto known = shown_.find(id);
    if (known != shown_.end()) return known->second;
    const std::string name = id.substr(0, id.size() - kUuid);
    return shown_[id] = fmt::format("{}/{}", name, ++given_[name]);
}

}  // namespace highwater::node
