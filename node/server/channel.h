// One outgoing connection for one purpose, with at most one request in flight, as Kafka's channel managers
// have it. It opens on the first request, reconnects with backoff, and times requests out by closing.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "base/time.h"
#include "node/server/outbox.h"
#include "wire/frame.h"

namespace highwater::node {

class Channel {
public:
    /// The answer's frame, or why there is none. Called once per request.
    using Completion = std::function<void(Instant now, const Result<BytesView>& frame)>;

    Channel(Outbox& outbox, std::string client_id, std::string host, std::uint16_t port,
            Duration request_timeout)
        : outbox_(outbox),
          client_id_(std::move(client_id)),
          host_(std::move(host)),
          port_(port),
          timeout_(request_timeout) {}

    /// No request is in flight and none waits for the connection.
    [[nodiscard]] bool idle() const { return !pending_; }
    /// Requires idle(). While a backoff lasts the request waits for it.
    template <class Request>
    void request(Instant now, const Request& message, std::int16_t version, Completion completion,
                 std::optional<Duration> timeout = std::nullopt) {
        const std::int32_t correlation_id = ++last_correlation_;
        start(now, wire::encode_request(message, version, correlation_id, client_id_), std::move(completion),
              timeout);
    }
    /// The correlation id of the request in flight.
    [[nodiscard]] std::int32_t correlation_id() const { return last_correlation_; }

    /// True if the connection is this channel's.
    bool connected(Instant now, ConnId conn);
    bool disconnected(Instant now, ConnId conn, const std::string& reason);
    bool frame(Instant now, ConnId conn, BytesView payload);
    void tick(Instant now);
    [[nodiscard]] Instant deadline() const;
    /// Closes; a request in flight completes with `reason`.
    void reset(Instant now, const std::string& reason);

private:
    struct Pending {
        Bytes frame;
        Completion completion;
        Instant give_up;
        bool sent = false;
    };
    void start(Instant now, Bytes frame, Completion completion, std::optional<Duration> timeout);
    void pump(Instant now);
    void finish(Instant now, const Result<BytesView>& result);
    void drop_connection(Instant now, const std::string& reason);

    Outbox& outbox_;
    std::string client_id_;
    std::string host_;
    std::uint16_t port_;
    Duration timeout_;
    std::int32_t last_correlation_ = 0;
    std::optional<ConnId> conn_;
    bool connected_ = false;
    Instant retry_at_{0};
    Duration backoff_{0};
    std::optional<Pending> pending_;
};

}  // namespace highwater::node
