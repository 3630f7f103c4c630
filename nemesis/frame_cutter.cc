#include "nemesis/frame_cutter.h"

#include <algorithm>
#include <utility>

namespace highwater::nemesis {
namespace {

constexpr std::size_t kLengthSize = 4;
/// api_key, api_version, correlation_id.
constexpr std::size_t kRequestHead = 8;
/// correlation_id.
constexpr std::size_t kResponseHead = 4;
/// Kafka refuses requests above 100 MiB (socket.request.max.bytes); a fetch response may be somewhat larger.
constexpr std::int32_t kMaxFrame = 512 << 20;
/// An idle list of acks=0 requests must not grow for ever.
constexpr std::size_t kMaxUnanswered = 16384;

bool possible_length(std::int32_t length) { return length >= 0 && length <= kMaxFrame; }

}  // namespace

void Unanswered::add(Request request) {
    if (requests_.size() == kMaxUnanswered) requests_.pop_front();
    requests_.push_back(request);
}

std::optional<Unanswered::Request> Unanswered::answer(std::int32_t correlation_id) {
    const auto found = std::find_if(
        requests_.begin(), requests_.end(),
        [correlation_id](const Request& request) { return request.correlation_id == correlation_id; });
    if (found == requests_.end()) return std::nullopt;
    const Request request = *found;
    requests_.erase(requests_.begin(), found + 1);
    return request;
}

std::size_t FrameCutter::header_size() const {
    std::size_t wanted = kLengthSize + (stream_ == Stream::Requests ? kRequestHead : kResponseHead);
    if (header_.size() >= kLengthSize) {
        const std::int32_t length = ByteReader(header_).i32();
        if (!possible_length(length)) return kLengthSize;
        // A frame shorter than its header: as much as there is.
        wanted = std::min(wanted, kLengthSize + static_cast<std::size_t>(length));
    }
    return wanted;
}

void FrameCutter::feed(BytesView bytes, Instant now, std::vector<Piece>& out) {
    while (!bytes.empty()) {
        if (opaque_) {
            out.push_back({.bytes = Bytes(bytes.begin(), bytes.end()), .unframed = true});
            return;
        }
        if (remaining_ > 0) {
            const BytesView taken = bytes.first(std::min(remaining_, bytes.size()));
            bytes = bytes.subspan(taken.size());
            remaining_ -= taken.size();
            out.push_back({.bytes = Bytes(taken.begin(), taken.end()),
                           .api_key = api_key_,
                           .ends_frame = remaining_ == 0,
                           .request_came = request_came_});
            continue;
        }
        // The length decides how long the header is, so it is taken on its own.
        const std::size_t goal = header_.size() < kLengthSize ? kLengthSize : header_size();
        const BytesView taken = bytes.first(std::min(goal - header_.size(), bytes.size()));
        header_.insert(header_.end(), taken.begin(), taken.end());
        bytes = bytes.subspan(taken.size());
        if (header_.size() >= kLengthSize && header_.size() == header_size()) start_frame(now, out);
    }
}

void FrameCutter::start_frame(Instant now, std::vector<Piece>& out) {
    ByteReader reader(header_);
    const std::int32_t length = reader.i32();
    if (!possible_length(length)) {
        opaque_ = true;
        out.push_back({.bytes = std::exchange(header_, {}), .unframed = true});
        return;
    }
    api_key_ = kUnknownApi;
    request_came_.reset();
    if (stream_ == Stream::Requests && reader.remaining() == kRequestHead) {
        api_key_ = reader.i16();
        reader.i16();
        unanswered_.add({reader.i32(), api_key_, now});
    } else if (stream_ == Stream::Responses && reader.remaining() == kResponseHead) {
        if (const auto request = unanswered_.answer(reader.i32())) {
            api_key_ = request->api_key;
            request_came_ = request->came;
        }
    }
    remaining_ = kLengthSize + static_cast<std::size_t>(length) - header_.size();
    out.push_back({.bytes = std::exchange(header_, {}),
                   .api_key = api_key_,
                   .starts_frame = true,
                   .ends_frame = remaining_ == 0,
                   .request_came = request_came_});
}

void FrameCutter::finish(std::vector<Piece>& out) {
    if (!header_.empty()) out.push_back({.bytes = std::exchange(header_, {}), .unframed = true});
}

}  // namespace highwater::nemesis
