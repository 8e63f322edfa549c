#pragma once

#include <vector>

#include "headwater/block_law.hpp"
#include "headwater/emission/state_table.hpp"

namespace headwater {

// Poisson log-likelihoods on finitely many states. Logarithms of intensities are kept from one
// basis to the next: a channel that stays at zero costs no logarithm at all.
class PoissonStateLikelihoods final : public StateLikelihoods {
 public:
  using StateLikelihoods::StateLikelihoods;
  std::unique_ptr<StateLikelihoods> clone() const override;
  void set_emission(const Emission& emission) override;
  void log_likelihoods(const Observation& y, Eigen::Ref<Vector> out) override;

 private:
  Matrix basis_;
  Vector total_intensity_;  // sum_m lambda_m(x)
  StateTable logarithms_;   // of the intensities
  std::vector<Stretch> stretches_;
};

}  // namespace headwater
