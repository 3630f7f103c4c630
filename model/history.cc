// Names and the written form of the history (format highwater/1). Reading is history_reader.cc.
#include "model/history.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/overloaded.h"
#include "model/json_text.h"

namespace highwater {
namespace {

/// One JSON object, member by member. Unknown facts are simply not written.
class Members {
public:
    void raw(std::string_view key, std::string_view json) {
        text_ += fmt::format("{}\"{}\":{}", text_.empty() ? "" : ",", key, json);
    }
    void text(std::string_view key, std::string_view value) { raw(key, json_quoted(value)); }
    void text_if(std::string_view key, std::string_view value) {
        if (!value.empty()) text(key, value);
    }
    void number(std::string_view key, std::int64_t value) { raw(key, fmt::format("{}", value)); }
    void known(std::string_view key, std::int64_t value) {
        if (value >= 0) number(key, value);
    }
    void flag(std::string_view key, bool value) { raw(key, value ? "true" : "false"); }
    void flag_if(std::string_view key, bool value) {
        if (value) flag(key, true);
    }
    void append(std::string_view members) {
        if (members.empty()) return;
        if (!text_.empty()) text_ += ',';
        text_ += members;
    }
    [[nodiscard]] std::string object() const { return "{" + text_ + "}"; }

private:
    std::string text_;
};

std::string id_list(const std::vector<BrokerId>& ids) { return fmt::format("[{}]", fmt::join(ids, ",")); }

void write(Members& members, const Produce& produce) {
    members.text("op", "produce");
    members.number("partition", produce.partition);
    members.number("value", produce.value);
    members.text("status", outcome_name(produce.status));
    members.known("offset", produce.offset);
    if (produce.acks) members.number("acks", *produce.acks);
    members.text_if("error", produce.error.view());
    if (produce.sequence) members.number("seq", *produce.sequence);
    members.known("broker", produce.broker);
}

void write(Members& members, const Poll& poll) {
    members.text("op", "poll");
    members.number("partition", poll.partition);
    members.text("status", outcome_name(poll.status));
    std::string records = "[";
    for (const ReadRecord& record : poll.records) {
        records += fmt::format("{}[{},{}]", records.size() > 1 ? "," : "", record.offset, record.value);
    }
    members.raw("records", records + "]");
    members.known("from", poll.from);
    members.known("hw", poll.high_watermark);
    members.known("log_start", poll.log_start);
    members.known("lso", poll.last_stable_offset);
    members.text_if("isolation", poll.isolation.view());
    members.text_if("error", poll.error.view());
    members.known("broker", poll.broker);
    members.flag_if("follower", poll.from_follower);
    members.flag_if("final", poll.final);
    members.flag_if("complete", poll.complete);
}

void write(Members& members, const ListOffsets& list) {
    members.text("op", "list_offsets");
    members.number("partition", list.partition);
    members.text("which", list.which);
    members.text("status", outcome_name(list.status));
    members.known("offset", list.offset);
    if (list.epoch) members.number("epoch", *list.epoch);
    members.text_if("error", list.error);
    members.known("broker", list.broker);
}

void write(Members& members, const Observe& observe) {
    members.text("op", "observe");
    members.number("partition", observe.partition);
    if (observe.leader) members.number("leader", *observe.leader);
    if (observe.epoch) members.number("epoch", *observe.epoch);
    if (observe.isr) members.raw("isr", id_list(*observe.isr));
    if (observe.replicas) members.raw("replicas", id_list(*observe.replicas));
    if (observe.unclean) members.flag("unclean", *observe.unclean);
    if (observe.config_min_isr)
        members.raw("config", fmt::format("{{\"min_isr\":{}}}", *observe.config_min_isr));
    members.known("log_start", observe.log_start);
    members.known("broker", observe.broker);
    members.flag_if("sampled", observe.sampled);
}

void write(Members& members, const FaultOp& fault) {
    members.text("op", "fault");
    members.text("kind", fault.kind);
    members.text_if("target", fault.target);
    members.text_if("id", fault.id);
    members.text("status", fault.status);
    members.text_if("detail", fault.detail);
    if (fault.paths.empty()) return;
    std::string pairs;
    for (const auto& [source, destination] : fault.paths) {
        pairs += fmt::format("{}[{},{}]", pairs.empty() ? "" : ",", source, destination);
    }
    members.raw("pairs", "[" + pairs + "]");
}

void write(Members& members, const Probe& probe) {
    members.text("op", "probe");
    members.flag("ok", probe.ok);
    members.text_if("detail", probe.detail);
    members.known("src", probe.source);
    members.known("dst", probe.destination);
}

void write(Members& members, const OtherOp& other) {
    members.text("op", other.op);
    members.append(other.json);
}

template <class T>
void write(Members& members, const Rare<T>& rare) {
    write(members, *rare);
}

}  // namespace

std::string value_text(Value value) {
    constexpr std::int64_t numbers = (std::int64_t{1} << 40) - 1;
    // Values of foreign histories are plain numbers: no producer in the upper bits.
    if (value < 0 || value >> 40 == 0) return fmt::format("{}", value);
    return fmt::format("p{}-{}", value >> 40, value & numbers);
}

std::string_view outcome_name(Outcome outcome) {
    switch (outcome) {
        case Outcome::Ok:
            return "ok";
        case Outcome::Fail:
            return "fail";
        case Outcome::Info:
            return "info";
    }
    return "?";
}

std::int32_t History::client_index(std::string_view name) {
    for (std::size_t i = 0; i < clients.size(); ++i) {
        if (clients[i] == name) return static_cast<std::int32_t>(i);
    }
    clients.emplace_back(name);
    return static_cast<std::int32_t>(clients.size() - 1);
}

std::string format_meta(const HistoryMeta& meta) {
    Members members;
    members.text("case", meta.case_name);
    members.text("fmt", meta.format);
    members.text("kind", meta.kind);
    members.text_if("run_id", meta.run_id);
    members.text("broker", meta.broker);
    members.number("rf", meta.replication_factor);
    members.number("min_isr", meta.min_isr);
    members.text("acks", meta.acks);
    members.flag("unclean", meta.unclean);
    members.flag_if("elr", meta.elr);
    members.flag("idempotence", meta.idempotence);
    members.number("retries", meta.retries);
    members.number("max_in_flight", meta.max_in_flight);
    members.text("isolation", meta.isolation);
    members.text("consumer", meta.consumer);
    members.text("offset_report", meta.offset_report);
    members.text_if("reads", meta.reads);
    members.text_if("needs", meta.needs);
    if (!meta.preexisting_values.empty()) {
        members.raw("preexisting", fmt::format("[{}]", fmt::join(meta.preexisting_values, ",")));
    } else {
        members.flag_if("preexisting", meta.preexisting);
    }
    members.flag_if("retention", meta.retention);
    if (meta.sample_limit) members.number("sample_limit", *meta.sample_limit);
    return fmt::format("{{\"meta\":{}}}", members.object());
}

std::string format_operation(const Operation& operation, std::string_view client) {
    Members members;
    if (operation.invoked != operation.completed) members.number("t0", operation.invoked.ns);
    members.number("t", operation.completed.ns);
    members.text_if("client", client);
    std::visit([&](const auto& what) { write(members, what); }, operation.what);
    return members.object();
}

}  // namespace highwater
