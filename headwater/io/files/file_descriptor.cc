#include "headwater/io/files/file_descriptor.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "headwater/error.hpp"

namespace headwater {
namespace {

// True if the call that just failed should be repeated. Another process that shares the pipe may
// have made it non-blocking; in that case this waits until the pipe is ready.
bool should_retry(const FileDescriptor& file, short event) {
  if (errno == EINTR) return true;
  if (errno != EAGAIN && errno != EWOULDBLOCK) return false;
  pollfd request = {file.number(), event, 0};
  return poll(&request, 1, -1) >= 0 || errno == EINTR;
}

}  // namespace

FileDescriptor::FileDescriptor(FileDescriptor&& other) noexcept
    : number_(std::exchange(other.number_, -1)) {}

FileDescriptor& FileDescriptor::operator=(FileDescriptor&& other) noexcept {
  std::swap(number_, other.number_);
  return *this;
}

FileDescriptor::~FileDescriptor() {
  if (number_ >= 0) close(number_);
}

FileDescriptor open_for_reading(const std::string& name) {
  FileDescriptor file;
  do {  // a FIFO waits for a writer, and a signal may arrive meanwhile
    file = FileDescriptor(open(name.c_str(), O_RDONLY | O_CLOEXEC));
  } while (file.number() < 0 && errno == EINTR);
  if (file.number() < 0) throw_system_error(name, "cannot be opened");
  struct stat status = {};
  if (fstat(file.number(), &status) != 0) throw_system_error(name, "cannot be opened");
  if (S_ISDIR(status.st_mode)) throw_system_error(name, "cannot be opened", EISDIR);
  return file;
}

FileDescriptor duplicate(int number, const std::string& name) {
  FileDescriptor file(fcntl(number, F_DUPFD_CLOEXEC, 0));
  if (file.number() < 0) throw_system_error(name, "cannot be opened");
  return file;
}

std::size_t read_some(const FileDescriptor& file, std::span<char> space, const std::string& name) {
  for (;;) {
    const ssize_t count = read(file.number(), space.data(), space.size());
    if (count >= 0) return static_cast<std::size_t>(count);
    if (!should_retry(file, POLLIN)) throw_system_error(name, "cannot be read");
  }
}

void write_all(const FileDescriptor& file, std::string_view bytes, const std::string& name) {
  while (!bytes.empty()) {
    const ssize_t count = write(file.number(), bytes.data(), bytes.size());
    if (count >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(count));
    } else if (!should_retry(file, POLLOUT)) {
      throw_system_error(name, "cannot be written");
    }
  }
}

void throw_system_error(const std::string& name, std::string_view what) {
  throw_system_error(name, what, errno);
}

void throw_system_error(const std::string& name, std::string_view what, int error) {
  throw InputError(fmt::format("{}: {}: {}", name, what, std::generic_category().message(error)));
}

}  // namespace headwater
