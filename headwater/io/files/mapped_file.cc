#include "headwater/io/files/mapped_file.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "headwater/error.hpp"
#include "headwater/io/files/file_descriptor.hpp"

namespace headwater {

MappedFile::MappedFile(const std::string& name) {
  const FileDescriptor file = open_for_reading(name);
  struct stat status = {};
  if (fstat(file.number(), &status) != 0) throw_system_error(name, "cannot be opened");
  if (!S_ISREG(status.st_mode)) {
    throw InputError(fmt::format("{}: is not a regular file; this format needs one", name));
  }
  if (status.st_size == 0) return;  // mmap() does not accept a length of 0
  const auto size = static_cast<std::size_t>(status.st_size);
  void* start = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.number(), 0);
  if (start == MAP_FAILED) throw_system_error(name, "cannot be read");
  bytes_ = {static_cast<const char*>(start), size};
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) munmap(const_cast<char*>(bytes_.data()), bytes_.size());
}

}  // namespace headwater
