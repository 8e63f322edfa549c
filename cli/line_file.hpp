#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "headwater/io/files/file_descriptor.hpp"

// A file that grows line by line while a stream flows; whoever reads along sees each line as soon
// as it is written. "-" is standard output.
class LineFile {
 public:
  // kept: of a file that is there already, so many bytes stay, and the lines go on behind them.
  explicit LineFile(const std::string& name, std::int64_t kept = 0);

  void write(std::string_view line);  // its end included
  const std::string& name() const { return name_; }
  std::int64_t length() const { return length_; }

 private:
  std::string name_;
  headwater::FileDescriptor file_;
  std::int64_t length_ = 0;  // with what was kept; of a pipe, what was written
};
