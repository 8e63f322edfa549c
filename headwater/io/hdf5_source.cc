#include "headwater/io/hdf5_source.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "headwater/core/error.hpp"
#include "headwater/io/by_extension.hpp"
#include "headwater/io/row_check.hpp"

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

}  // namespace

std::optional<Hdf5Name> split_hdf5_name(const std::string& name) {
  if (is_hdf5(name)) return Hdf5Name{name, ""};
  for (std::size_t at = name.find(":/"); at != name.npos; at = name.find(":/", at + 1)) {
    if (is_hdf5(name.substr(0, at))) return Hdf5Name{name.substr(0, at), name.substr(at + 1)};
  }
  return std::nullopt;
}

Hdf5Source::Hdf5Source(const Hdf5Name& name, const CellRules& rules)
    : name_(name.file + ":" + name.path),
      rules_(rules),
      file_(Hdf5File::open(name.file)),
      rows_(open_rows(file_, name)) {
  if (rows_.num_rows() == 0 || rows_.num_columns() == 0) {
    throw InputError(fmt::format("{}: holds no {}", name_, rules_.subject));
  }
  if (rows_.num_columns() > kMostChannels) {
    throw InputError(fmt::format("{}: has {} columns; expected at most {}", name_,
                                 rows_.num_columns(), kMostChannels));
  }
}

Hdf5Rows Hdf5Source::open_rows(const Hdf5File& file, const Hdf5Name& name) {
  if (name.path.empty() || name.path == "/") {
    throw InputError(fmt::format("{}: expected a dataset behind the name, as in {}:/x; {}",
                                 name.file, name.file, list_datasets(file)));
  }
  if (!file.contains(name.path)) {
    throw InputError(
        fmt::format("{}: {}: is missing; {}", name.file, name.path, list_datasets(file)));
  }
  return file.open_rows(name.path);
}

bool Hdf5Source::next(std::vector<double>& values) {
  if (row_ == rows_.num_rows()) return false;
  if (row_ == block_end_) read_block();
  const Index width = rows_.num_columns();
  const Index rows_behind = block_end_ - row_;
  const double* first = block_.data() + block_.size() - rows_behind * width;
  values.assign(first, first + width);
  ++row_;
  check_row(values, rules_, name_, row_);
  return true;
}

std::optional<double> Hdf5Source::fraction_read() const {
  return static_cast<double>(row_) / static_cast<double>(rows_.num_rows());
}

std::string Hdf5Source::position() const {
  return row_ == 0 ? name_ : fmt::format("{}: row {}", name_, row_);
}

void Hdf5Source::read_block() {
  const Index count = std::min(rows_.block_rows(), rows_.num_rows() - row_);
  block_.resize(static_cast<std::size_t>(count * rows_.num_columns()));
  rows_.read(row_, count, block_);
  block_end_ = row_ + count;
}

}  // namespace headwater
