// Requests and responses with their headers, as one frame; on a socket an int32 length goes before it.
// Header versions: request v1 before a message's flexible version, v2 from it on; response v0 and v1; the
// response to ApiVersions always has v0, so that a client that knows less can still read it.
#pragma once

#include <optional>
#include <string>

#include "wire/api_table.h"
#include "wire/codec.h"

namespace highwater::wire {

struct RequestHeader {
    ApiKey api_key = ApiKey::ApiVersions;
    std::int16_t api_version = 0;
    std::int32_t correlation_id = 0;
    std::optional<std::string> client_id;
};

struct RequestFrame {
    RequestHeader header;
    /// Points into the bytes given to decode_request_header.
    BytesView body;
};
struct ResponseFrame {
    std::int32_t correlation_id = 0;
    BytesView body;
};

/// What a socket carries before each frame: its length, which does not count these four bytes.
inline constexpr std::size_t kLengthPrefixSize = 4;
Bytes with_length_prefix(BytesView frame);
/// The length announced by the first four bytes. Errors: fewer than four, negative, more than `limit` bytes.
Result<std::size_t> read_length_prefix(BytesView bytes, std::size_t limit);

void write_request_header(ByteWriter& out, const RequestHeader& header);
/// Errors: too short, or an API that api_table does not know (then its header version is unknown too).
Result<RequestFrame> decode_request_header(BytesView frame);
/// The first eight bytes alone, for relays: key, version and correlation id; nullopt if there are fewer.
std::optional<RequestHeader> peek_request_header(BytesView frame);
void write_response_header(ByteWriter& out, ApiKey api_key, std::int16_t version,
                           std::int32_t correlation_id);
Result<ResponseFrame> decode_response_header(BytesView frame, ApiKey api_key, std::int16_t version);

template <class Request>
Bytes encode_request(const Request& request, std::int16_t version, std::int32_t correlation_id,
                     const std::optional<std::string>& client_id) {
    ByteWriter out;
    write_request_header(out, {Request::kApiKey, version, correlation_id, client_id});
    out.raw(encode(request, version));
    return out.take();
}

template <class Response>
Bytes encode_response(const Response& response, std::int16_t version, std::int32_t correlation_id) {
    ByteWriter out;
    write_response_header(out, Response::kApiKey, version, correlation_id);
    out.raw(encode(response, version));
    return out.take();
}

/// Header and body; a correlation id other than the expected one is an error.
template <class Response>
Result<Response> decode_response(BytesView frame, std::int16_t version, std::int32_t correlation_id) {
    auto header = decode_response_header(frame, Response::kApiKey, version);
    if (!header) return tl::make_unexpected(header.error());
    if (header->correlation_id != correlation_id) {
        return failure("response to correlation id " + std::to_string(header->correlation_id) +
                       ", expected " + std::to_string(correlation_id));
    }
    return decode<Response>(header->body, version);
}

}  // namespace highwater::wire
