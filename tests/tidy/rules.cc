// One table of rooms, and one function for each rule.
#include "tests/tidy/rules.h"

#include <algorithm>
#include <map>
#include <regex>
#include <set>
#include <sstream>

namespace highwater::tidy {
namespace {

constexpr std::size_t kLinesMax = 600;

using Rooms = std::set<std::string>;

/// The table of docs/architecture.md: room -> rooms it may include. Itself is always allowed.
const std::map<std::string, Rooms>& table() {
    static const std::map<std::string, Rooms> rooms{
        {"base", {}},
        {"model", {"base"}},
        {"wire", {"base"}},
        {"node/log", {"base", "wire"}},
        {"node/replica", {"base", "wire", "node/log"}},
        {"node/controller", {"base", "wire", "node/log"}},
        {"node/group", {"base", "wire"}},
        {"node/server", {"base", "wire", "node/log", "node/replica", "node/controller", "node/group"}},
        {"node/trace", {"base", "wire", "node/log", "node/replica", "node/controller", "node/server"}},
        {"node/broker",
         {"base", "wire", "node/log", "node/replica", "node/controller", "node/server", "node/trace"}},
        {"nemesis", {"base", "model", "wire"}},
        {"workloads", {"base", "model", "wire"}},
        {"checker", {"base", "model"}},
        {"results", {"base", "model"}},
        // Of the node, only the names of its deliberate bugs.
        {"harness", {"node/log", "base", "model", "wire", "nemesis", "workloads", "checker", "results"}},
    };
    return rooms;
}

bool is_one_of(const std::string& room, std::initializer_list<std::string_view> rooms) {
    return std::find(rooms.begin(), rooms.end(), room) != rooms.end();
}

class FileCheck {
public:
    FileCheck(const std::string& path, std::string_view text) : path_(path), room_(room_of(path)) {
        std::istringstream in{std::string(text)};
        for (std::string line; std::getline(in, line);) lines_.push_back(line);
    }

    std::vector<std::string> run() {
        for (std::size_t i = 0; i < lines_.size(); ++i) {
            line_ = i + 1;
            check_include(lines_[i]);
            check_threads(lines_[i]);
            check_unfinished(lines_[i]);
        }
        if (is_header()) check_header();
        line_ = lines_.size();
        if (lines_.size() > kLinesMax) breach("more than 600 lines: split it by rule");
        return std::move(breaches_);
    }

private:
    void breach(const std::string& sentence) {
        breaches_.push_back(path_ + ":" + std::to_string(line_) + ": " + sentence);
    }
    [[nodiscard]] bool is_header() const { return path_.ends_with(".h"); }
    [[nodiscard]] bool is_room() const { return !room_.empty(); }

    void check_include(const std::string& line) {
        static const std::regex kInclude(R"(^\s*#\s*include\s*([<"])([^>"]+)[>"])");
        std::smatch found;
        if (!is_room() || line.find("include") == std::string::npos ||
            !std::regex_search(line, found, kInclude))
            return;
        const std::string name = found[2];
        if (found[1] == "\"") return check_edge(name);
        const bool sockets = name.starts_with("boost/") || name.starts_with("asio/") || name == "asio.hpp";
        // node/broker is the shell around the sockets, and nobody else includes its headers.
        const bool at_home =
            room_ == "node/broker" || (!is_header() && is_one_of(room_, {"nemesis", "harness"}));
        if (sockets && !at_home)
            breach("<" + name + "> belongs into node/broker and .cc files of nemesis and harness");
        if (name.starts_with("librdkafka/") && (is_header() || room_ != "workloads"))
            breach("<" + name + "> belongs into .cc files of workloads");
        const bool heavy = name.starts_with("nlohmann/") || name.starts_with("toml++/");
        if (heavy && is_header() && name != "nlohmann/json_fwd.hpp")
            breach("<" + name + "> belongs into .cc files");
    }
    void check_edge(const std::string& name) {
        const std::string used = room_of(name);
        if (used.empty()) return breach("\"" + name + "\" is in no room: includes start at the root");
        if (used != room_ && !table().at(room_).contains(used))
            breach(room_ + " may not use " + used + " (\"" + name + "\")");
    }

    /// Rooms of pure functions and sans-IO state machines: whoever calls them owns the threads.
    void check_threads(const std::string& line) {
        static const std::regex kThreads(
            R"(std::(jthread|thread|mutex|shared_mutex|recursive_mutex|condition_variable|async)\b|<(thread|mutex|shared_mutex|condition_variable|future)>)");
        const bool threadless = is_one_of(room_, {"model", "checker", "results"}) ||
                                (room_.starts_with("node/") && room_ != "node/broker");
        if (!threadless) return;
        const std::string code = line.substr(0, line.find("//"));
        std::smatch found;
        if (std::regex_search(code, found, kThreads)) breach(room_ + " has no threads: " + found.str());
    }

    void check_unfinished(const std::string& line) {
        // Spelled apart so that this file keeps its own rule.
        static const std::regex kUnfinished(
            "\\b(TO"
            "DO|FIX"
            "ME|X"
            "XX)\\b");
        // std::regex is slow; most lines have none of the letters.
        const bool perhaps = line.find("TO") != std::string::npos || line.find("FIX") != std::string::npos ||
                             line.find("XX") != std::string::npos;
        if (perhaps && std::regex_search(line, kUnfinished))
            breach("unfinished work is no comment: do it, or tell it elsewhere");
    }

    void check_header() {
        line_ = 1;
        if (lines_.empty() || !lines_.front().starts_with("//"))
            breach("a header starts with a comment that says its job");
        const bool once = std::find(lines_.begin(), lines_.end(), "#pragma once") != lines_.end();
        if (!once) breach("no #pragma once");
    }

    std::string path_;
    std::string room_;
    std::vector<std::string> lines_;
    std::size_t line_ = 0;
    std::vector<std::string> breaches_;
};

}  // namespace

std::string room_of(std::string_view path) {
    if (path == "node/bugs.def") return "node/log";
    for (const auto& [room, uses] : table()) {
        if (path.starts_with(room + "/")) return room;
    }
    return "";
}

std::vector<std::string> check_file(const std::string& path, std::string_view text) {
    return FileCheck(path, text).run();
}

}  // namespace highwater::tidy
