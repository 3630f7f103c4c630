// Reads the arguments of passed(…), held(…), trace(…) and log(…).
#include "model/event_query.h"

#include <fmt/format.h>

#include <sstream>

#include "model/fault.h"
#include "model/trace.h"

namespace highwater {
namespace {

std::string_view trimmed(std::string_view text) {
    while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
    while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
    return text;
}

std::vector<std::string> words_of(std::string_view text) {
    std::istringstream in{std::string(text)};
    std::vector<std::string> words;
    for (std::string word; in >> word;) words.push_back(word);
    return words;
}

}  // namespace

Result<FrameQuery> parse_frame_query(std::string_view text) {
    FrameQuery query;
    std::vector<std::string> words = words_of(text);
    if (words.empty()) return failure("expected an API, as in passed(Fetch response leader->id:3)");
    query.api = words[0];
    std::size_t next = 1;
    if (words.size() > next && (words[next] == "request" || words[next] == "response")) {
        query.part = words[next] == "request" ? FramePart::Request : FramePart::Response;
        ++next;
    }
    std::string path;
    for (; next < words.size(); ++next) path += words[next];
    auto ends = parse_path(path);
    if (!ends) return tl::make_unexpected(ends.error());
    query.source = ends->source.to_string();
    query.destination = ends->destination.to_string();
    return query;
}

Result<TraceQuery> parse_trace_query(std::string_view text) {
    TraceQuery query;
    const std::vector<std::string> words = words_of(text);
    if (words.empty()) return failure("expected a kind of trace line, as in trace(isr-committed at leader)");
    query.kind = words[0];
    if (!parse_trace_kind(query.kind))
        return failure(fmt::format("no trace line has the kind '{}'", query.kind));
    std::size_t next = 1;
    if (words.size() > 2 && words[1] == "at") {
        auto role = parse_role(words[2]);
        if (!role) return tl::make_unexpected(role.error());
        query.at = words[2];
        next = 3;
    }
    for (; next < words.size(); ++next) {
        const std::size_t equals = words[next].find('=');
        if (equals == 0 || equals == std::string::npos)
            return failure(fmt::format("'{}' is not field=value", words[next]));
        query.fields.emplace_back(words[next].substr(0, equals), words[next].substr(equals + 1));
    }
    return query;
}

Result<LogQuery> parse_log_query(std::string_view text) {
    LogQuery query;
    const std::size_t tilde = text.find('~');
    if (tilde == std::string_view::npos) return failure("expected a role, '~' and a text in quotes");
    query.role = trimmed(text.substr(0, tilde));
    if (auto role = parse_role(query.role); !role) return tl::make_unexpected(role.error());
    const std::string_view quoted = trimmed(text.substr(tilde + 1));
    const bool whole = quoted.size() > 2 && (quoted.front() == '"' || quoted.front() == '\'') &&
                       quoted.back() == quoted.front();
    if (!whole) return failure("expected a text in quotes after '~'");
    query.text = quoted.substr(1, quoted.size() - 2);
    return query;
}

}  // namespace highwater
