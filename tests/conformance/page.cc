#include "tests/conformance/page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>

#include "base/assert.h"

namespace highwater::test {
namespace {

constexpr const char* kPath = HW_SOURCE_DIR "/docs/conformance.md";
constexpr std::string_view kRequests = "| client | requests and their versions |\n|---|---|\n";
constexpr std::string_view kOperations =
    "| client | operation | highwater-node | ms | Kafka 4.3.1 | ms |\n|---|---|---|--:|---|--:|\n";

std::string trimmed(const std::string& text) {
    const std::size_t begin = text.find_first_not_of(' ');
    if (begin == std::string::npos) return "";
    return text.substr(begin, text.find_last_not_of(' ') + 1 - begin);
}

using Cells = std::vector<std::string>;

Cells cells_of(const std::string& line) {
    Cells cells;
    std::istringstream in(line.substr(1));
    for (std::string cell; std::getline(in, cell, '|');) cells.push_back(trimmed(cell));
    return cells;
}

/// Splits `rest` at the table with this head: what stands up to it and its head, its rows, and what follows.
std::vector<Cells> cut_table(std::string& rest, std::string_view head, std::size_t columns,
                             std::string& before) {
    const std::size_t found = rest.find(head);
    HW_ASSERT(found != std::string::npos, "{} lacks the table {}", kPath, head);
    before = rest.substr(0, found + head.size());
    std::vector<Cells> rows;
    std::size_t at = before.size();
    while (at < rest.size() && rest[at] == '|') {
        const std::size_t end = rest.find('\n', at);
        rows.push_back(cells_of(rest.substr(at, end - at)));
        HW_ASSERT(rows.back().size() == columns, "{}", rest.substr(at, end - at));
        at = end + 1;
    }
    rest.erase(0, at);
    return rows;
}

std::int64_t number(const std::string& text) { return text.empty() ? 0 : std::stoll(text); }

std::string cell_text(const Page::Cell& cell) {
    return fmt::format(" {} | {} |", cell.result,
                       cell.result.empty() ? "" : std::to_string(cell.milliseconds));
}

std::size_t place_of(const std::string& client) {
    const auto& names = client_names();
    return static_cast<std::size_t>(std::find(names.begin(), names.end(), client) - names.begin());
}

}  // namespace

Page Page::load() {
    std::string rest = read_file(kPath);
    Page page;
    page.text_.resize(3);
    for (const Cells& cells : cut_table(rest, kRequests, 2, page.text_[0]))
        page.requests_[cells[0]] = cells[1];
    for (const Cells& cells : cut_table(rest, kOperations, 6, page.text_[1])) {
        page.rows_.push_back(
            {cells[0], cells[1], {cells[2], number(cells[3])}, {cells[4], number(cells[5])}});
    }
    page.text_[2] = rest;
    return page;
}

bool Page::rewriting() { return std::getenv("HIGHWATER_REWRITE") != nullptr; }

std::vector<std::string> Page::operations(const std::string& client, Sut sut) const {
    std::vector<std::string> names;
    for (const Row& row : rows_) {
        if (row.client == client && !row.of(sut).result.empty()) names.push_back(row.operation);
    }
    std::sort(names.begin(), names.end());
    return names;
}

void Page::set(const std::string& client, Sut sut, const std::vector<OperationRun>& run) {
    auto after = rows_.end();
    for (const OperationRun& operation : run) {
        auto row = std::find_if(rows_.begin(), rows_.end(), [&](const Row& each) {
            return each.client == client && each.operation == operation.name;
        });
        if (row == rows_.end()) {
            // After the one that ran before it, or the clients before it.
            if (after == rows_.end()) {
                after = std::find_if(rows_.begin(), rows_.end(), [&](const Row& each) {
                    return place_of(each.client) >= place_of(client);
                });
            }
            row = rows_.insert(after, Row{client, operation.name, {}, {}});
        }
        row->of(sut) = {operation.result, operation.milliseconds};
        after = std::next(row);
    }
}

std::string Page::requests(const std::string& client) const {
    const auto found = requests_.find(client);
    return found == requests_.end() ? "" : found->second;
}

void Page::save() const {
    std::string text = text_[0];
    for (const std::string& client : client_names()) {
        if (requests_.contains(client)) text += fmt::format("| {} | {} |\n", client, requests_.at(client));
    }
    text += text_[1];
    for (const Row& row : rows_) {
        text += fmt::format("| {} | {} |{}{}\n", row.client, row.operation, cell_text(row.node),
                            cell_text(row.kafka));
    }
    write_file(kPath, text + text_[2]);
}

}  // namespace highwater::test
