// The commands of the transcripts.
#include "bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>

#include "facts.h"

namespace highwater::node {
namespace {

// Command errors are exceptions here: run() prints them into the output, where they differ from what is
// expected.
[[noreturn]] void complain(const std::string& what) { throw std::runtime_error(what); }

constexpr std::int64_t kWallMs = 1'700'000'000'000;

std::vector<std::string> split(const std::string& text, char at) {
    std::vector<std::string> parts;
    std::string part;
    for (const char c : text + at) {
        if (c == at) {
            if (!part.empty()) parts.push_back(part);
            part.clear();
        } else {
            part += c;
        }
    }
    return parts;
}

std::vector<BrokerId> ids(const std::string& list) {
    std::vector<BrokerId> result;
    for (const std::string& part : split(list, ',')) result.push_back(std::stoi(part));
    return result;
}

Duration duration(const std::string& text) {
    const std::int64_t number = std::stoll(text);
    if (text.ends_with("ms")) return milliseconds(number);
    if (text.ends_with("s")) return seconds(number);
    complain("a duration in s or ms expected: " + text);
}

Uuid uuid(std::uint8_t kind, BrokerId id, char letter) {
    Uuid result;
    result.bytes[0] = kind;
    result.bytes[14] = static_cast<std::uint8_t>(id);
    result.bytes[15] = static_cast<std::uint8_t>(letter);
    return result;
}

std::string id_word(CommandWords& words) {
    const std::string id = words.next();
    if (id.empty()) complain("whose?");
    return id;
}

TopicPartition partition_word(CommandWords& words) {
    const std::string name = words.next();
    const std::size_t dash = name.rfind('-');
    if (dash == std::string::npos) complain("TOPIC-PARTITION expected: " + name);
    return {name.substr(0, dash), std::stoi(name.substr(dash + 1))};
}

using AlterPartition = wire::AlterPartitionRequest::TopicData::PartitionData;

}  // namespace

std::string ControllerBench::run(const std::vector<std::string>& commands) {
    std::string output;
    for (const std::string& command : commands) {
        try {
            output += run_command(command);
            output += take_events();
        } catch (const std::exception& error) {
            output += std::string("error: ") + error.what() + "\n";
        }
    }
    return output;
}

std::string ControllerBench::run_command(const std::string& command) {
    CommandWords words(command);
    const std::string name = words.next();
    if (controller_ == nullptr && name != "start") complain("start first");
    std::string output;
    if (name == "start")
        output = start(words);
    else if (name == "brokers")
        output = brokers(words);
    else if (name == "register")
        output = register_broker(words);
    else if (name == "heartbeat")
        output = heartbeat(words);
    else if (name == "advance")
        output = advance(words);
    else if (name == "create-topic")
        output = create_topic(words);
    else if (name == "delete-topics")
        output = delete_topics(words);
    else if (name == "alter-configs")
        output = alter_configs(words);
    else if (name == "elect-leaders")
        output = elect_leaders(words);
    else if (name == "allocate-producer-ids")
        output = allocate_producer_ids(words);
    else if (name == "alter-partition")
        output = alter_partition(words);
    else if (name == "restart")
        output = restart(words);
    else if (name == "image")
        output = image();
    else if (name == "records")
        output = records(words);
    else if (name == "fail-writes")
        storage_->fail_writes([](const std::string&) { return std::optional<std::string>("no space"); });
    else
        complain("unknown command " + name);
    for (const std::string& word : words.left_over()) complain("unknown word " + word);
    return output;
}

std::string ControllerBench::take_events() {
    std::string text;
    for (const ControllerEvent& event : controller_->take_events()) text += "  " + event_text(event) + "\n";
    return text;
}

BrokerEpoch ControllerBench::epoch_of(BrokerId id) const {
    const BrokerImage* broker = controller_->image().broker(id);
    return broker == nullptr ? kUnknownBrokerEpoch : broker->epoch;
}

std::string ControllerBench::since_start(Instant at) const { return duration_text(at - begin_); }

std::string ControllerBench::open() {
    controller_.reset();
    auto opened = Controller::open(now_, kWallMs, settings_, *storage_, Rng(seed_++));
    if (!opened) complain(opened.error().message);
    controller_ = std::move(*opened);
    return fmt::format("controller epoch {}, log end {}\n", controller_->controller_epoch(),
                       controller_->metadata_log().log_end_offset());
}

void ControllerBench::read_settings(CommandWords& words) {
    if (const std::string text = words.get("session"); !text.empty())
        settings_.broker_session_timeout = duration(text);
    if (const std::string text = words.get("unclean"); !text.empty())
        settings_.unclean_leader_election = text == "true";
    if (const std::string text = words.get("elr"); !text.empty())
        settings_.eligible_leader_replicas = text == "true";
    if (const std::string text = words.get("unclean-interval"); !text.empty()) {
        settings_.unclean_election_interval = duration(text);
    }
    if (const std::string text = words.get("rebalance"); !text.empty())
        settings_.auto_leader_rebalance = text == "true";
    if (const std::string text = words.get("rebalance-interval"); !text.empty()) {
        settings_.leader_imbalance_check_interval = duration(text);
    }
    if (const std::string text = words.get("bugs"); !text.empty()) {
        const Result<Bugs> bugs = Bugs::parse(text);
        if (!bugs) throw std::runtime_error(bugs.error().message);
        settings_.bugs = *bugs;
    }
    const auto number = [&](const std::string& key, std::int32_t& into) {
        into = static_cast<std::int32_t>(words.number(key, into));
    };
    number("factor", settings_.default_replication_factor);
    number("partitions", settings_.num_partitions);
    number("min-isr", settings_.min_insync_replicas);
}

std::string ControllerBench::start(CommandWords& words) {
    settings_ = {};
    settings_.self = 100;
    settings_.eligible_leader_replicas = false;  // most rules are older than them
    settings_.cluster_id = uuid(0x30, 1, 'c');
    read_settings(words);
    controller_.reset();
    storage_ = std::make_unique<MemoryStorage>();
    now_ = begin_;
    seed_ = 1;
    return open();
}

std::string ControllerBench::brokers(CommandWords& words) {
    for (const std::string& id : split(words.next(), ',')) {
        CommandWords registration(id);
        register_broker(registration);
        CommandWords beat(id);
        heartbeat(beat);
    }
    static_cast<void>(controller_->take_events());
    return "";
}

std::string ControllerBench::register_broker(CommandWords& words) {
    wire::BrokerRegistrationRequest request;
    request.broker_id = std::stoi(id_word(words));
    request.cluster_id = words.get("cluster", settings_.cluster_id.to_string());
    request.incarnation_id = uuid(0x10, request.broker_id, words.get("incarnation", "a")[0]);
    for (const std::string& directory :
         split(words.get("directories", std::to_string(request.broker_id)), ',')) {
        if (directory != "none") request.log_dirs.push_back(uuid(0x20, std::stoi(directory), 'd'));
    }
    request.previous_broker_epoch = words.number("previous", kUnknownBrokerEpoch);
    const std::vector<std::string> address = split(words.get("address", "localhost:9092"), ':');
    request.listeners.push_back(
        {"CLIENT", address.at(0), static_cast<std::uint16_t>(std::stoi(address.at(1))), 0});
    const auto response = controller_->handle(now_, kWallMs, request);
    return fmt::format("{}, epoch {}\n", wire::error_name(response.error_code), response.broker_epoch);
}

std::string ControllerBench::heartbeat(CommandWords& words) {
    wire::BrokerHeartbeatRequest request;
    request.broker_id = std::stoi(id_word(words));
    request.broker_epoch = words.number("epoch", epoch_of(request.broker_id));
    request.current_metadata_offset =
        words.number("offset", controller_->metadata_log().log_end_offset() - 1);
    request.want_fence = words.flag("want-fence");
    request.want_shut_down = words.flag("want-shut-down");
    const auto response = controller_->handle(now_, kWallMs, request);
    if (response.error_code != wire::ErrorCode::None) return wire::error_name(response.error_code) + "\n";
    return fmt::format("{}, {}{}\n", response.is_caught_up ? "caught up" : "behind",
                       response.is_fenced ? "fenced" : "unfenced",
                       response.should_shut_down ? ", shut down now" : "");
}

std::string ControllerBench::advance(CommandWords& words) {
    const Instant until = now_ + duration(words.next("0s"));
    const std::vector<BrokerId> alive = ids(words.get("heartbeats"));
    Instant next_beat = now_ + seconds(1);
    std::string output;
    while (now_ < until) {
        now_ = std::min({until, next_beat, std::max(now_, controller_->deadline())});
        if (now_ == next_beat) {
            next_beat = next_beat + seconds(1);
            for (const BrokerId id : alive) {
                CommandWords beat(std::to_string(id));
                heartbeat(beat);
            }
        }
        if (now_ >= controller_->deadline()) controller_->tick(now_, kWallMs);
        const std::string events = take_events();
        if (!events.empty()) output += "at " + since_start(now_) + "\n" + events;
    }
    return output;
}

std::string ControllerBench::create_topic(CommandWords& words) {
    wire::CreateTopicsRequest request;
    wire::CreateTopicsRequest::CreatableTopic topic;
    topic.name = words.next();
    if (topic.name == "EMPTY") topic.name.clear();
    if (topic.name.starts_with("LENGTH")) topic.name = std::string(std::stoul(topic.name.substr(6)), 'x');
    const std::string assignment = words.get("assignment");
    const std::int64_t otherwise = assignment.empty() ? 1 : -1;
    topic.num_partitions = static_cast<std::int32_t>(words.number("partitions", otherwise));
    topic.replication_factor = static_cast<std::int16_t>(words.number("factor", otherwise));
    std::int32_t index = 0;
    for (const std::string& replicas : split(assignment, '/')) {
        // "7:1,2" is partition 7; without a number they count from 0.
        const std::size_t colon = replicas.find(':');
        if (colon != std::string::npos) index = std::stoi(replicas);
        const std::string list = colon == std::string::npos ? replicas : replicas.substr(colon + 1);
        topic.assignments.push_back({index++, list == "none" ? std::vector<BrokerId>{} : ids(list)});
    }
    for (const std::string& word : words.left_over()) {
        if (!word.starts_with("config.")) continue;
        const std::string key = word.substr(0, word.find('='));
        const std::string value = words.get(key);
        topic.configs.push_back({key.substr(7), value == "NULL" ? std::nullopt : std::optional(value)});
    }
    request.topics.push_back(topic);
    if (words.flag("twice")) request.topics.push_back(topic);
    request.validate_only = words.flag("validate-only");
    const auto response = controller_->handle(now_, kWallMs, request);
    std::string output;
    for (const auto& result : response.topics) {
        output += wire::error_name(result.error_code);
        if (result.error_message) output += ": " + *result.error_message;
        if (result.error_code == wire::ErrorCode::None) {
            output += fmt::format(", {} x {}", result.num_partitions, result.replication_factor);
            for (const auto& config : *result.configs) {
                if (config.config_source == 1) output += fmt::format(" {}={}", config.name, *config.value);
            }
        }
        output += "\n";
    }
    return output;
}

std::string ControllerBench::alter_partition(CommandWords& words) {
    const TopicPartition name = partition_word(words);
    const PartitionImage* known = controller_->image().partition(name);
    const TopicImage* topic = controller_->image().topic(name.topic);
    wire::AlterPartitionRequest request;
    request.broker_id =
        static_cast<BrokerId>(words.number("from", known == nullptr ? kNoBroker : known->leader));
    request.broker_epoch = words.number("broker-epoch", epoch_of(request.broker_id));
    auto& topic_data = request.topics.emplace_back();
    if (topic != nullptr && words.get("topic-id") != "unknown") topic_data.topic_id = topic->id;
    AlterPartition& proposal = topic_data.partitions.emplace_back();
    proposal.partition_index = name.partition;
    proposal.leader_epoch =
        static_cast<LeaderEpoch>(words.number("leader-epoch", known == nullptr ? 0 : known->leader_epoch));
    proposal.partition_epoch = static_cast<PartitionEpoch>(
        words.number("partition-epoch", known == nullptr ? 0 : known->partition_epoch));
    proposal.leader_recovery_state = words.flag("recovering") ? kRecovering : kRecovered;
    const std::vector<BrokerId> isr = ids(words.get("isr"));
    std::map<BrokerId, BrokerEpoch> epochs;
    for (const std::string& pair : split(words.get("isr-epochs"), ',')) {
        const std::vector<std::string> parts = split(pair, ':');
        epochs[std::stoi(parts.at(0))] = std::stoll(parts.at(1));
    }
    if (words.number("version", 3) == 2)
        proposal.new_isr = isr;
    else {
        for (const BrokerId id : isr) {
            proposal.new_isr_with_epochs.push_back({id, epochs.contains(id) ? epochs[id] : epoch_of(id)});
        }
    }
    const auto response = controller_->handle(now_, kWallMs, request);
    if (response.error_code != wire::ErrorCode::None) return wire::error_name(response.error_code) + "\n";
    const auto& answer = response.topics.at(0).partitions.at(0);
    if (answer.error_code != wire::ErrorCode::None)
        return wire::error_name(answer.error_code) + " for the partition\n";
    return fmt::format("leader {} @{} v{} isr {}{}\n", answer.leader_id, answer.leader_epoch,
                       answer.partition_epoch, list_text(answer.isr),
                       answer.leader_recovery_state == kRecovering ? ", recovering" : "");
}

std::string ControllerBench::delete_topics(CommandWords& words) {
    wire::DeleteTopicsRequest request;
    const bool by_state = words.flag("by-state");
    for (std::string word = words.next(); !word.empty(); word = words.next()) {
        wire::DeleteTopicsRequest::DeleteTopicState one;
        const std::string name = word.substr(word.find(':') + 1);
        const TopicImage* topic = controller_->image().topic(name);
        const Uuid id = topic == nullptr ? uuid(0x40, 9, 't') : topic->id;
        if (word.starts_with("id:"))
            one.topic_id = id;
        else if (word.starts_with("both:"))
            one = {name, id};
        else if (word != "NOTHING")
            one.name = name;
        if (by_state || !one.name || one.topic_id != Uuid{})
            request.topics.push_back(one);
        else
            request.topic_names.push_back(name);
    }
    std::string output;
    for (const auto& answer : controller_->handle(now_, kWallMs, request).responses) {
        output += fmt::format("{}: {}{}\n", answer.name.value_or("-"), wire::error_name(answer.error_code),
                              answer.error_message ? ": " + *answer.error_message : "");
    }
    return output;
}

std::string ControllerBench::alter_configs(CommandWords& words) {
    wire::IncrementalAlterConfigsRequest request;
    auto& resource = request.resources.emplace_back();
    resource.resource_type = 2;
    resource.resource_name = words.next();
    if (words.flag("of-broker")) resource.resource_type = 4;
    request.validate_only = words.flag("validate-only");
    const bool twice = words.flag("twice");
    for (const std::string& word : words.left_over()) {
        // "KEY=VALUE" sets, "KEY+=VALUE" and "KEY-=VALUE" append and subtract, "KEY=" removes.
        const std::string key = word.substr(0, word.find('='));
        std::string value = words.get(key);
        std::string name = key;
        std::int8_t operation = 0;
        if (value.empty()) operation = 1;
        if (name.back() == '+' || name.back() == '-') {
            operation = name.back() == '+' ? 2 : 3;
            name.pop_back();
        }
        if (value.starts_with("OPERATION")) operation = 9;
        resource.configs.push_back({name, operation, value == "NULL" ? std::nullopt : std::optional(value)});
    }
    if (words.flag("same-key")) resource.configs.push_back(resource.configs.at(0));
    if (twice) request.resources.push_back(request.resources.at(0));
    std::string output;
    for (const auto& answer : controller_->handle(now_, kWallMs, request).responses) {
        output += fmt::format("{}{}\n", wire::error_name(answer.error_code),
                              answer.error_message ? ": " + *answer.error_message : "");
    }
    return output;
}

std::string ControllerBench::elect_leaders(CommandWords& words) {
    wire::ElectLeadersRequest request;
    const std::string type = words.next();
    request.election_type = static_cast<std::int8_t>(type == "preferred" ? 0 : type == "unclean" ? 1 : 7);
    request.topic_partitions.emplace();
    for (std::string word = words.next(); !word.empty(); word = words.next()) {
        if (word == "ALL") {
            request.topic_partitions.reset();
            break;
        }
        CommandWords name(word);
        const TopicPartition partition = partition_word(name);
        request.topic_partitions->push_back({partition.topic, {partition.partition}});
    }
    const auto response = controller_->handle(now_, kWallMs, request);
    std::string output;
    if (response.error_code != wire::ErrorCode::None) output = wire::error_name(response.error_code) + "\n";
    for (const auto& topic : response.replica_election_results) {
        for (const auto& answer : topic.partition_result) {
            output += fmt::format("{}-{}: {}\n", topic.topic, answer.partition_id,
                                  wire::error_name(answer.error_code));
        }
    }
    return output;
}

std::string ControllerBench::allocate_producer_ids(CommandWords& words) {
    wire::AllocateProducerIdsRequest request;
    request.broker_id = std::stoi(id_word(words));
    request.broker_epoch = words.number("epoch", epoch_of(request.broker_id));
    const auto response = controller_->handle(now_, kWallMs, request);
    if (response.error_code != wire::ErrorCode::None) return wire::error_name(response.error_code) + "\n";
    return fmt::format("{} from {}\n", response.producer_id_len, response.producer_id_start);
}

std::string ControllerBench::restart(CommandWords& words) {
    controller_.reset();
    if (words.flag("power-loss")) storage_->lose_unflushed();
    storage_->fail_writes(nullptr);
    read_settings(words);
    return open();
}

std::string ControllerBench::image() const { return image_text(controller_->image()); }

std::string ControllerBench::records(CommandWords& words) const {
    return records_text(controller_->metadata_log(), words.number("from", 0), controller_->image());
}

}  // namespace highwater::node
