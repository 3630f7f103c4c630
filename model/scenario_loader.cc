// Scenario files: TOML (written by people) or JSON (written by machines) into a Scenario, every mistake named
// with file, line and key.
#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "base/assert.h"
#include "model/scenario.h"
#include "model/scenario_faults.h"
#include "model/scenario_validate.h"
#include "model/scenario_workload.h"
#include "model/toml_section.h"

namespace highwater {
namespace {

constexpr std::array kTopicConfigKeys = {std::string_view("min.insync.replicas"),
                                         std::string_view("unclean.leader.election.enable")};
// Kafka's keys that a scenario may set for all processes; the ones that name a process are the harness's.
constexpr std::array kClusterKeys = {std::string_view("broker.heartbeat.interval.ms"),
                                     std::string_view("broker.session.timeout.ms"),
                                     std::string_view("controlled.shutdown.enable"),
                                     std::string_view("default.replication.factor"),
                                     std::string_view("message.max.bytes"),
                                     std::string_view("num.partitions"),
                                     std::string_view("replica.fetch.backoff.ms"),
                                     std::string_view("replica.fetch.max.bytes"),
                                     std::string_view("replica.fetch.min.bytes"),
                                     std::string_view("replica.fetch.wait.max.ms"),
                                     std::string_view("replica.high.watermark.checkpoint.interval.ms"),
                                     std::string_view("replica.lag.time.max.ms"),
                                     std::string_view("unclean.leader.election.interval.ms"),
                                     std::string_view("auto.leader.rebalance.enable"),
                                     std::string_view("eligible.leader.replicas.version"),
                                     std::string_view("leader.imbalance.check.interval.seconds"),
                                     std::string_view("log.flush.interval.messages"),
                                     std::string_view("log.segment.bytes")};

constexpr std::array kBooleanKeys = {std::string_view("auto.leader.rebalance.enable"),
                                     std::string_view("controlled.shutdown.enable"),
                                     std::string_view("unclean.leader.election.enable")};

template <std::size_t N>
bool contains(const std::array<std::string_view, N>& keys, std::string_view key) {
    return std::find(keys.begin(), keys.end(), key) != keys.end();
}

// -- JSON as TOML
// ---------------------------------------------------------------------------------------------------

void insert_json(toml::table& into, const std::string& key, const nlohmann::json& value);

toml::array array_from_json(const nlohmann::json& json) {
    toml::array array;
    for (const nlohmann::json& item : json) {
        if (item.is_object()) {
            toml::table table;
            for (const auto& [key, value] : item.items()) insert_json(table, key, value);
            array.push_back(std::move(table));
        } else if (item.is_array()) {
            array.push_back(array_from_json(item));
        } else if (item.is_number_integer()) {
            array.push_back(item.get<std::int64_t>());
        } else if (item.is_string()) {
            array.push_back(item.get<std::string>());
        }
    }
    return array;
}

void insert_json(toml::table& into, const std::string& key, const nlohmann::json& value) {
    if (value.is_object()) {
        toml::table table;
        for (const auto& [name, member] : value.items()) insert_json(table, name, member);
        into.insert_or_assign(key, std::move(table));
    } else if (value.is_array()) {
        into.insert_or_assign(key, array_from_json(value));
    } else if (value.is_boolean()) {
        into.insert_or_assign(key, value.get<bool>());
    } else if (value.is_number_integer()) {
        into.insert_or_assign(key, value.get<std::int64_t>());
    } else if (value.is_number()) {
        into.insert_or_assign(key, value.get<double>());
    } else if (value.is_string()) {
        into.insert_or_assign(key, value.get<std::string>());
    }
}

Result<toml::table> parse_document(std::string_view text, const std::string& file) {
    const std::size_t first = text.find_first_not_of(" \t\r\n");
    if (first != std::string_view::npos && text[first] == '{') {
        try {
            const nlohmann::json json = nlohmann::json::parse(text);
            toml::table table;
            for (const auto& [key, value] : json.items()) insert_json(table, key, value);
            return table;
        } catch (const nlohmann::json::exception& error) {
            return failure(fmt::format("{}: {}", file, error.what()));
        }
    }
    try {
        return toml::parse(text, file);
    } catch (const toml::parse_error& error) {
        return failure(fmt::format("{}:{}:{}: {}", file, error.source().begin.line,
                                   error.source().begin.column, error.description()));
    }
}

/// Kafka's dotted keys are nested tables to TOML: {broker: {session: …}} -> "broker.session…".
/// Values are moved: a copy forgets its line.
void flatten_into(toml::table& into, const std::string& prefix, toml::table& from) {
    for (auto&& [key, node] : from) {
        const std::string name =
            prefix.empty() ? std::string(key.str()) : prefix + "." + std::string(key.str());
        if (toml::table* nested = node.as_table()) {
            flatten_into(into, name, *nested);
        } else {
            node.visit([&](auto& value) { into.insert_or_assign(name, std::move(value)); });
        }
    }
}

void flatten_section(toml::table& root, std::string_view section) {
    if (toml::table* table = root[section].as_table()) {
        toml::table flat;
        flatten_into(flat, "", *table);
        root.insert_or_assign(section, std::move(flat));
    }
}

// -- settings
// -------------------------------------------------------------------------------------------------------

void assign_setting(toml::table& table, const std::string& key, const std::string& value) {
    if (value == "true" || value == "false") {
        table.insert_or_assign(key, value == "true");
        return;
    }
    std::int64_t number = 0;
    const auto [end, status] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (status == std::errc{} && end == value.data() + value.size()) {
        table.insert_or_assign(key, number);
    } else {
        table.insert_or_assign(key, value);
    }
}

toml::table& section_of(toml::table& root, std::string_view section) {
    if (root[section].as_table() == nullptr) root.insert_or_assign(section, toml::table{});
    return *root[section].as_table();
}

Status apply_to_array(toml::table& root, std::string_view section, std::string_view id,
                      const std::string& key, const Setting& setting) {
    toml::array* entries = root[section].as_array();
    bool applied = false;
    if (entries != nullptr) {
        for (toml::node& entry : *entries) {
            toml::table* table = entry.as_table();
            if (table == nullptr || (!id.empty() && (*table)["id"].value_or(std::string()) != id)) continue;
            assign_setting(*table, key, setting.value);
            applied = true;
        }
    }
    if (!applied)
        return failure(
            fmt::format("--set {}={}: the scenario has no such {}", setting.key, setting.value, section));
    return {};
}

Status apply_setting(toml::table& root, const Setting& setting) {
    const std::string& key = setting.key;
    const auto rest = [&](std::string_view prefix) { return key.substr(prefix.size()); };
    if (key.starts_with("workload.")) return apply_to_array(root, "workload", "", rest("workload."), setting);
    if (key.starts_with("mix.")) return apply_to_array(root, "mix", "", rest("mix."), setting);
    if (key.starts_with("fault.")) {
        const std::string tail = rest("fault.");
        const std::size_t dot = tail.rfind('.');
        if (dot != std::string::npos) {
            return apply_to_array(root, "fault", tail.substr(0, dot), tail.substr(dot + 1), setting);
        }
    }
    for (const std::string_view section : {"cluster", "topic", "heal", "expect"}) {
        const std::string prefix = std::string(section) + ".";
        if (key.starts_with(prefix)) {
            assign_setting(section_of(root, section), rest(prefix), setting.value);
            return {};
        }
    }
    if (contains(kTopicConfigKeys, key)) {
        assign_setting(section_of(root, "topic"), key, setting.value);
    } else if (contains(kClusterKeys, key)) {
        assign_setting(section_of(root, "cluster"), key, setting.value);
    } else if (key == "linger") {
        assign_setting(root, key, setting.value);
    } else {
        return failure(fmt::format("--set {}={}: no scenario key is called {}", key, setting.value, key));
    }
    return {};
}

// -- reading
// --------------------------------------------------------------------------------------------------------

class Loader {
public:
    Loader(std::string file, const toml::table& root) : file_(std::move(file)), root_(root) {}

