// docs/conformance.md as the tests read it, and write it with HIGHWATER_REWRITE=1.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tests/conformance/client_run.h"

namespace highwater::test {

class Page {
public:
    struct Cell {
        /// "ok"; "": not run.
        std::string result;
        std::int64_t milliseconds = 0;
    };
    struct Row {
        std::string client;
        std::string operation;
        Cell node;
        Cell kafka;
        [[nodiscard]] const Cell& of(Sut sut) const { return sut == Sut::Node ? node : kafka; }
        Cell& of(Sut sut) { return sut == Sut::Node ? node : kafka; }
    };

    static Page load();
    /// HIGHWATER_REWRITE is set.
    static bool rewriting();

    /// Those of one client that have a result of `sut`, sorted.
    [[nodiscard]] std::vector<std::string> operations(const std::string& client, Sut sut) const;
    void set(const std::string& client, Sut sut, const std::vector<OperationRun>& run);
    /// "ApiVersions 4 · Metadata 13 · …" of Kafka, which our node must equal; "": not known.
    [[nodiscard]] std::string requests(const std::string& client) const;
    void set_requests(const std::string& client, const std::string& requests) {
        requests_[client] = requests;
    }
    void save() const;

private:
    std::vector<Row> rows_;
    std::map<std::string, std::string> requests_;
    /// Before, between and after the two tables.
    std::vector<std::string> text_;
};

}  // namespace highwater::test
