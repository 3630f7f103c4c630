// Finds the Kafka frames in the two byte streams of one connection, so that rules can be about an API. Bytes
// are not held back until a frame is whole: a piece is passed on as soon as the frame's API is known. What is
// no Kafka frame is passed on all the same, as belonging to no API.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "base/bytes.h"
#include "base/time.h"

namespace highwater::nemesis {

inline constexpr std::int16_t kUnknownApi = -1;

/// Requests on one connection that are not answered yet.
class Unanswered {
public:
    struct Request {
        std::int32_t correlation_id = 0;
        std::int16_t api_key = kUnknownApi;
        Instant came;
    };
    void add(Request request);
    /// The request of this response. Requests before it are forgotten: answers come in order, so they
    /// (acks=0) have none.
    std::optional<Request> answer(std::int32_t correlation_id);

private:
    std::deque<Request> requests_;
};

/// Some bytes of one frame, in the order of the stream.
struct Piece {
    Bytes bytes;
    std::int16_t api_key = kUnknownApi;
    bool starts_frame = false;
    bool ends_frame = false;
    /// Not part of any Kafka frame.
    bool unframed = false;
    /// Of a response: when its request came to the relay.
    std::optional<Instant> request_came;
};

class FrameCutter {
public:
    enum class Stream : std::uint8_t { Requests, Responses };
    /// `unanswered` is shared by the two cutters of a connection and outlives them.
    FrameCutter(Stream stream, Unanswered& unanswered) : stream_(stream), unanswered_(unanswered) {}

    /// Appends the pieces that these bytes complete to `out`.
    void feed(BytesView bytes, Instant now, std::vector<Piece>& out);
    /// The stream has ended: appends what was waiting for the rest of a header.
    void finish(std::vector<Piece>& out);

private:
    /// Tries to start a frame with what is in header_; true when its first piece is out.
    void start_frame(Instant now, std::vector<Piece>& out);
    [[nodiscard]] std::size_t header_size() const;

    Stream stream_;
    Unanswered& unanswered_;
    Bytes header_;
    /// Bytes of the current frame still to come.
    std::size_t remaining_ = 0;
    std::int16_t api_key_ = kUnknownApi;
    std::optional<Instant> request_came_;
    /// Seen a length that no Kafka frame has: the rest of the stream is passed on as it comes.
    bool opaque_ = false;
};

}  // namespace highwater::nemesis
