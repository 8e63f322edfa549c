#pragma once

#include <vector>

#include "headwater/matrix.hpp"

namespace headwater {

// A matrix or vector whose memory only grows: once it has been as large, taking another shape
// allocates nothing. Eigen's own resize() allocates whenever the size changes, and the size of what
// is computed for one observation, such as the number of channels with a count, changes with each.
template <class M>
class Growing {
 public:
  // Whatever was in it is lost.
  Eigen::Map<M> resize(Index rows, Index cols = 1) {
    rows_ = rows;
    cols_ = cols;
    const auto size = static_cast<std::size_t>(rows * cols);
    if (values_.size() < size) values_.resize(size);
    return view();
  }
  Eigen::Map<M> view() { return Eigen::Map<M>(values_.data(), rows_, cols_); }
  Eigen::Map<const M> view() const { return Eigen::Map<const M>(values_.data(), rows_, cols_); }

  Index rows() const { return rows_; }
  Index cols() const { return cols_; }
  Index size() const { return rows_ * cols_; }
  double* data() { return values_.data(); }
  const double* data() const { return values_.data(); }

 private:
  std::vector<double> values_;
  Index rows_ = 0;
  Index cols_ = 0;
};

using GrowingVector = Growing<Vector>;
using GrowingMatrix = Growing<Matrix>;

}  // namespace headwater