    Result<Scenario> load() {
        Section top(file_, "", root_);
        top.take("name", scenario_.name);
        top.take("title", scenario_.title);
        top.take_strings("sut", scenario_.suts);
        for (const std::string& sut : scenario_.suts) {
            if (sut != "node" && sut != "kafka")
                top.fail("sut", fmt::format("has '{}', neither node nor kafka", sut));
        }
        top.take_duration("linger", scenario_.linger);
        if (scenario_.name.empty()) top.fail("name", "is missing");
        read_table(top, "cluster", [this](Section& s) { cluster(s); });
        read_table(top, "topic", [this](Section& s) { topic(s); });
        read_array(top, "workload",
                   [this](Section& s, std::size_t) { scenario_.workloads.push_back(read_workload(s)); });
        read_array(top, "fault", [this](Section& s, std::size_t index) { fault(s, index); });
        read_array(top, "mix",
                   [this](Section& s, std::size_t index) { scenario_.mixes.push_back(read_mix(s, index)); });
        // Of a written schedule: what made it, and what became of it. Neither is asked for again.
        for (const char* key : {"scenario", "seed", "faults"}) top.find(key);
        read_table(top, "heal", [this](Section& s) { heal(s); });
        read_table(top, "expect", [this](Section& s) { expect(s); });
        read_table(top, "compare", [this](Section& s) { compare(s); });
        if (const Status end = top.finish(); !end) return tl::make_unexpected(end.error());
        if (!status_) return tl::make_unexpected(status_.error());
        if (scenario_.topic.assignment.empty()) {
            std::vector<BrokerId> all;
            for (BrokerId id = 1; id <= std::min(3, scenario_.cluster.brokers); ++id) all.push_back(id);
            scenario_.topic.assignment.push_back(std::move(all));
        }
        // The topic is created with what it would inherit, so that the run is judged by what the brokers do.
        for (const std::string_view key : kTopicConfigKeys) {
            const auto inherited = scenario_.cluster.properties.find(std::string(key));
            if (inherited != scenario_.cluster.properties.end()) scenario_.topic.configs.insert(*inherited);
        }
        if (const Status whole = validate_scenario(scenario_, file_); !whole)
            return tl::make_unexpected(whole.error());
        return std::move(scenario_);
    }

private:
    template <class Read>
    void read_table(Section& top, std::string_view key, Read read) {
        const toml::node* node = top.find(key);
        if (node == nullptr) return;
        const toml::table* table = node->as_table();
        if (table == nullptr) return top.fail(key, "is no table");
        Section section(file_, std::string(key), *table);
        read(section);
        keep(section.finish());
    }
    template <class Read>
    void read_array(Section& top, std::string_view key, Read read) {
        const toml::node* node = top.find(key);
        if (node == nullptr) return;
        const toml::array* array = node->as_array();
        if (array == nullptr) return top.fail(key, fmt::format("is no array of tables: write [[{}]]", key));
        std::size_t index = 0;
        for (const toml::node& item : *array) {
            const toml::table* table = item.as_table();
            if (table == nullptr)
                return top.fail(key, fmt::format("is no array of tables: write [[{}]]", key));
            Section section(file_, std::string(key), *table);
            read(section, ++index);
            keep(section.finish());
        }
    }
    void keep(Status status) {
        if (status_ && !status) status_ = std::move(status);
    }

