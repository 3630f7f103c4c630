// The commands of the transcripts.
#include "bench.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "facts.h"
#include "wire/record_batch.h"

namespace highwater::node {

namespace {

// Command errors are exceptions here: run() prints them into the output, where they differ from what is
// expected.
[[noreturn]] void complain(const std::string& what) { throw std::runtime_error(what); }

BrokerId id_of(const std::string& name) {
    if (name.size() != 1 || name[0] < 'A' || name[0] > 'I') complain("no replica is called " + name);
    return name[0] - 'A' + 1;
}

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

/// "1x3,2x1": three records of epoch 1, then one of epoch 2.
struct EpochRun {
    LeaderEpoch epoch;
    int count;
};
std::vector<EpochRun> epoch_runs(const std::string& list) {
    std::vector<EpochRun> runs;
    for (const std::string& part : split(list, ',')) {
        const std::vector<std::string> pair = split(part, 'x');
        if (pair.size() != 2) complain("EPOCHxCOUNT expected: " + part);
        runs.push_back({std::stoi(pair[0]), std::stoi(pair[1])});
    }
    return runs;
}

Duration duration(std::string text) {
    if (text.starts_with("+")) text.erase(0, 1);
    const std::int64_t number = std::stoll(text);
    if (text.ends_with("ms")) return milliseconds(number);
    if (text.ends_with("s")) return seconds(number);
    complain("a duration in s or ms expected: " + text);
}

void check(const Status& status) {
    if (!status) complain(status.error().message);
}

wire::ErrorCode error_code(const std::string& name) {
    const std::optional<wire::ErrorCode> code = wire::parse_error_name(name);
    if (!code) complain("no error is called " + name);
    return *code;
}

/// A log in `storage` that holds these records.
std::unique_ptr<PartitionLog> open_log(Storage& storage, const std::string& content) {
    Result<std::unique_ptr<PartitionLog>> log = PartitionLog::open(storage, "t-0");
    if (!log) complain(log.error().message);
    for (const EpochRun& run : epoch_runs(content)) {
        check((*log)->assign_epoch(run.epoch, (*log)->log_end_offset()));
        if (run.count == 0) continue;
        const Result<AppendInfo> appended = (*log)->append_as_leader(producer_batches(run.count), run.epoch);
        if (!appended) complain(appended.error().message);
    }
    return std::move(*log);
}

}  // namespace

Bytes producer_batches(int count) {
    Bytes batches;
    for (int i = 0; i < count; ++i) {
        wire::Record record;
        record.value = Bytes{'r'};
        wire::BatchSpec spec;
        spec.records.push_back(std::move(record));
        const Bytes batch = wire::encode_batch(spec);
        batches.insert(batches.end(), batch.begin(), batch.end());
    }
    return batches;
}

Bytes idempotent_batch(ProducerId producer, std::int16_t producer_epoch, std::int32_t sequence) {
    wire::Record record;
    record.value = Bytes{'r'};
    wire::BatchSpec spec;
    spec.producer_id = producer;
    spec.producer_epoch = producer_epoch;
    spec.base_sequence = sequence;
    spec.records.push_back(std::move(record));
    return wire::encode_batch(spec);
}

Bench::Bench() {
    for (BrokerId id = 1; id <= 3; ++id) cluster_.brokers[id] = {.epoch = id * 10, .fenced = false};
}

std::string Bench::run(const std::vector<std::string>& commands) {
    touched_.clear();
    std::string output;
    for (const std::string& command : commands) {
        try {
            output += run_command(command);
        } catch (const std::exception& error) {
            output += fmt::format("error: {}: {}\n", command, error.what());
        }
    }
    for (const std::string& name : touched_) {
        const Node& touched = nodes_.at(name);
        output += fmt::format("{}: {}", name, describe(*touched.partition));
        if (!touched.waiting.empty()) output += fmt::format(" waiting #{}", fmt::join(touched.waiting, " #"));
        output += "\n";
    }
    return output;
}

std::string Bench::run_command(const std::string& command) {
    using Handler = std::string (Bench::*)(CommandWords&);
    static const std::map<std::string, Handler> handlers = {
        {"new", &Bench::create},
        {"broker", &Bench::set_broker},
        {"registration", &Bench::registration},
        {"settings", &Bench::settings},
        {"append", &Bench::append},
        {"abandon", &Bench::abandon},
        {"advance", &Bench::advance},
        {"tick", &Bench::tick},
        {"fail-writes", &Bench::fail_writes},
        {"follower-fetch", &Bench::follower_fetch},
        {"fetch", &Bench::wired_fetch},
        {"deliver", &Bench::deliver},
        {"fetch-response", &Bench::fetch_response},
        {"consumer-fetch", &Bench::consumer_fetch},
        {"list-offset", &Bench::list_offset},
        {"proposal", &Bench::proposal},
        {"alter-partition-answer", &Bench::alter_partition_answer},
        {"state", &Bench::state},
    };
    CommandWords words(command);
    const auto handler = handlers.find(words.next());
    if (handler == handlers.end()) complain("no such command");
    const std::string output = (this->*handler->second)(words);
    if (!words.left_over().empty()) {
        complain(fmt::format("not understood: {}", fmt::join(words.left_over(), " ")));
    }
    std::string events;
    for (auto& [name, node] : nodes_) events += drain(name);
    return events + output;
}

/// The replica's disk takes nothing any more; "off" ends it.
std::string Bench::fail_writes(CommandWords& words) {
    Node& failing = touch(words);
    if (words.flag("off")) {
        failing.storage->fail_writes(nullptr);
    } else {
        failing.storage->fail_writes(
            [](const std::string&) { return std::optional<std::string>("disk full"); });
    }
    return "";
}

std::string Bench::settings(CommandWords& words) {
    Node& changed = touch(words);
    changed.partition->apply_settings(now_, static_cast<std::int32_t>(words.number("min-isr", 1)));
    return "";
}

std::string Bench::abandon(CommandWords& words) {
    Node& leader = touch(words);
    const auto ticket = static_cast<ProduceTicket>(words.number("ticket", 0));
    leader.waiting.erase(ticket);
    return leader.partition->abandon(ticket) ? "abandoned\n" : "not waiting\n";
}

std::string Bench::advance(CommandWords& words) {
    now_ = now_ + duration(words.next());
    return "";
}

std::string Bench::tick(CommandWords& words) {
    Node& leader = touch(words);
    now_ = now_ + duration(words.next("0s"));
    leader.partition->tick(now_);
    return "";
}

/// Takes what is to be sent; "retry": the last one again, as after a lost connection.
std::string Bench::proposal(CommandWords& words) {
    Node& leader = touch(words);
    if (words.flag("retry")) leader.partition->retry_proposal();
    const auto proposal = leader.partition->take_proposal();
    if (!proposal) return "none\n";
    leader.asked = proposal;
    return describe(*proposal) + "\n";
}

std::string Bench::state(CommandWords& words) {
    touch(words);
    return "";
}

Bench::Node& Bench::node(const std::string& name) {
    const auto found = nodes_.find(name);
    if (found == nodes_.end()) complain("there is no replica " + name);
    return found->second;
}

/// The replica the command names, whose state is then shown.
Bench::Node& Bench::touch(CommandWords& words) {
    const std::string name = words.next();
    Node& named = node(name);
    touched_.insert(name);
    return named;
}

std::string Bench::drain(const std::string& name) {
    Node& drained = nodes_.at(name);
    std::string output;
    for (const PartitionEvent& event : drained.partition->take_events()) {
        EXPECT_EQ(event.partition.to_string(), "t-0");
        const std::string text = describe(event.fact);
        if (!text.empty()) output += fmt::format("  {} {}\n", name, text);
        touched_.insert(name);
    }
    for (const FinishedProduce& produce : drained.partition->take_finished()) {
        EXPECT_EQ(drained.waiting.erase(produce.ticket), 1U)
            << "ticket " << produce.ticket << " finished twice";
        output += fmt::format("  ticket #{} done: {} base {}\n", produce.ticket,
                              wire::error_name(produce.error), produce.base_offset);
    }
    return output;
}

std::string Bench::create(CommandWords& words) {
    const std::string name = words.next();
    PartitionSettings settings;
    settings.self = id_of(name);
    settings.replica_lag_time_max = duration(words.get("lag", "10s"));
    settings.min_insync_replicas = static_cast<std::int32_t>(words.number("min-isr", 1));
    Result<Bugs> bugs = Bugs::parse(words.get("bugs"));
    if (!bugs) complain(bugs.error().message);
    settings.bugs = *bugs;
    auto storage = std::make_unique<MemoryStorage>();
    std::unique_ptr<PartitionLog> log = open_log(*storage, words.get("log"));
    for (std::int64_t i = words.number("old-records", 0); i > 0; --i) {
        Bytes batch = producer_batches(1);
        wire::set_offset_and_epoch(batch, 0, log->log_end_offset(), kNoEpoch);
        if (const auto appended = log->append_as_follower(batch); !appended)
            complain(appended.error().message);
    }
    Node& created = nodes_[name];
    created.partition =
        std::make_unique<Partition>(TopicIdPartition{.topic_id = {}, .topic = "t", .partition = 0}, settings,
                                    std::move(log), words.number("hw", 0), cluster_);
    created.storage = std::move(storage);
    touched_.insert(name);
    return "";
}

std::string Bench::set_broker(CommandWords& words) {
    BrokerView& broker = cluster_.brokers[std::stoi(words.next())];
    broker.epoch = words.number("epoch", broker.epoch);
    if (words.flag("fenced")) broker.fenced = true;
    if (words.flag("unfenced")) broker.fenced = false;
    if (words.flag("leaving")) broker.shutting_down = true;
    for (auto& [name, node] : nodes_) node.partition->cluster_changed(now_);
    return "";
}

std::string Bench::registration(CommandWords& words) {
    PartitionRegistration registration;
    registration.replicas = ids(words.get("replicas", "1,2,3"));
    registration.isr = ids(words.get("isr", "1,2,3"));
    registration.leader = static_cast<BrokerId>(words.number("leader", kNoBroker));
    registration.leader_epoch = static_cast<LeaderEpoch>(words.number("epoch", 0));
    registration.partition_epoch = static_cast<PartitionEpoch>(words.number("partition-epoch", 0));
    std::vector<std::string> names;
    for (std::string name = words.next(); !name.empty(); name = words.next()) names.push_back(name);
    for (const std::string& name : names) {
        node(name).partition->apply_registration(now_, registration);
        touched_.insert(name);
    }
    return "";
}

std::string Bench::append(CommandWords& words) {
    Node& leader = touch(words);
    const auto count = static_cast<int>(words.number("records", 1));
    const auto acks = static_cast<std::int16_t>(words.number("acks", -1));
    const ProducerId producer = words.number("producer", -1);
    const auto producer_epoch = static_cast<std::int16_t>(words.number("producer-epoch", 0));
    const auto sequence = static_cast<std::int32_t>(words.number("sequence", 0));
    const AppendOutcome outcome = leader.partition->append(
        now_, producer < 0 ? producer_batches(count) : idempotent_batch(producer, producer_epoch, sequence),
        acks);
    if (outcome.error != wire::ErrorCode::None) return fmt::format("{}\n", wire::error_name(outcome.error));
    if (!outcome.waiting) return fmt::format("base {}\n", outcome.base_offset);
    leader.waiting.insert(*outcome.waiting);
    return fmt::format("base {} ticket #{}\n", outcome.base_offset, *outcome.waiting);
}

std::string Bench::follower_fetch(CommandWords& words) {
    Node& leader = touch(words);
    FollowerFetch fetch;
    fetch.replica = static_cast<BrokerId>(words.number("replica", kNoBroker));
    const auto view = cluster_.broker(fetch.replica);
    fetch.broker_epoch = words.number("broker-epoch", view ? view->epoch : kUnknownBrokerEpoch);
    fetch.current_leader_epoch = static_cast<LeaderEpoch>(words.number("epoch", kNoEpoch));
    fetch.fetch_offset = words.number("offset", 0);
    fetch.last_fetched_epoch = static_cast<LeaderEpoch>(words.number("last-epoch", kNoEpoch));
    fetch.max_bytes = 1'000'000;
    return describe(leader.partition->fetch_for_follower(now_, fetch, !words.flag("again"))) + "\n";
}

/// fetch B: B asks its leader and applies the answer. "hold": the answer waits for "deliver B"; "lost": it
/// never comes.
std::string Bench::wired_fetch(CommandWords& words) {
    const std::string name = words.next();
    Node& follower = node(name);
    touched_.insert(name);
    const std::optional<FetchPosition> position = follower.partition->fetch_position();
    if (!position) return "has no one to fetch from\n";
    const std::string leader_name(1, static_cast<char>('A' + position->leader - 1));
    touched_.insert(leader_name);
    const FollowerFetch fetch{.replica = id_of(name),
                              .broker_epoch = cluster_.brokers.at(id_of(name)).epoch,
                              .current_leader_epoch = position->leader_epoch,
                              .fetch_offset = position->fetch_offset,
                              .last_fetched_epoch = position->last_fetched_epoch,
                              .log_start_offset = position->log_start_offset,
                              .max_bytes = 1'000'000};
    const FetchAnswer answer = node(leader_name).partition->fetch_for_follower(now_, fetch);
    std::string output = drain(leader_name);
    output += fmt::format("{} -> {}: fetch {} last epoch {}: {}\n", name, leader_name, fetch.fetch_offset,
                          fetch.last_fetched_epoch, describe(answer));
    if (words.flag("lost")) return output;
    if (words.flag("hold")) {
        follower.held_position = position;
        follower.held_answer = answer;
        return output;
    }
    const std::string backing_off = apply_response(follower, *position, answer);
    return output + drain(name) + backing_off;
}

std::string Bench::deliver(CommandWords& words) {
    Node& follower = touch(words);
    if (!follower.held_position) complain("nothing is held");
    const FetchPosition position = *follower.held_position;
    follower.held_position.reset();
    return apply_response(follower, position, follower.held_answer);
}

std::string Bench::apply_response(Node& follower, const FetchPosition& asked, const FetchAnswer& answer) {
    return follower.partition->apply_fetch_response(now_, asked, answer) ? "" : "backs off\n";
}

/// A made-up answer to what the replica would ask now, or would have asked at another offset or epoch.
std::string Bench::fetch_response(CommandWords& words) {
    Node& follower = touch(words);
    std::optional<FetchPosition> asked = follower.partition->fetch_position();
    if (!asked) return "has no one to fetch from\n";
    asked->fetch_offset = words.number("offset", asked->fetch_offset);
    asked->leader_epoch = static_cast<LeaderEpoch>(words.number("epoch", asked->leader_epoch));
    FetchAnswer answer;
    const std::string error = words.get("error");
    if (!error.empty()) answer.error = error_code(error);
    answer.high_watermark = words.number("hw", 0);
    answer.log_start_offset = 0;
    if (const std::string diverging = words.get("diverging"); !diverging.empty()) {
        const std::vector<std::string> pair = split(diverging, '@');
        answer.diverging = {.offset = std::stoll(pair.at(1)), .epoch = std::stoi(pair.at(0))};
    }
    if (const std::string records = words.get("records"); !records.empty()) {
        // A leader's log that agrees in length with the asker's, then has these records.
        MemoryStorage storage;
        const std::unique_ptr<PartitionLog> log =
            open_log(storage, fmt::format("0x{},{}", asked->fetch_offset, records));
        answer.records = log->read(asked->fetch_offset, log->log_end_offset(), 1'000'000).value();
    }
    return apply_response(follower, *asked, answer);
}

std::string Bench::consumer_fetch(CommandWords& words) {
    Node& asked = touch(words);
    const ConsumerFetch fetch{
        .current_leader_epoch = static_cast<LeaderEpoch>(words.number("epoch", kNoEpoch)),
        .fetch_offset = words.number("offset", 0),
        .max_bytes = 1'000'000};
    return describe(asked.partition->fetch_for_consumer(now_, fetch)) + "\n";
}

std::string Bench::list_offset(CommandWords& words) {
    const Node& asked = touch(words);
    const std::string what = words.next();
    if (what != "latest" && what != "earliest" && what != "log-end")
        complain("latest, earliest or log-end expected");
    const auto epoch = static_cast<LeaderEpoch>(words.number("epoch", kNoEpoch));
    const auto listed =
        asked.partition->list_offset(what == "earliest" ? -2 : -1, what == "log-end" ? -2 : -1, epoch);
    if (listed.error != wire::ErrorCode::None) return fmt::format("{}\n", wire::error_name(listed.error));
    return fmt::format("{} {} of epoch {}\n", what, listed.offset, listed.leader_epoch);
}

/// Answers the last proposal: "ok" commits it with the next partition epoch, error=NAME refuses it.
std::string Bench::alter_partition_answer(CommandWords& words) {
    Node& leader = touch(words);
    if (auto proposal = leader.partition->take_proposal()) leader.asked = std::move(proposal);
    if (!leader.asked) complain("nothing was proposed");
    AlterPartitionAnswer answer;
    if (!words.flag("ok")) {
        answer.error = error_code(words.get("error"));
    } else {
        answer.leader = id_of("A");
        answer.leader_epoch = static_cast<LeaderEpoch>(words.number("epoch", leader.asked->leader_epoch));
        answer.partition_epoch =
            static_cast<PartitionEpoch>(words.number("partition-epoch", leader.asked->partition_epoch + 1));
        for (const auto& member : leader.asked->isr) answer.isr.push_back(member.id);
    }
    leader.partition->apply_alter_partition_answer(now_, *leader.asked, answer);
    return "";
}

}  // namespace highwater::node
