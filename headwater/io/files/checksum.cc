#include "headwater/io/files/checksum.hpp"

#include <zlib.h>

namespace headwater {

std::uint32_t checksum(std::string_view bytes, std::uint32_t before) {
  if (bytes.empty()) return before;  // zlib takes a null pointer for a new beginning
  const auto* data = reinterpret_cast<const Bytef*>(bytes.data());
  return static_cast<std::uint32_t>(crc32_z(before, data, bytes.size()));
}

}  // namespace headwater
