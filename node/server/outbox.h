// Collects what a step wants done (Ready) and numbers the connections the server opens.
#pragma once

#include <fmt/format.h>

#include <string>
#include <utility>

#include "node/server/server.h"

namespace highwater::node {

class Outbox {
public:
    void event(Event event) { ready_.events.push_back(std::move(event)); }
    void file(std::string path, std::string content) {
        ready_.files.push_back({std::move(path), std::move(content)});
    }
    void send(ConnId conn, Bytes payload) { ready_.network.emplace_back(Send{conn, std::move(payload)}); }
    void close(ConnId conn, std::string reason) {
        ready_.network.emplace_back(Close{conn, std::move(reason)});
    }
    ConnId open(std::string host, std::uint16_t port) {
        const ConnId conn = next_conn_;
        next_conn_ += 2;  // odd: the server's own
        ready_.network.emplace_back(Open{conn, std::move(host), port});
        return conn;
    }
    void info(std::string text) { ready_.log.push_back("INFO " + std::move(text)); }
    void warn(std::string text) { ready_.log.push_back("WARN " + std::move(text)); }
    void error(std::string text) { ready_.log.push_back("ERROR " + std::move(text)); }
    void stopped() { ready_.stopped = true; }

    Ready take() { return std::exchange(ready_, {}); }

private:
    Ready ready_;
    ConnId next_conn_ = 1;
};

}  // namespace highwater::node
