#include "headwater/channels.hpp"

#include <algorithm>

namespace headwater {

namespace {

constexpr Index kPadding = 8;  // doubles in the longest vector
constexpr Index kRowsAtATime = 64;

}  // namespace

void PaddedRows::set(const Matrix& basis, Index first) {
  first_ = first;
  const bool is_same_size = rows_ == basis.rows() && cols_ == basis.cols();
  rows_ = basis.rows();
  cols_ = basis.cols();
  stride_ = (cols_ + kPadding - 1) / kPadding * kPadding;
  const auto size = static_cast<std::size_t>(rows_ * stride_);
  if (!is_same_size) values_.assign(size, 0);
  // A few rows at a time stay in the fast caches while every column passes.
  for (Index begin = 0; begin < rows_; begin += kRowsAtATime) {
    const Index end = std::min(begin + kRowsAtATime, rows_);
    for (Index k = 0; k < cols_; ++k) {
      for (Index m = begin; m < end; ++m) values_[m * stride_ + k] = basis(m, k);
    }
  }
}

}  // namespace headwater
