#include "node/log/batch_scan.h"

#include <algorithm>
#include <optional>

namespace highwater::node {
namespace {

// Whole batches are read for their CRC in large pieces; headers in pieces small enough to hop over what lies
// between them.
constexpr std::uint64_t kCrcPiece = 4U << 20U;
constexpr std::uint64_t kHeaderPiece = 64U << 10U;

/// The batch that `bytes` begins with, `left` bytes before the end of the file; nullopt if there is no good
/// one. `incomplete`: only because `bytes` are too few.
std::optional<wire::BatchHeader> batch_at(BytesView bytes, std::uint64_t left, BatchCheck check,
                                          bool& incomplete) {
    incomplete = false;
    if (bytes.size() < wire::kBatchHeaderSize) {
        incomplete = bytes.size() < left && left >= wire::kBatchHeaderSize;
        return std::nullopt;
    }
    const auto header = wire::read_batch_header(bytes);
    if (!header || header->magic != 2 || header->size() > left) return std::nullopt;
    if (check == BatchCheck::Header) return *header;
    if (header->size() > bytes.size()) {
        incomplete = true;
        return std::nullopt;
    }
    if (!wire::validate_batch(bytes.first(header->size()))) return std::nullopt;
    return *header;
}

}  // namespace

Result<std::uint64_t> scan_batches(const AppendFile& file, std::uint64_t position, BatchCheck check,
                                   const BatchVisitor& visit) {
    const std::uint64_t end = file.size();
    const std::uint64_t piece = check == BatchCheck::Crc ? kCrcPiece : kHeaderPiece;
    std::uint64_t wanted = piece;
    while (position < end) {
        const auto bytes = file.read(position, std::min(wanted, end - position));
        if (!bytes) return tl::make_unexpected(bytes.error());
        wanted = piece;
        std::uint64_t at = 0;
        while (at < bytes->size()) {
            bool incomplete = false;
            const BytesView rest = BytesView(*bytes).subspan(at);
            const auto header = batch_at(rest, end - position - at, check, incomplete);
            if (!header && !incomplete) return position + at;
            if (!header) {
                // The next piece begins with it, and holds it even if it is larger than a piece.
                if (at == 0) wanted = std::max<std::uint64_t>(piece, wire::read_batch_header(rest)->size());
                break;
            }
            if (!visit(*header, position + at)) return position + at;
            at += header->size();
        }
        position += at;
    }
    return position;
}

}  // namespace highwater::node
