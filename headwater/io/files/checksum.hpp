#pragma once

#include <cstdint>
#include <string_view>

namespace headwater {

// CRC-32 as in zlib and gzip. before: the checksum of the bytes that go before these.
std::uint32_t checksum(std::string_view bytes, std::uint32_t before = 0);

}  // namespace headwater
