#pragma once

#include <vector>

#include "headwater/block_law.hpp"
#include "headwater/emission.hpp"

namespace headwater {

// Negative binomial log-likelihoods on finitely many states. The log-likelihood is
//   - sum_m s_m(x) + sum_m y_m a_m(x),  s = log(1 + phi lambda) / phi,  a = log lambda - phi s,
// so an observation costs no logarithm: the sum of all s is kept from one basis to the next, and
// a column of a's is filled when its channel first has a count.
class NegativeBinomialStateLikelihoods final : public StateLikelihoods {
 public:
  using StateLikelihoods::StateLikelihoods;
  std::unique_ptr<StateLikelihoods> clone() const override;
  void set_emission(const Emission& emission) override;
  void log_likelihoods(const Observation& y, Eigen::Ref<Vector> out) override;

 private:
  const double* log_odds(Index channel);
  // out += factor s_m(x) for each state, at another exposure.
  void add_softened(Index channel, double exposure, double factor, Eigen::Ref<Vector> out);

  Matrix basis_;
  Vector dispersion_;                   // M
  Vector total_;                        // sum_m s_m(x)
  Matrix table_;                        // n x M of a's, or n x 1 where that would be too large
  std::vector<bool> is_filled_;         // of the full table; empty when there is none
  Vector intensity_;                    // of one channel
  std::vector<const double*> columns_;  // of the channels with a count
  std::vector<double> counts_;          // ... and their counts
};

}  // namespace headwater
