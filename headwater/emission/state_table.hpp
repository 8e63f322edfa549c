#pragma once

#include <span>
#include <vector>

#include "headwater/kernels/weighted_columns.hpp"
#include "headwater/matrix.hpp"

namespace headwater {

// A column of numbers for each channel, one for each of finitely many states, for sums of columns
// times counts. A column is computed when its channel first has a count, and kept until the next
// clear(). If there are too many channels and states, columns are computed each time anew.
class StateTable {
 public:
  void clear(Index num_states, Index num_channels) {
    if (num_channels != num_channels_) {
      const bool fits = num_channels <= kLargest / num_states;
      columns_.resize(num_states, fits ? num_channels : 1);
      is_filled_.resize(fits ? static_cast<std::size_t>(num_channels) : 0);
      num_channels_ = num_channels;
    }
    is_filled_.assign(is_filled_.size(), false);
  }

  // out += count times the channel's column, now or at add_collected(). fill(column) computes it.
  template <class Fill>
  void add(Index channel, double count, std::span<double> out, const Fill& fill) {
    const bool is_kept = !is_filled_.empty();
    auto column = columns_.col(is_kept ? channel : 0);
    if (!is_kept || !is_filled_[static_cast<std::size_t>(channel)]) {
      fill(column);
      if (is_kept) is_filled_[static_cast<std::size_t>(channel)] = true;
    }
    collected_.push_back(column.data());
    counts_.push_back(count);
    if (!is_kept) add_collected(out);  // the next column takes its place
  }

  void add_collected(std::span<double> out) {
    add_weighted_columns(collected_, counts_, out);
    collected_.clear();
    counts_.clear();
  }

 private:
  static constexpr Index kLargest = Index{1} << 27;  // numbers: 1 GiB

  Index num_channels_ = 0;
  Matrix columns_;               // n x M, or n x 1 where that would be too large
  std::vector<bool> is_filled_;  // of the full table; empty when there is none
  std::vector<const double*> collected_;
  std::vector<double> counts_;
};

}  // namespace headwater
