#include "headwater/io/text/text_file.hpp"

#include <unistd.h>

#include <utility>

#include "headwater/io/by_extension.hpp"
#include "headwater/io/files/file_bytes.hpp"
#include "headwater/io/files/gzip_bytes.hpp"

namespace headwater {

TextFile open_text(const std::string& name, const SourceOptions& options) {
  const bool is_standard_input = name == "-";
  const std::string shown = is_standard_input ? "standard input" : name;
  FileDescriptor file = is_standard_input ? duplicate(STDIN_FILENO, shown) : open_for_reading(name);
  auto bytes = std::make_unique<FileBytes>(std::move(file), shown,
                                           WaitingRules{options.follow, options.should_stop});
  const bool can_be_read_again = !is_standard_input && bytes->is_regular();
  if (extension_of(name) == ".gz") {
    return {std::make_unique<GzipBytes>(std::move(bytes)), shown, can_be_read_again};
  }
  return {std::move(bytes), shown, can_be_read_again};
}

}  // namespace headwater
