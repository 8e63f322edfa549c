#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace headwater {

// "unknown kind of file", with the extensions that would do.
[[noreturn]] void throw_unknown_kind(const std::string& name,
                                     std::span<const std::string_view> extensions);

// ".csv" of "Data/Counts.CSV": in small letters, empty when there is none.
std::string extension_of(const std::string& name);

// A pipe or a device has no extension to go by, and is text.
bool is_below_dev(std::string_view name);

// One line of a table that says what opens which kind of file.
template <class Function>
struct FileKind {
  std::string_view extension;
  Function* open;
};

// The function for a file of this name; an InputError when no extension fits.
template <class Function, std::size_t Size>
Function* choose_by_extension(const std::string& name, const FileKind<Function> (&kinds)[Size]) {
  const std::string extension = is_below_dev(name) ? ".csv" : extension_of(name);
  std::string_view extensions[Size];
  for (std::size_t i = 0; i < Size; ++i) {
    if (kinds[i].extension == extension) return kinds[i].open;
    extensions[i] = kinds[i].extension;
  }
  throw_unknown_kind(name, extensions);
}

}  // namespace headwater
