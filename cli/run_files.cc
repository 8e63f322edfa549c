#include "run_files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <optional>

#include "headwater/error.hpp"
#include "headwater/io/files/atomic_file.hpp"
#include "headwater/io/hdf5/hdf5_blocks.hpp"

using namespace headwater;

namespace {

namespace fs = std::filesystem;

// What two names of one file have in common.
struct Identity {
  dev_t device = 0;
  ino_t number = 0;
  std::string new_name;  // in the folder of that number, for a file that does not exist yet

  bool operator==(const Identity&) const = default;
};

std::string path_in(const std::string& name) {
  const auto parts = split_hdf5_name(name);
  return parts ? parts->file : name;
}

// Follows links to a file that does not exist yet.
fs::path end_of_links(fs::path path) {
  std::error_code no_link;
  for (int i = 0; i < 40; ++i) {
    const fs::path next = fs::read_symlink(path, no_link);
    if (no_link) break;
    path = path.parent_path() / next;
  }
  return path;
}

// Nothing for devices, which several may use, and for names that lead nowhere.
std::optional<Identity> identity_of(const std::string& name, int standard_stream) {
  struct stat status = {};
  const std::string path = path_in(name);
  const bool exists =
      name == "-" ? fstat(standard_stream, &status) == 0 : stat(path.c_str(), &status) == 0;
  if (exists) {
    if (S_ISCHR(status.st_mode) || S_ISBLK(status.st_mode)) return std::nullopt;
    return Identity{status.st_dev, status.st_ino, ""};
  }
  const fs::path target = end_of_links(path);
  const fs::path folder = target.has_parent_path() ? target.parent_path() : fs::path(".");
  if (name == "-" || stat(folder.c_str(), &status) != 0) return std::nullopt;
  return Identity{status.st_dev, status.st_ino, target.filename().string()};
}

}  // namespace

void RunFiles::reads(const std::string& option, const std::string& name) {
  if (!name.empty()) files_.push_back({option, name, Use::kRead});
}

void RunFiles::replaces(const std::string& option, const std::string& name) {
  if (!name.empty()) files_.push_back({option, name, Use::kReplaced});
}

void RunFiles::grows(const std::string& option, const std::string& name) {
  if (!name.empty()) files_.push_back({option, name, Use::kGrows});
}

void RunFiles::check() const {
  for (std::size_t i = 0; i < files_.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) refuse_clash(files_[j], files_[i]);
  }
  for (const File& file : files_) try_out(file);
}

void RunFiles::refuse_clash(const File& one, const File& other) {
  if (one.use == Use::kRead && other.use == Use::kRead) return;
  // A fit goes on with its own checkpoint as a rule.
  if (one.option == "--resume" && other.option == "--checkpoint") return;
  // A model may be replaced by its continuation: it is in memory by then.
  if (one.option == "--continue" && other.option == "--out") return;
  const auto stream_of = [](const File& file) {
    return file.use == Use::kRead ? STDIN_FILENO : STDOUT_FILENO;
  };
  const auto identity = identity_of(one.name, stream_of(one));
  if (!identity || identity != identity_of(other.name, stream_of(other))) return;
  throw UsageError(
      fmt::format("{} {} and {} {} are the same file; every output needs a file of its own",
                  one.option, one.name, other.option, other.name));
}

void RunFiles::try_out(const File& file) {
  if (file.use == Use::kRead || file.name == "-") return;
  struct stat status = {};
  const bool exists = stat(file.name.c_str(), &status) == 0;
  if (exists && S_ISDIR(status.st_mode)) throw_system_error(file.name, "cannot be written", EISDIR);
  if (exists && faccessat(AT_FDCWD, file.name.c_str(), W_OK, AT_EACCESS) != 0) {
    throw_system_error(file.name, "cannot be written");
  }
  // To open a pipe would wait for its reader.
  const bool needs_folder = !exists || (S_ISREG(status.st_mode) && file.use == Use::kReplaced);
  if (needs_folder) AtomicFile(file.name);
}
