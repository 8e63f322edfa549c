#pragma once

#include <memory>
#include <string>

#include "headwater/io/files/byte_source.hpp"
#include "headwater/io/source.hpp"

namespace headwater {

// Text that is open to read, and what errors call it.
struct TextFile {
  std::unique_ptr<ByteSource> bytes;
  std::string name;
  bool can_be_read_again = false;  // a regular file, which can be opened a second time
};

// "-" is standard input; a name that ends in .gz is decompressed.
TextFile open_text(const std::string& name, const SourceOptions& options = {});

}  // namespace headwater
