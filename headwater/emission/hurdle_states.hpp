#pragma once

#include <vector>

#include "headwater/block_law.hpp"
#include "headwater/emission/state_table.hpp"

namespace headwater {

// Log-likelihoods of the hurdle law without levels on finitely many states. The terms of a channel
// that has a count are kept from one basis to the next.
class HurdleStateLikelihoods final : public StateLikelihoods {
 public:
  using StateLikelihoods::StateLikelihoods;
  std::unique_ptr<StateLikelihoods> clone() const override;
  void set_emission(const Emission& emission) override;
  void log_likelihoods(const Observation& y, Eigen::Ref<Vector> out) override;

 private:
  // log(1 - exp(-exposure lambda)) + exposure lambda, for each state.
  void write_terms(Index channel, double exposure, Eigen::Ref<Vector> out);

  Matrix basis_;
  Vector total_intensity_;  // sum_m lambda_m(x)
  StateTable terms_;        // at exposure 1
  Vector own_terms_;        // of a channel at another exposure
  Vector silences_;
  std::vector<double> exposures_;  // of the channels with a count
  std::vector<Stretch> stretches_;
};

}  // namespace headwater
