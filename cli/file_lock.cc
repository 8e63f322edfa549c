#include "file_lock.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "headwater/error.hpp"
#include "headwater/io/files/atomic_file.hpp"

using namespace headwater;

namespace {

namespace fs = std::filesystem;

// The process that had the lock may have removed the file between our open() and our lock.
bool is_still_there(const FileDescriptor& file, const std::string& path) {
  struct stat open_one = {};
  struct stat named = {};
  return fstat(file.number(), &open_one) == 0 && stat(path.c_str(), &named) == 0 &&
         open_one.st_dev == named.st_dev && open_one.st_ino == named.st_ino;
}

}  // namespace

void lock_file(const FileDescriptor& file, const std::string& name) {
  if (flock(file.number(), LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return;
  throw InputError(fmt::format("{}: another process is writing it", name));
}

FileLock::FileLock(const std::string& name) {
  if (discards_files()) return;
  struct stat status = {};
  if (stat(name.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) return;
  const fs::path target = fs::weakly_canonical(name);
  const std::string path = target.parent_path() / ("." + target.filename().string() + ".lock");
  do {
    file_ = FileDescriptor(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
    if (file_.number() < 0) throw_system_error(name, "cannot be locked");
    lock_file(file_, name);
  } while (!is_still_there(file_, path));
  path_ = path;
}

void FileLock::release() {
  if (!path_.empty()) unlink(path_.c_str());
  path_.clear();
  file_ = FileDescriptor();
}
