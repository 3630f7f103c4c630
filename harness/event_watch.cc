#include "harness/event_watch.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

namespace highwater::harness {
namespace {

std::string text_of(const nlohmann::json& value) {
    return value.is_string() ? value.get<std::string>() : value.dump();
}

std::string key_of(const TraceQuery& query, Instant since) {
    std::string key = fmt::format("trace {} {}", since.ns, query.kind);
    for (const auto& [field, value] : query.fields) key += fmt::format(" {}={}", field, value);
    return key;
}

}  // namespace

LineCounter LineCounter::from_now(std::string path) {
    std::error_code error;
    const std::uintmax_t size = std::filesystem::file_size(path, error);
    return LineCounter(std::move(path), error ? 0 : size);
}

std::int64_t LineCounter::count(const Matches& matches) {
    std::ifstream file(path_, std::ios::binary);
    if (!file) return count_;
    file.seekg(static_cast<std::streamoff>(offset_));
    for (std::string line; std::getline(file, line);) {
        if (file.eof()) break;  // its end is still to come
        offset_ += line.size() + 1;
        if (matches(line)) ++count_;
    }
    return count_;
}

bool trace_line_matches(const TraceQuery& query, Instant since, std::string_view line) {
    // Most lines are of another kind, and parsing is dear.
    if (line.find(fmt::format("\"{}\"", query.kind)) == std::string_view::npos) return false;
    const nlohmann::json json = nlohmann::json::parse(line, nullptr, false);
    if (!json.is_object() || json.value("e", "") != query.kind) return false;
    const auto at = json.find("t");
    if (at == json.end() || !at->is_number_integer() || at->get<std::int64_t>() < since.ns) return false;
    for (const auto& [field, value] : query.fields) {
        const auto found = json.find(field);
        if (found == json.end() || text_of(*found) != value) return false;
    }
    return true;
}

std::int64_t EventWatch::trace_lines(const TraceQuery& query, const std::vector<BrokerId>& of,
                                     Instant since) {
    Counters& counters = counters_[key_of(query, since)];
    std::int64_t total = 0;
    for (const BrokerId id : of) {
        for (const std::string& file : traces_(id)) {
            LineCounter& counter = counters.try_emplace(file, LineCounter::from_start(file)).first->second;
            total +=
                counter.count([&](std::string_view line) { return trace_line_matches(query, since, line); });
        }
    }
    return total;
}

std::int64_t EventWatch::log_lines(const LogQuery& query, const std::vector<BrokerId>& of, Instant since) {
    const std::string key = fmt::format("log {} {}", since.ns, query.text);
    if (!counters_.contains(key)) {
        // Who is meant may change; what each of them says from now on counts.
        for (const BrokerId id : processes_) {
            for (const std::string& file : logs_(id))
                counters_[key].emplace(file, LineCounter::from_now(file));
        }
    }
    Counters& counters = counters_[key];
    std::int64_t total = 0;
    for (const BrokerId id : of) {
        for (const std::string& file : logs_(id)) {
            LineCounter& counter = counters.try_emplace(file, LineCounter::from_start(file)).first->second;
            total += counter.count(
                [&](std::string_view line) { return line.find(query.text) != std::string_view::npos; });
        }
    }
    return total;
}

}  // namespace highwater::harness
