#include "line_file.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>

#include "file_lock.hpp"
#include "headwater/error.hpp"
#include "headwater/io/files/atomic_file.hpp"
#include "stop_signals.hpp"

using namespace headwater;

namespace {

constexpr const char* kCannotBeWritten = "cannot be written";
constexpr int kPauseInMilliseconds = 50;

}  // namespace

LineFile::LineFile(const GrowingFile& before) : name_(before.name), unwritten_(before.unwritten) {
  if (discards_files()) {
    file_ = FileDescriptor(open("/dev/null", O_WRONLY | O_CLOEXEC));
  } else if (name_ == "-") {
    file_ = duplicate(STDOUT_FILENO, shown_name());
  } else {
    file_ = FileDescriptor(open(name_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666));
    if (file_.number() < 0) throw_system_error(name_, kCannotBeWritten);
    struct stat status = {};
    is_regular_ = fstat(file_.number(), &status) == 0 && S_ISREG(status.st_mode);
    if (is_regular_) {
      lock_file(file_, name_);
      length_ = std::min<std::int64_t>(before.length, status.st_size);
      if (ftruncate(file_.number(), length_) != 0 || lseek(file_.number(), length_, SEEK_SET) < 0) {
        throw_system_error(name_, kCannotBeWritten);
      }
    }
  }
  flush();
}

const std::string& LineFile::shown_name() const {
  static const std::string standard_output = "standard output";
  return name_ == "-" ? standard_output : name_;
}

void LineFile::flush() {
  if (unwritten_.empty()) return;
  if (is_regular_) {
    // A part that was written before an error is cut off by the next fit.
    write_all(file_, unwritten_, shown_name());
    length_ += static_cast<std::int64_t>(unwritten_.size());
    unwritten_.clear();
  } else {
    write_to_stream();
  }
}

// In pieces that a pipe takes at once where poll() says that there is room, so that a stop can be
// heeded while nobody reads.
void LineFile::write_to_stream() {
  std::size_t done = 0;
  const auto forget_written = [&] { unwritten_.erase(0, done); };
  try {
    while (done < unwritten_.size()) done += write_piece(done);
  } catch (...) {
    forget_written();
    throw;
  }
  forget_written();
}

std::size_t LineFile::write_piece(std::size_t first) {
  for (;;) {
    pollfd request = {file_.number(), POLLOUT, 0};
    if (poll(&request, 1, kPauseInMilliseconds) <= 0) {
      if (stop_signal() == 0) continue;
      throw InputError(shown_name() + ": cannot be written: nobody reads it");
    }
    const std::size_t size = std::min<std::size_t>(unwritten_.size() - first, PIPE_BUF);
    const ssize_t count = write(file_.number(), unwritten_.data() + first, size);
    if (count < 0 && errno != EINTR && errno != EAGAIN) {
      throw_system_error(shown_name(), kCannotBeWritten);
    }
    if (count <= 0) continue;
    length_ += count;
    return static_cast<std::size_t>(count);
  }
}
