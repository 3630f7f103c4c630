#include "wire/metadata_record.h"

#include <fmt/format.h>

namespace highwater::wire {
namespace {

constexpr std::uint64_t kFrameVersion = 1;

template <std::size_t Index = 0>
Result<VersionedMetadataRecord> decode_type(std::uint64_t type, std::int16_t version, BytesView body) {
    if constexpr (Index == std::variant_size_v<MetadataRecord>) {
        return failure(fmt::format("metadata record type {} is unknown", type));
    } else {
        using Record = std::variant_alternative_t<Index, MetadataRecord>;
        if (static_cast<std::uint64_t>(Record::kType) != type) {
            return decode_type<Index + 1>(type, version, body);
        }
        auto record = decode<Record>(body, version);
        if (!record) return tl::make_unexpected(record.error());
        return VersionedMetadataRecord{std::move(*record), version};
    }
}

}  // namespace

std::string_view record_name(const MetadataRecord& record) {
    return std::visit([](const auto& value) { return std::decay_t<decltype(value)>::kName; }, record);
}

Bytes encode_metadata_record(const MetadataRecord& record, std::int16_t version) {
    return std::visit(
        [version](const auto& value) {
            ByteWriter out;
            out.uvarint(kFrameVersion);
            out.uvarint(static_cast<std::uint64_t>(std::decay_t<decltype(value)>::kType));
            out.uvarint(static_cast<std::uint64_t>(version));
            out.raw(encode(value, version));
            return out.take();
        },
        record);
}

Result<VersionedMetadataRecord> decode_metadata_record(BytesView value) {
    ByteReader in(value);
    const std::uint64_t frame = in.uvarint();
    const std::uint64_t type = in.uvarint();
    const std::uint64_t version = in.uvarint();
    if (in.failed()) return failure(fmt::format("a metadata record of {} bytes has no header", value.size()));
    if (frame != kFrameVersion) {
        return failure(fmt::format("metadata record frame version {}, expected 1", frame));
    }
    if (version > 0x7FFF) return failure(fmt::format("metadata record version {}", version));
    return decode_type(type, static_cast<std::int16_t>(version), value.subspan(in.position()));
}

}  // namespace highwater::wire
