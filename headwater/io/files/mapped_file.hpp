#pragma once

#include <string>
#include <string_view>

namespace headwater {

// The bytes of a whole file, read by the operating system as they are touched.
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
