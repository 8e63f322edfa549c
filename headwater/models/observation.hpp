#pragma once

#include <span>
#include <vector>

#include "headwater/core/matrix.hpp"

namespace headwater {

// One observation: a count (or any nonnegative number) for each channel; NaN where it is missing.
using Observation = std::span<const double>;

// sum_m log Gamma(y_m + 1) over the channels that were seen: the part of the Poisson
// log-likelihood that no parameter changes.
double log_factorials(Observation y);

// The channels of an observation, sorted by what they cost: one with a count needs a logarithm, one
// at zero enters by its intensity alone, one that was not seen does not enter at all. Used for one
// observation after another, it allocates nothing.
class SeenChannels {
 public:
  // column_sums: of the basis.
  void look_at(Observation y, const Matrix& basis, const Vector& column_sums);

  bool any() const { return any_; }                           // whether a channel was seen
  std::span<const double> counts() const { return counts_; }  // the positive ones
  std::span<const double> rows() const { return rows_; }      // of the basis, of their channels
  const Vector& total() const { return total_; }  // K: sum of B(m, k) over the channels seen

 private:
  std::vector<double> counts_;
  std::vector<double> rows_;
  Vector total_;
  bool any_ = false;
};

// out(i) = sum over the channels seen of y_m log lambda_m(x_i) - lambda_m(x_i), which is
// log g(y | x_i) without the factorials, for activations x_i in the rows of an n x K block. A
// positive count under zero intensity gives -infinity.
void log_likelihoods(const Eigen::Ref<const Matrix>& activations, const SeenChannels& seen,
                     std::span<double> out);

// The Poisson law of an observation on finitely many activations x: channel m has intensity
// lambda_m(x) = sum_k B(m, k) x_k.
//
// Logarithms are kept from one basis to the next: a row of the table is filled when its channel
// first has a positive count, so a channel that stays at zero costs no logarithm at all.
class StateLikelihoods {
 public:
  explicit StateLikelihoods(Matrix states);  // n x K: one row a state

  const Matrix& states() const { return states_; }
  const Matrix& basis() const { return basis_; }
  Index num_states() const { return states_.rows(); }
  Index num_channels() const { return basis_.rows(); }

  void set_basis(const Matrix& basis);  // M x K

  // out(x) = sum over the channels seen of y_m log lambda_m(x) - lambda_m(x), which is log g(y|x)
  // without the factorials. A positive count under zero intensity gives -infinity.
  void log_likelihoods(Observation y, Eigen::Ref<Vector> out);

 private:
  const double* log_intensities(Index channel);
  void add_collected_rows(Eigen::Ref<Vector> out);

  Matrix states_;
  Matrix basis_;
  Vector total_intensity_;           // sum_m lambda_m(x)
  Matrix log_table_;                 // n x M, or n x 1 where that would be too large
  std::vector<bool> is_row_filled_;  // of the full table; empty when there is none
  std::vector<const double*> rows_;  // of the channels with a positive count, and those counts
  std::vector<double> counts_;
};

}  // namespace headwater
