#include "node/broker/hosts.h"

#include <fmt/format.h>

#include <charconv>
#include <fstream>
#include <sstream>
#include <vector>

namespace highwater::node {
namespace {

std::vector<std::string> words_of(std::string_view line) {
    std::istringstream in{std::string(line.substr(0, line.find('#')))};
    std::vector<std::string> words;
    for (std::string word; in >> word;) words.push_back(word);
    return words;
}

}  // namespace

bool is_dotted_address(std::string_view text) {
    int parts = 0;
    while (true) {
        const std::size_t dot = text.find('.');
        const std::string_view part = text.substr(0, dot);
        unsigned value = 0;
        const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), value);
        if (error != std::errc{} || end != part.data() + part.size() || part.size() > 3 || value > 255)
            return false;
        ++parts;
        if (dot == std::string_view::npos) return parts == 4;
        text.remove_prefix(dot + 1);
    }
}

bool is_loopback_address(std::string_view dotted) {
    return is_dotted_address(dotted) && dotted.starts_with("127.");
}

Result<Hosts> Hosts::parse(std::string_view text, const std::string& file_name) {
    Hosts hosts;
    hosts.file_name_ = file_name;
    std::istringstream in{std::string(text)};
    int number = 0;
    for (std::string line; std::getline(in, line);) {
        ++number;
        const std::vector<std::string> words = words_of(line);
        if (words.empty()) continue;
        if (!is_dotted_address(words[0])) {
            return failure(fmt::format("{}:{}: \"{}\" is not an IPv4 address", file_name, number, words[0]));
        }
        if (words.size() == 1)
            return failure(fmt::format("{}:{}: no name after {}", file_name, number, words[0]));
        for (std::size_t i = 1; i < words.size(); ++i) {
            const auto [known, added] = hosts.addresses_.emplace(words[i], words[0]);
            if (!added && known->second != words[0]) {
                return failure(fmt::format("{}:{}: {} is both {} and {}", file_name, number, words[i],
                                           known->second, words[0]));
            }
        }
    }
    return hosts;
}

Result<Hosts> Hosts::load(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    std::ostringstream text;
    if (in) text << in.rdbuf();
    if (!in || in.bad()) return failure(fmt::format("hosts file {}: cannot read it", path));
    return parse(text.str(), path);
}

Result<std::string> Hosts::resolve(const std::string& name) const {
    if (is_dotted_address(name)) return name;
    if (const auto known = addresses_.find(name); known != addresses_.end()) return known->second;
    if (file_name_.empty())
        return failure(fmt::format("no address for \"{}\": highwater.hosts.file is not set", name));
    return failure(fmt::format("no address for \"{}\" in {}", name, file_name_));
}

}  // namespace highwater::node
