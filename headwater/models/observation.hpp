#pragma once

#include <cmath>
#include <concepts>
#include <span>
#include <vector>

#include "headwater/core/matrix.hpp"
#include "headwater/core/state_archive.hpp"
#include "headwater/kernels/poisson.hpp"

namespace headwater {

// One observation: a count (or any nonnegative number) for each channel, NaN where it is missing;
// and, where that differs, how much of each channel there was to be counted, its exposure (hours,
// area, ...): channel m has intensity exposure(m) lambda_m(x). A view of somebody else's numbers.
class Observation {
 public:
  Observation() = default;
  // Exposures: none, which means 1 for every channel, or finite and nonnegative; a channel of
  // exposure 0 must be missing.
  template <class Counts>
  requires std::convertible_to<const Counts&, std::span<const double>> Observation(
      const Counts& counts, std::span<const double> exposures = {})
      : counts_(counts), exposures_(exposures) {}

  std::size_t size() const { return counts_.size(); }
  double operator[](Index m) const { return counts_[static_cast<std::size_t>(m)]; }
  const double* data() const { return counts_.data(); }
  auto begin() const { return counts_.begin(); }
  auto end() const { return counts_.end(); }

  std::span<const double> exposures() const { return exposures_; }
  double exposure(Index m) const {
    if (std::isnan((*this)[m])) return 0;
    return exposures_.empty() ? 1 : exposures_[static_cast<std::size_t>(m)];
  }

 private:
  std::span<const double> counts_;
  std::span<const double> exposures_;
};

// An observation that is kept.
class StoredObservation {
 public:
  void remember(Observation y);
  operator Observation() const { return {as_span(counts_), as_span(exposures_)}; }
  void exchange(StateArchive& archive) { archive(counts_, exposures_); }

 private:
  Vector counts_;
  Vector exposures_;  // empty if all are 1
};

// sum over the channels seen of y_m log exposure(m) - log Gamma(y_m + 1): the part of the Poisson
// log-likelihood that no parameter changes.
double log_base_measure(Observation y);

// The channels of an observation, sorted by what they cost: one with a count needs a logarithm, one
// at zero enters by its intensity alone, one that was not seen does not enter at all. Used for one
// observation after another, it allocates nothing.
class SeenChannels {
 public:
  // column_sums: of the basis.
  void look_at(Observation y, const Matrix& basis, const Vector& column_sums);

  bool any() const { return any_; }                           // whether a channel was seen
  std::span<const double> counts() const { return counts_; }  // the positive ones
  const CountRuns& count_runs() const { return count_runs_; }
  std::span<const double> rows() const { return rows_; }  // of the basis, of their channels
  const Vector& total() const { return total_; }          // K: sum over m of exposure(m) B(m, k)

 private:
  std::vector<double> counts_;
  CountRuns count_runs_;
  std::vector<double> rows_;
  Vector total_;
  bool any_ = false;
};

// out(i) = sum over the channels seen of y_m log lambda_m(x_i) - exposure(m) lambda_m(x_i), which
// is log g(y | x_i) without the base measure, for activations x_i in the rows of an n x K block. A
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

  // out(x) = sum over the channels seen of y_m log lambda_m(x) - exposure(m) lambda_m(x), which is
  // log g(y|x) without the base measure. A positive count under zero intensity gives -infinity.
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
