#include "headwater/io/files/atomic_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cassert>
#include <cerrno>
#include <cstdio>
#include <random>
#include <system_error>

namespace headwater {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kCannotBeWritten = "cannot be written";
const std::string kOpenFiles = "/proc/self/fd/";
constexpr int kMostLinks = 40;  // the limit of Linux
constexpr int kMostAttempts = 100;
const char* const kNowhere = "/dev/null";

bool is_discarding = false;

// Resolves symbolic links, even if the file that they point to does not exist yet.
fs::path follow_links(fs::path path, const std::string& name) {
  for (int i = 0; i < kMostLinks; ++i) {
    std::error_code no_link;
    const fs::path next = fs::read_symlink(path, no_link);
    if (no_link) return path;
    path = path.parent_path() / next;
  }
  throw_system_error(name, kCannotBeWritten, ELOOP);
}

// Links below /proc point to open files, which may have no name that a new file could take.
bool is_open_file(const fs::path& path) {
  std::error_code no_link;
  for (const fs::path& place : {path, fs::read_symlink(path, no_link)}) {
    const std::string& text = place.native();
    if (text.starts_with("/proc/") || text.starts_with("/dev/fd/")) return true;
  }
  return false;
}

// A file that has no name can be given one through /proc alone, which is not mounted everywhere.
bool can_name_open_files() { return access(kOpenFiles.c_str(), X_OK) == 0; }

std::string random_letters() {
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz0123456789";
  std::random_device random;
  std::string letters;
  for (int i = 0; i < 6; ++i) letters += kLetters[random() % kLetters.size()];
  return letters;
}

fs::path temporary_name(const fs::path& target) {
  // Truncated because file systems limit names to 255 bytes.
  const std::string stem = target.filename().string().substr(0, 200);
  return target.parent_path() / ("." + stem + "." + random_letters());
}

}  // namespace

void discard_files() { is_discarding = true; }
bool discards_files() { return is_discarding; }

AtomicFile::AtomicFile(const std::string& target) : name_(target) {
  if (is_discarding) {
    open_direct(kNowhere);
    return;
  }
  if (target == "-") {
    name_ = "standard output";
    file_ = duplicate(STDOUT_FILENO, name_);
    path_ = "/dev/stdout";
    is_direct_ = true;
    return;
  }
  struct stat status = {};
  const bool exists = stat(target.c_str(), &status) == 0;
  if (exists && S_ISDIR(status.st_mode)) throw_system_error(name_, kCannotBeWritten, EISDIR);
  if (exists && (!S_ISREG(status.st_mode) || is_open_file(target))) {
    open_direct(target);
    return;
  }
  // We do not replace a write-protected file, even if the permissions of the folder would allow it.
  if (exists && faccessat(AT_FDCWD, target.c_str(), W_OK, AT_EACCESS) != 0) {
    throw_system_error(name_, kCannotBeWritten);
  }
  target_ = follow_links(target, name_);
  open_temporary();
  if (exists) copy_mode_of_target();
}

AtomicFile::~AtomicFile() {
  if (!is_direct_ && !is_committed_ && !path_.empty()) unlink(path_.c_str());
}

void AtomicFile::write(std::string_view bytes) {
  assert(!is_committed_);
  write_all(file_, bytes, name_);
}

void AtomicFile::overwrite(std::int64_t offset, std::string_view bytes) {
  assert(!is_committed_);
  while (!bytes.empty()) {
    const ssize_t count = pwrite(file_.number(), bytes.data(), bytes.size(), offset);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw_system_error(name_, kCannotBeWritten);
    bytes.remove_prefix(static_cast<std::size_t>(count));
    offset += count;
  }
}

void AtomicFile::commit() {
  assert(!is_committed_);
  if (!is_direct_) {
    if (fsync(file_.number()) != 0) throw_system_error(name_, kCannotBeWritten);
    if (path_.empty()) give_name();
    if (rename(path_.c_str(), target_.c_str()) != 0) throw_system_error(name_, kCannotBeWritten);
    path_ = target_;
  }
  is_committed_ = true;
  if (!is_direct_) sync_folder();
}

void AtomicFile::open_direct(const fs::path& target) {
  // O_APPEND, because /dev/stdout may be a file that already has contents.
  file_ = FileDescriptor(open(target.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
  if (file_.number() < 0) throw_system_error(name_, kCannotBeWritten);
  path_ = target;
  is_direct_ = true;
}

void AtomicFile::open_temporary() {
  if (!target_.has_filename()) {
    throw_system_error(name_, kCannotBeWritten, target_.empty() ? ENOENT : EISDIR);
  }
  // A file without a name disappears when the process ends, even if the process is killed.
  const fs::path folder = target_.has_parent_path() ? target_.parent_path() : fs::path(".");
  if (can_name_open_files()) {
    file_ = FileDescriptor(open(folder.c_str(), O_RDWR | O_TMPFILE | O_CLOEXEC, 0666));
  }
  if (file_.number() >= 0) return;
  // We do not use mkstemp(): only the owner may read its files. Here the umask decides.
  for (int attempt = 0; attempt < kMostAttempts && file_.number() < 0; ++attempt) {
    path_ = temporary_name(target_);
    file_ = FileDescriptor(open(path_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
    if (file_.number() < 0 && errno != EEXIST) break;
  }
  if (file_.number() < 0) throw_system_error(name_, kCannotBeWritten);
}

// Links the file to a temporary name first, because linkat() cannot replace an existing target;
// rename() can.
void AtomicFile::give_name() {
  const std::string nameless = kOpenFiles + std::to_string(file_.number());
  for (int attempt = 0; attempt < kMostAttempts; ++attempt) {
    const fs::path path = temporary_name(target_);
    if (linkat(AT_FDCWD, nameless.c_str(), AT_FDCWD, path.c_str(), AT_SYMLINK_FOLLOW) == 0) {
      path_ = path;
      return;
    }
    if (errno != EEXIST) break;
  }
  throw_system_error(name_, kCannotBeWritten);
}

void AtomicFile::copy_mode_of_target() {
  struct stat status = {};
  if (stat(target_.c_str(), &status) != 0) return;
  // The new file should have the old file's permissions, but a file system without permissions is
  // no reason to fail.
  [[maybe_unused]] const int ignored = fchmod(file_.number(), status.st_mode & 0777);
}

void AtomicFile::sync_folder() const {
  const fs::path folder = target_.has_parent_path() ? target_.parent_path() : fs::path(".");
  const FileDescriptor file(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  // A folder without read permission cannot be synced, and some file systems cannot sync folders at
  // all. The file has its final name in either case.
  if (file.number() >= 0) fsync(file.number());
}

}  // namespace headwater
