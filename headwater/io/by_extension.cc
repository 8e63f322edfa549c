#include "headwater/io/by_extension.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "headwater/error.hpp"

namespace headwater {

void throw_unknown_kind(const std::string& name, std::span<const std::string_view> extensions) {
  std::string expected;
  for (std::size_t i = 0; i < extensions.size(); ++i) {
    if (i > 0) expected += i + 1 == extensions.size() ? " or " : ", ";
    expected += extensions[i];
  }
  throw InputError(fmt::format("{}: unknown kind of file; expected {}", name, expected));
}

std::string extension_of(const std::string& name) {
  std::string extension = std::filesystem::path(name).extension();
  for (char& c : extension) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return extension;
}

bool is_below_dev(std::string_view name) { return name.starts_with("/dev/"); }

}  // namespace headwater
