#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace headwater {

// Throws InputError "unknown kind of file" and lists the extensions that are supported.
[[noreturn]] void throw_unknown_kind(const std::string& name,
                                     std::span<const std::string_view> extensions);

// The extension in lower case: ".csv" for "Data/Counts.CSV". Empty if the name has no extension.
std::string extension_of(const std::string& name);

// A pipe or device has no extension, so it is read and written as text.
bool is_below_dev(std::string_view name);

// One row of a table that maps a file extension to the function that opens such a file.
template <class Function>
struct FileKind {
  std::string_view extension;
  Function* open;
};

// Looks up the function for the extension of `name`; throws InputError if the table has none.
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
