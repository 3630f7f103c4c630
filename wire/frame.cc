#include "wire/frame.h"

#include <fmt/format.h>

#include <limits>

#include "base/assert.h"

namespace highwater::wire {
namespace {

void skip_tagged_fields(ByteReader& in) {
    const std::uint64_t count = in.uvarint();
    for (std::uint64_t i = 0; i < count && !in.failed(); ++i) {
        in.uvarint();
        const std::uint64_t size = in.uvarint();
        if (size > in.remaining()) return in.fail();
        in.raw(size);
    }
}

bool flexible(ApiKey key, std::int16_t version) {
    const ApiInfo* api = find_api(key);
    return api != nullptr && version >= api->flexible_since;
}

}  // namespace

Bytes with_length_prefix(BytesView frame) {
    HW_ASSERT(frame.size() <= std::numeric_limits<std::int32_t>::max(), "frame of {} bytes", frame.size());
    ByteWriter out;
    out.u32(static_cast<std::uint32_t>(frame.size()));
    out.raw(frame);
    return out.take();
}

Result<std::size_t> read_length_prefix(BytesView bytes, std::size_t limit) {
    ByteReader in(bytes);
    const std::int32_t length = in.i32();
    if (in.failed()) return failure(fmt::format("{} bytes are too few for a frame's length", bytes.size()));
    if (length < 0 || static_cast<std::size_t>(length) > limit) {
        return failure(fmt::format("a frame of {} bytes; at most {} are taken", length, limit));
    }
    return static_cast<std::size_t>(length);
}

void write_request_header(ByteWriter& out, const RequestHeader& header) {
    out.i16(static_cast<std::int16_t>(header.api_key));
    out.i16(header.api_version);
    out.i32(header.correlation_id);
    // The client id stays a non-compact nullable string in header v2 too.
    if (header.client_id) {
        HW_ASSERT(header.client_id->size() <= 0x7FFF, "client id of {} bytes", header.client_id->size());
        out.i16(static_cast<std::int16_t>(header.client_id->size()));
        out.raw(as_bytes_view(*header.client_id));
    } else {
        out.i16(-1);
    }
    if (flexible(header.api_key, header.api_version)) out.uvarint(0);
}

std::optional<RequestHeader> peek_request_header(BytesView frame) {
    ByteReader in(frame);
    RequestHeader header;
    header.api_key = static_cast<ApiKey>(in.i16());
    header.api_version = in.i16();
    header.correlation_id = in.i32();
    if (in.failed()) return std::nullopt;
    return header;
}

Result<RequestFrame> decode_request_header(BytesView frame) {
    auto header = peek_request_header(frame);
    if (!header) return failure(fmt::format("a request of {} bytes has no header", frame.size()));
    if (find_api(header->api_key) == nullptr) {
        return failure(
            fmt::format("{} v{} is not spoken here", api_name(header->api_key), header->api_version));
    }
    ByteReader in(frame);
    in.raw(8);
    if (const std::int16_t size = in.i16(); size >= 0) {
        header->client_id = std::string(as_text(in.raw(static_cast<std::size_t>(size))));
    } else if (size < -1) {
        return failure(fmt::format("{} v{}: a client id of {} bytes", api_name(header->api_key),
                                   header->api_version, size));
    }
    // ApiVersions of a version beyond our table is still answered, so its header must be readable.
    if (flexible(header->api_key, header->api_version)) skip_tagged_fields(in);
    if (in.failed()) {
        return failure(fmt::format("{} v{}: the request header is cut short", api_name(header->api_key),
                                   header->api_version));
    }
    return RequestFrame{*header, frame.subspan(in.position())};
}

void write_response_header(ByteWriter& out, ApiKey api_key, std::int16_t version,
                           std::int32_t correlation_id) {
    out.i32(correlation_id);
    if (api_key != ApiKey::ApiVersions && flexible(api_key, version)) out.uvarint(0);
}

Result<ResponseFrame> decode_response_header(BytesView frame, ApiKey api_key, std::int16_t version) {
    ByteReader in(frame);
    ResponseFrame response;
    response.correlation_id = in.i32();
    if (api_key != ApiKey::ApiVersions && flexible(api_key, version)) skip_tagged_fields(in);
    if (in.failed()) {
        return failure(fmt::format("{} v{}: the response header is cut short", api_name(api_key), version));
    }
    response.body = frame.subspan(in.position());
    return response;
}

}  // namespace highwater::wire
