#pragma once

#include <span>
#include <vector>

#include "headwater/core/matrix.hpp"

namespace headwater {

// A basis row by row, each row filled up with zeros to whole vectors of any instruction set.
class PaddedRows {
 public:
  void set(const Matrix& basis);

  Index rows() const { return rows_; }
  Index cols() const { return cols_; }
  Index stride() const { return stride_; }  // numbers a row, zeros included
  const double* row(Index m) const { return values_.data() + m * stride_; }

 private:
  Index rows_ = 0;
  Index cols_ = 0;
  Index stride_ = 0;
  std::vector<double> values_;
};

// For channels that have a count each and an activation x (stride numbers, those beyond the columns
// zero):
//   ratios[j] = counts[j] / lambda_j,   lambda_j = sum_k B(channels[j], k) x_k,
//   slopes[k] = sum_j ratios[j] B(channels[j], k),
// the derivatives of sum_j counts[j] log lambda_j. One pass over the rows. A channel of zero
// intensity has the ratio 0.
void poisson_slopes(const PaddedRows& basis, std::span<const Index> channels,
                    std::span<const double> counts, std::span<const double> x,
                    std::span<double> ratios, std::span<double> slopes);

// out[k] = sum_j weights[j] B(channels[j], k)^2; stride numbers.
void weighted_squares(const PaddedRows& basis, std::span<const Index> channels,
                      std::span<const double> weights, std::span<double> out);

}  // namespace headwater
