#include "headwater/channels.hpp"

namespace headwater {

namespace {

constexpr Index kPadding = 8;  // doubles in the longest vector

}  // namespace

void PaddedRows::set(const Matrix& basis) {
  rows_ = basis.rows();
  cols_ = basis.cols();
  stride_ = (cols_ + kPadding - 1) / kPadding * kPadding;
  values_.assign(static_cast<std::size_t>(rows_ * stride_), 0);
  Eigen::Map<RowMatrix>(values_.data(), rows_, stride_).leftCols(cols_) = basis;
}

}  // namespace headwater
