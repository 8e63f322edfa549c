#include "headwater/io/hdf5/hdf5_source.hpp"

#include <fmt/format.h>

#include <utility>

#include "headwater/error.hpp"
#include "headwater/io/row_check.hpp"

namespace headwater {

Hdf5Source::Hdf5Source(const Hdf5Name& name, std::unique_ptr<Hdf5Blocks> blocks,
                       const CellRules& rules, Open open)
    : place_(name),
      name_(name.file + ":" + name.path),
      rules_(rules),
      blocks_(std::move(blocks)),
      open_(std::move(open)),
      num_channels_(blocks_->num_columns()) {
  if (blocks_->num_rows() == 0 || num_channels() == 0) {
    throw InputError(fmt::format("{}: holds no {}", name_, rules_.subject));
  }
  if (num_channels() > kMostChannels) {
    throw InputError(fmt::format("{}: has {} columns; expected at most {}", name_, num_channels(),
                                 kMostChannels));
  }
}

bool Hdf5Source::next(std::vector<double>& values) {
  if (used_ == block_.size()) {
    std::vector<double> block = std::move(block_);
    block_.clear();  // stays empty if the next read throws
    used_ = 0;
    blocks_->read(block);
    block_ = std::move(block);
    if (block_.empty()) return false;
  }
  const double* first = block_.data() + used_;
  values.assign(first, first + blocks_->num_columns());
  used_ += values.size();
  ++row_;
  check_row(values, rules_, name_, row_, place_.first_kept);
  return true;
}

// Blocks may have been sent already: they are asked for again.
bool Hdf5Source::keep_columns(Index first, Index size) {
  if (!open_) return false;
  place_.first_kept = first;
  place_.num_kept = size;
  blocks_ = {};
  blocks_ = open_(place_);
  return true;
}

std::optional<double> Hdf5Source::fraction_read() const {
  return static_cast<double>(row_) / static_cast<double>(blocks_->num_rows());
}

std::string Hdf5Source::position() const {
  return row_ == 0 ? name_ : fmt::format("{}: row {}", name_, row_);
}

}  // namespace headwater
