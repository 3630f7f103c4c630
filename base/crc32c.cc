#include "base/crc32c.h"

#include <isa-l.h>

#include "base/assert.h"

namespace highwater {

std::uint32_t crc32c(BytesView bytes) {
    constexpr std::size_t kLimit = 1U << 30U;
    HW_ASSERT(bytes.size() <= kLimit, "{} bytes", bytes.size());
    // ISA-L takes a non-const pointer but only reads.
    auto* data = const_cast<unsigned char*>(bytes.data());
    return ~crc32_iscsi(data, static_cast<int>(bytes.size()), ~0U);
}

}  // namespace highwater
