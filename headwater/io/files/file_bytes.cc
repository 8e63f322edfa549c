#include "headwater/io/files/file_bytes.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "headwater/error.hpp"

namespace headwater {
namespace {

// The interval between two checks: short for a person who watches, long for a processor. Polling
// works on every file system; notifications of changes do not.
constexpr std::chrono::milliseconds kPause{50};

}  // namespace

FileBytes::FileBytes(FileDescriptor file, std::string name, WaitingRules rules)
    : file_(std::move(file)), name_(std::move(name)), rules_(std::move(rules)) {
  struct stat status = {};
  is_regular_ = fstat(file_.number(), &status) == 0 && S_ISREG(status.st_mode);
  if (!is_regular_) return;
  size_ = status.st_size;
  // Standard input may be a file of which another program has already read a part.
  offset_ = std::max<std::int64_t>(0, lseek(file_.number(), 0, SEEK_CUR));
}

std::size_t FileBytes::read(std::span<char> space) {
  for (;;) {
    if (!is_regular_ && !wait_for_pipe()) return 0;
    const std::size_t count = read_some(file_, space, name_);
    offset_ += static_cast<std::int64_t>(count);
    if (count > 0 || !is_regular_ || !rules_.follow || !wait_for_growth()) return count;
  }
}

std::optional<double> FileBytes::fraction_used(std::size_t unused) const {
  if (size_ == 0 || rules_.follow) return std::nullopt;
  const auto used = static_cast<double>(offset_ - static_cast<std::int64_t>(unused));
  // The file may have grown since it was opened, so `used` can exceed its size.
  return std::min(1.0, used / static_cast<double>(size_));
}

bool FileBytes::ask_to_stop() {
  was_stopped_ = rules_.should_stop && rules_.should_stop();
  return was_stopped_;
}

// Returns false if a stop is requested. We poll because a blocking read() could not notice that.
bool FileBytes::wait_for_pipe() {
  if (!rules_.should_stop) return true;
  while (!ask_to_stop()) {
    pollfd request = {file_.number(), POLLIN, 0};
    if (poll(&request, 1, static_cast<int>(kPause.count())) > 0) return true;
  }
  return false;
}

bool FileBytes::wait_for_growth() {
  while (!ask_to_stop()) {
    struct stat status = {};
    if (fstat(file_.number(), &status) != 0) throw_system_error(name_, "cannot be read");
    if (status.st_size > offset_) return true;
    if (status.st_size < offset_) {
      throw InputError(fmt::format("{}: shrank from {} to {} bytes while it was followed", name_,
                                   offset_, status.st_size));
    }
    if (open_replacement(status)) return true;
    std::this_thread::sleep_for(kPause);
  }
  return false;
}

bool FileBytes::open_replacement(const struct stat& present) {
  struct stat named = {};
  if (rules_.path.empty() || stat(rules_.path.c_str(), &named) != 0) return false;
  const bool is_same = named.st_dev == present.st_dev && named.st_ino == present.st_ino;
  if (is_same || !S_ISREG(named.st_mode)) return false;
  file_ = open_for_reading(rules_.path);
  offset_ = 0;
  ++num_replaced_;
  return true;
}

}  // namespace headwater