    void cluster(Section& section) {
        section.take_int("brokers", scenario_.cluster.brokers, 1, 99);
        section.take_int("controllers", scenario_.cluster.controllers, 1, 5);
        section.take_strings("command", scenario_.cluster.command);
        for (const std::string_view key : kClusterKeys)
            take_property(section, key, scenario_.cluster.properties);
        // Topic keys here are the cluster's defaults.
        for (const std::string_view key : kTopicConfigKeys)
            take_property(section, key, scenario_.cluster.properties);
    }

    void topic(Section& section) {
        section.take("name", scenario_.topic.name);
        for (const std::string_view key : kTopicConfigKeys)
            take_property(section, key, scenario_.topic.configs);
        const toml::node* node = section.find("assignment");
        if (node == nullptr) return;
        const toml::array* array = node->as_array();
        if (array == nullptr || array->empty())
            return section.fail("assignment", "is no array of broker ids");
        if (array->front().is_array()) {
            for (const toml::node& partition : *array) add_partition(section, partition.as_array());
        } else {
            add_partition(section, array);
        }
    }
    /// One of Kafka's keys. What Kafka would refuse is told here, before a cluster starts with it.
    static void take_property(Section& section, std::string_view key,
                              std::map<std::string, std::string>& into) {
        const auto text = section.take_text(key);
        if (!text) return;
        if (contains(kBooleanKeys, key)) {
            if (*text != "true" && *text != "false")
                return section.fail(key, fmt::format("is '{}', not true or false", *text));
        } else {
            std::int32_t number = -1;
            const std::int32_t least =
                key.starts_with("replica.fetch.") || key.starts_with("eligible.") ? 0 : 1;
            const auto [end, status] = std::from_chars(text->data(), text->data() + text->size(), number);
            if (status != std::errc{} || end != text->data() + text->size()) {
                return section.fail(key, fmt::format("is '{}', no whole number", *text));
            }
            if (number < least)
                return section.fail(key, fmt::format("is {}, must be at least {}", number, least));
        }
        into[std::string(key)] = *text;
    }
    void add_partition(Section& section, const toml::array* replicas) {
        std::vector<BrokerId> ids;
        if (replicas != nullptr) {
            for (const toml::node& item : *replicas) {
                const auto id = item.value_exact<std::int64_t>();
                if (!id || *id < 1 || *id > 99)
                    return section.fail("assignment", "is no array of broker ids (1 to 99)");
                ids.push_back(static_cast<BrokerId>(*id));
            }
        }
        if (ids.empty()) return section.fail("assignment", "is no array of broker ids");
        scenario_.topic.assignment.push_back(std::move(ids));
    }

