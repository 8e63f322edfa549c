#include "headwater/io/files/seal.hpp"

#include <fmt/format.h>

#include "headwater/error.hpp"
#include "headwater/io/files/checksum.hpp"
#include "headwater/io/files/mapped_file.hpp"

namespace headwater {

namespace {

constexpr std::size_t kSealSize = 512;

}  // namespace

std::string make_seal(std::string_view title, std::string_view contents) {
  std::string seal = fmt::format("{}\nchecksum {:08x}\n", title, checksum(contents));
  seal.resize(kSealSize, '\0');
  return seal;
}

void check_seal(std::string_view title, const std::string& name) {
  const MappedFile file(name);
  const std::string_view bytes = file.bytes();
  if (!bytes.starts_with(fmt::format("{}\n", title))) {
    throw InputError(fmt::format("{}: is not a {}", name, title));
  }
  if (bytes.size() >= kSealSize &&
      bytes.substr(0, kSealSize) == make_seal(title, bytes.substr(kSealSize))) {
    return;
  }
  throw InputError(
      fmt::format("{}: was damaged, or changed since it was written: its checksum is wrong", name));
}

}  // namespace headwater
