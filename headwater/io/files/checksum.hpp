#pragma once

#include <cstdint>
#include <string_view>

namespace headwater {

// CRC-32 as in zlib and gzip.
std::uint32_t checksum(std::string_view bytes);

}  // namespace headwater
