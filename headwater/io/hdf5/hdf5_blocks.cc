#include "headwater/io/hdf5/hdf5_blocks.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "headwater/error.hpp"
#include "headwater/io/by_extension.hpp"
#include "headwater/io/hdf5/hdf5.hpp"
#include "headwater/io/hdf5/hdf5_rows.hpp"

namespace headwater {
namespace {

constexpr std::size_t kMostShown = 8;

bool is_hdf5(const std::string& name) {
  const std::string extension = extension_of(name);
  return extension == ".h5" || extension == ".hdf5";
}

std::string list_datasets(const Hdf5File& file) {
  std::vector<std::string> names = file.datasets(kMostShown + 1);
  if (names.empty()) return "the file has no datasets";
  if (names.size() > kMostShown) names.back() = "...";
  return fmt::format("the file has {}", fmt::join(names, ", "));
}

Hdf5Rows open_rows(const Hdf5File& file, const Hdf5Name& name) {
  if (name.path.empty() || name.path == "/") {
    throw InputError(fmt::format("{}: expected a dataset after the file name, as in {}:/x; {}",
                                 name.file, name.file, list_datasets(file)));
  }
  if (!file.contains(name.path)) {
    throw InputError(
        fmt::format("{}: {}: is missing; {}", name.file, name.path, list_datasets(file)));
  }
  return file.open_rows(name.path);
}

class BlocksOfFile final : public Hdf5Blocks {
 public:
  explicit BlocksOfFile(const Hdf5Name& name)
      : file_(Hdf5File::open(name.file, name.may_leave_file)),
        rows_(open_rows(file_, name)),
        names_(rows_.column_names()),
        num_columns_(rows_.num_columns()) {
    if (name.num_kept == 0) return;
    if (name.first_kept < 0 || name.num_kept > num_columns_ - name.first_kept) {
      throw InputError(fmt::format("{}:{}: has {} columns, and others are asked for", name.file,
                                   name.path, num_columns_));
    }
    num_columns_ = name.num_kept;
    rows_.keep_columns(name.first_kept, name.num_kept);
  }

  Index num_rows() const override { return rows_.num_rows(); }
  Index num_columns() const override { return num_columns_; }
  Index sequence_length() const override { return rows_.sequence_length(); }
  const std::vector<std::string>& column_names() const override { return names_; }
  void read(std::vector<double>& block) override {
    const Index count = std::min(rows_.block_rows(), num_rows() - num_read_);
    block.resize(static_cast<std::size_t>(count * num_columns()));
    if (count == 0) return;
    rows_.read(num_read_, count, block);
    num_read_ += count;
  }

 private:
  Hdf5File file_;
  Hdf5Rows rows_;
  std::vector<std::string> names_;
  Index num_columns_ = 0;
  Index num_read_ = 0;
};

}  // namespace

std::optional<Hdf5Name> split_hdf5_name(const std::string& name) {
  if (is_hdf5(name)) return Hdf5Name{name, "", false};
  for (std::size_t at = name.find(":/"); at != name.npos; at = name.find(":/", at + 1)) {
    if (is_hdf5(name.substr(0, at))) {
      return Hdf5Name{name.substr(0, at), name.substr(at + 1), false};
    }
  }
  return std::nullopt;
}

std::unique_ptr<Hdf5Blocks> open_hdf5_blocks(const Hdf5Name& name) {
  return std::make_unique<BlocksOfFile>(name);
}

}  // namespace headwater
