// Stands between clients and one broker: passes every byte on and notes which API each request asks for, at
// which version. So it shows what a client negotiated, whatever the client itself would tell.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>

#include "wire/api_key.h"
#include "workloads/socket.h"

namespace highwater::test {

/// Written by many connections at once.
class RequestCounts {
public:
    using Versions = std::map<wire::ApiKey, std::set<std::int16_t>>;

    void saw(const std::string& client_id, wire::ApiKey key, std::int16_t version);
    /// Of all client ids that begin with `prefix`.
    [[nodiscard]] Versions of(const std::string& prefix) const;
    /// Of those that begin with none of `prefixes`.
    [[nodiscard]] Versions of_others(const std::vector<std::string>& prefixes) const;

private:
    mutable std::mutex mutex_;
    std::map<std::string, Versions> by_client_;
};

class Tap {
public:
    /// Listens at `at`; HW_ASSERTs that it can. A connection is closed when either end closes it.
    Tap(workloads::SocketAddress at, workloads::SocketAddress broker, RequestCounts& counts);
    ~Tap();
    Tap(const Tap&) = delete;
    Tap& operator=(const Tap&) = delete;

    [[nodiscard]] const workloads::SocketAddress& address() const { return at_; }

private:
    struct State;
    workloads::SocketAddress at_;
    std::unique_ptr<State> state_;
};

}  // namespace highwater::test
