#pragma once

#include <memory>
#include <string>

#include "headwater/io/files/byte_source.hpp"
#include "headwater/source.hpp"

namespace headwater {

// A text file opened for reading, and its name in error messages.
struct TextFile {
  std::unique_ptr<ByteSource> bytes;
  std::string name;
  bool can_be_read_again = false;  // true for a regular file, which can be opened again
};

// "-" is standard input. A file whose name ends in .gz is decompressed.
TextFile open_text(const std::string& name, const SourceOptions& options = {});

}  // namespace headwater
