// One controller (100) and three brokers (1-3) as real highwater-node processes in a temporary directory,
// each finding its peers at their real addresses; and a client that speaks raw frames to them.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "harness/child.h"
#include "nemesis/address_plan.h"
#include "tests/support/requests.h"
#include "workloads/socket.h"

namespace highwater::test {

/// Asks `condition` again until it holds or `limit` has passed; the last answer.
bool eventually(Duration limit, const std::function<bool()>& condition);

/// A directory of its own, removed at the end unless the test has failed.
class TemporaryDirectory {
public:
    TemporaryDirectory();
    ~TemporaryDirectory();
    [[nodiscard]] const std::string& path() const { return path_; }

private:
    std::string path_;
};

class WireClient {
public:
    explicit WireClient(workloads::SocketAddress address) : address_(std::move(address)) {}

    /// Connects when needed. Errors: what happened to the connection; it is closed then.
    template <class Response, class Request>
    Result<Response> call(const Request& request, std::int16_t version) {
        const std::int32_t correlation_id = ++correlation_id_;
        const Result<Bytes> frame = exchange(wire::encode_request(request, version, correlation_id, "test"));
        if (!frame) return tl::make_unexpected(frame.error());
        return wire::decode_response<Response>(*frame, version, correlation_id);
    }
    Result<Bytes> exchange(BytesView frame);

private:
    workloads::SocketAddress address_;
    workloads::Socket socket_;
    std::int32_t correlation_id_ = 0;
};

class ProcessCluster {
public:
    static constexpr BrokerId kController = 100;

    explicit ProcessCluster(const std::string& extra_properties = "");

    void launch(BrokerId id);
    void launch_all();
    /// SIGTERM, then how it exited; a failure of the test if it does not within 20 s.
    harness::ExitStatus terminate(BrokerId id);
    /// Any signal; nothing is waited for.
    void signal(BrokerId id, int number);
    /// SIGKILL.
    void kill(BrokerId id);
    [[nodiscard]] pid_t pid(BrokerId id) const { return children_.at(id)->pid(); }
    /// Launched and not ended by itself.
    [[nodiscard]] bool alive(BrokerId id) const { return !children_.at(id)->poll_exit(); }
    [[nodiscard]] bool running(BrokerId id) const { return children_.contains(id); }

    [[nodiscard]] std::string directory(BrokerId id) const;
    [[nodiscard]] std::string output(BrokerId id) const;
    [[nodiscard]] WireClient client(BrokerId id) const;
    [[nodiscard]] const nemesis::AddressPlan& plan() const { return claim_.plan(); }

private:
    void write_files(BrokerId id, const std::string& extra_properties) const;

    TemporaryDirectory root_;
    nemesis::SlotClaim claim_;
    std::map<BrokerId, std::unique_ptr<harness::Child>> children_;
};

/// VmRSS of a process.
std::int64_t resident_bytes(pid_t pid);

std::string read_file(const std::string& path);
void write_file(const std::string& path, const std::string& content);

}  // namespace highwater::test
