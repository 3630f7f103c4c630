// A workload client in the simulation: one request at a time over one connection per broker, and two loops on
// top of it, a producer of unique values and a consumer that reads any replica.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/rng.h"
#include "tests/sim/black_box.h"
#include "tests/sim/network.h"
#include "tests/support/requests.h"

namespace highwater::sim {

class Client final : public Host {
public:
    Client(BrokerId id, Scheduler& scheduler, Network& network)
        : id_(id), scheduler_(scheduler), network_(network) {
        network_.up(id, *this);
    }

    /// The answer, or why there is none. `frame` carries `correlation_id`.
    using Completion = std::function<void(const Result<Bytes>& frame)>;
    /// Requires that no request is in flight. Without `answered` nothing is waited for (acks=0).
    void request(BrokerId to, Bytes frame, Duration timeout, bool answered, Completion completion);
    /// Requires that no request is in flight.
    template <class Response, class Request>
    void call(BrokerId to, const Request& message, std::int16_t version, Duration timeout,
              std::function<void(const Result<Response>&)> completion) {
        const std::int32_t correlation = ++correlation_;
        request(to, wire::encode_request(message, version, correlation, "sim"), timeout, true,
                [correlation, version, completion](const Result<Bytes>& frame) {
                    completion(frame ? wire::decode_response<Response>(*frame, version, correlation)
                                     : tl::make_unexpected(frame.error()));
                });
    }
    [[nodiscard]] bool busy() const { return pending_.has_value(); }
    std::int32_t next_correlation() { return ++correlation_; }

    ConnId accepted(const std::string&) override { return 0; }  // nobody dials a client
    void connected(ConnId conn) override;
    void received(ConnId conn, Bytes frame) override;
    void disconnected(ConnId conn, const std::string& reason) override;

private:
    struct Pending {
        std::uint64_t number = 0;
        BrokerId to = kNoBroker;
        Bytes frame;
        bool answered = true;
        Completion completion;
    };
    struct Connection {
        ConnId conn = 0;
        bool open = false;
    };
    void finish(const Result<Bytes>& result);
    void drop(BrokerId to);

    BrokerId id_;
    Scheduler& scheduler_;
    Network& network_;
    std::map<BrokerId, Connection> connections_;
    ConnId next_conn_ = 1;
    std::int32_t correlation_ = 0;
    std::uint64_t number_ = 0;
    std::optional<Pending> pending_;
    /// Timeouts that are still scheduled must not reach a client that is gone.
    std::shared_ptr<const bool> alive_ = std::make_shared<const bool>(true);
};

/// What clients may know of the cluster beyond their answers: whom to ask.
class Directory {
public:
    virtual ~Directory() = default;
    /// The leader as the controller has it, or kNoBroker.
    [[nodiscard]] virtual BrokerId leader(const TopicPartition& id) const = 0;
};

/// Sends one to three records every `interval` or so, mostly to the leader, sometimes to somebody else who
/// may believe to be it. Values are id << 32 | n. An idempotent one sends with acks=all only, and a batch
/// again until it knows what became of it; any other sends each value once.
class Producer {
public:
    struct Options {
        BrokerId id = kNoBroker;
        std::vector<TopicPartition> partitions;
        Duration interval{0};
        bool idempotent = false;
    };
    Producer(Options options, Scheduler& scheduler, Network& network, Rng rng, const Directory& directory,
             BlackBox& box);

    void start() { next(); }
    void stop() { stopped_ = true; }
    [[nodiscard]] bool idle() const { return !client_.busy(); }

private:
    struct Batch {
        TopicPartition partition;
        std::int16_t acks = -1;
        std::vector<std::uint64_t> values;
        std::int32_t sequence = -1;
    };
    void next();
    void send();
    Batch new_batch();
    void answered(const Batch& batch, const Result<Bytes>& frame, std::int32_t correlation);

    Options options_;
    Client client_;
    Scheduler& scheduler_;
    Rng rng_;
    const Directory& directory_;
    BlackBox& box_;
    std::uint64_t sent_ = 0;
    bool stopped_ = false;

    // Idempotent only: the batch whose fate is not known, and the next sequence of each partition.
    std::optional<Batch> unknown_;
    std::map<TopicPartition, std::int32_t> sequences_;
    std::int16_t epoch_ = 0;
};

/// Reads one partition from its beginning on, each time from a replica chosen anew.
class Consumer {
public:
    Consumer(BrokerId id, Scheduler& scheduler, Network& network, Rng rng, TopicPartition partition,
             Duration interval, BlackBox& box);

    void start() { next(); }
    void stop() { stopped_ = true; }

private:
    void next();
    void fetch();

    Client client_;
    Scheduler& scheduler_;
    Rng rng_;
    TopicPartition partition_;
    Duration interval_;
    BlackBox& box_;
    Offset position_ = 0;
    bool stopped_ = false;
};

}  // namespace highwater::sim
