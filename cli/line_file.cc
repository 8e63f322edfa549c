#include "line_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

using namespace headwater;

namespace {

constexpr const char* kCannotBeWritten = "cannot be written";

}  // namespace

LineFile::LineFile(const std::string& name, std::int64_t kept) : name_(name) {
  if (name == "-") {
    file_ = duplicate(STDOUT_FILENO, "standard output");
    return;
  }
  file_ = FileDescriptor(open(name.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666));
  if (file_.number() < 0) throw_system_error(name_, kCannotBeWritten);
  struct stat status = {};
  if (fstat(file_.number(), &status) != 0 || !S_ISREG(status.st_mode)) return;
  length_ = std::min<std::int64_t>(kept, status.st_size);
  if (ftruncate(file_.number(), length_) != 0 || lseek(file_.number(), length_, SEEK_SET) < 0) {
    throw_system_error(name_, kCannotBeWritten);
  }
}

void LineFile::write(std::string_view line) {
  write_all(file_, line, name_ == "-" ? "standard output" : name_);
  length_ += static_cast<std::int64_t>(line.size());
}