    void fault(Section& section, std::size_t index) {
        std::vector<FaultSpec> specs = read_fault(section, index);
        std::move(specs.begin(), specs.end(), std::back_inserter(scenario_.faults));
    }

    void heal(Section& section) {
        std::string restart = "all";
        section.take("restart", restart);
        if (restart != "all" && restart != "none")
            section.fail("restart", fmt::format("is '{}', not all or none", restart));
        scenario_.heal.restart_all = restart == "all";
        section.take_duration("progress_within", scenario_.heal.progress_within);
    }
    void expect(Section& section) {
        section.take_strings("sometimes", scenario_.expect.sometimes);
        section.take_strings("never", scenario_.expect.never);
        // expect.verdict = "invalid" is for every cluster, expect.verdict.kafka = "invalid" for that one.
        const toml::node* node = section.find("verdict");
        if (node == nullptr) return;
        const auto keep = [&](const std::string& sut, const toml::node& value) {
            const auto text = value.value_exact<std::string>();
            if (text != "valid" && text != "invalid" && text != "unknown")
                return section.fail("verdict", "is not valid, invalid or unknown");
            scenario_.expect.verdict[sut] = *text;
        };
        const toml::table* table = node->as_table();
        if (table == nullptr) return keep("", *node);
        for (const auto& [sut, value] : *table) {
            if (sut.str() != "node" && sut.str() != "kafka")
                return section.fail("verdict",
                                    fmt::format("names '{}', not node or kafka", std::string(sut.str())));
            keep(std::string(sut.str()), value);
        }
    }
    void compare(Section& section) {
        const toml::node* node = section.find("expect");
        if (node == nullptr) return;
        const toml::table* table = node->as_table();
        if (table == nullptr) return section.fail("expect", "is no table");
        for (const auto& [side, value] : *table) {
            const auto text = value.value_exact<std::string>();
            auto expectation = text ? parse_expectation(*text) : Result<Expectation>(failure("is no string"));
            if (!expectation) {
                section.fail("expect",
                             fmt::format("\"{}\": {}", std::string(side.str()), expectation.error().message));
                return;
            }
            scenario_.compare_expect.emplace_back(std::string(side.str()), *expectation);
        }
    }

    std::string file_;
    const toml::table& root_;
    Scenario scenario_;
    Status status_;
};

}  // namespace

Result<Scenario> parse_scenario(std::string_view text, const std::string& file_name,
                                const std::vector<Setting>& settings) {
    auto document = parse_document(text, file_name);
    if (!document) return tl::make_unexpected(document.error());
    flatten_section(*document, "cluster");
    flatten_section(*document, "topic");
    for (const Setting& setting : settings) {
        if (const Status applied = apply_setting(*document, setting); !applied)
            return tl::make_unexpected(applied.error());
    }
    return Loader(file_name, *document).load();
}

Result<std::vector<FaultSpec>> parse_faults(std::string_view text, const std::string& file_name) {
    const auto document = parse_document(text, file_name);
    if (!document) return tl::make_unexpected(document.error());
    std::vector<FaultSpec> faults;
    const toml::array* array = document->get_as<toml::array>("fault");
    HW_ASSERT(array != nullptr, "{} has no [[fault]]", file_name);
    for (const toml::node& item : *array) {
        Section section(file_name, "fault", *item.as_table());
        std::vector<FaultSpec> read = read_fault(section, faults.size() + 1);
        if (const Status end = section.finish(); !end) return tl::make_unexpected(end.error());
        std::move(read.begin(), read.end(), std::back_inserter(faults));
    }
    return faults;
}

Result<Scenario> load_scenario(const std::string& path, const std::vector<Setting>& settings) {
    std::ifstream file(path);
    if (!file) return failure(fmt::format("{}: no such scenario file", path));
    std::stringstream text;
    text << file.rdbuf();
    if (file.bad()) return failure(fmt::format("{}: cannot be read", path));
    return parse_scenario(text.str(), path, settings);
}

}  // namespace highwater
