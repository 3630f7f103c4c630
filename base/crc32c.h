// CRC-32C (Castagnoli), the checksum of record batches. Check value: "123456789" -> e3069283.
#pragma once

#include <cstdint>

#include "base/bytes.h"

namespace highwater {

std::uint32_t crc32c(BytesView bytes);

}  // namespace highwater
