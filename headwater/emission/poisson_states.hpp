#pragma once

#include <vector>

#include "headwater/block_law.hpp"

namespace headwater {

// Poisson log-likelihoods on finitely many states. Logarithms of intensities are kept from one
// basis to the next: a column of the table is filled when its channel first has a count, so a
// channel that stays at zero costs no logarithm at all.
class PoissonStateLikelihoods final : public StateLikelihoods {
 public:
  using StateLikelihoods::StateLikelihoods;
  std::unique_ptr<StateLikelihoods> clone() const override;
  void set_emission(const Emission& emission) override;
  void log_likelihoods(const Observation& y, Eigen::Ref<Vector> out) override;

 private:
  const double* log_intensities(Index channel);
  void add_collected(Eigen::Ref<Vector> out);

  Matrix basis_;
  Vector total_intensity_;              // sum_m lambda_m(x)
  Matrix log_table_;                    // n x M, or n x 1 where that would be too large
  std::vector<bool> is_filled_;         // of the full table; empty when there is none
  std::vector<const double*> columns_;  // of the channels with a count
  std::vector<double> counts_;          // ... and their counts
  std::vector<Stretch> stretches_;
};

}  // namespace headwater
