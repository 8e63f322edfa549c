#pragma once

#include <string>
#include <string_view>

namespace headwater {

// A whole file mapped into memory: the operating system reads each page when it is first used.
class MappedFile {
 public:
  explicit MappedFile(const std::string& name);
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

  std::string_view bytes() const { return bytes_; }

 private:
  std::string_view bytes_;
};

}  // namespace headwater
