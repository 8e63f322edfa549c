#pragma once

#include "headwater/block_law.hpp"
#include "headwater/emission.hpp"
#include "headwater/emission/state_table.hpp"

namespace headwater {

// Negative binomial log-likelihoods on finitely many states. The log-likelihood is
//   - sum_m s_m(x) + sum_m y_m a_m(x),  s = log(1 + phi lambda) / phi,  a = log lambda - phi s,
// so an observation costs no logarithm: the sum of all s and the a's are kept from one basis to the
// next.
class NegativeBinomialStateLikelihoods final : public StateLikelihoods {
 public:
  using StateLikelihoods::StateLikelihoods;
  std::unique_ptr<StateLikelihoods> clone() const override;
  void set_emission(const Emission& emission) override;
  void log_likelihoods(const Observation& y, Eigen::Ref<Vector> out) override;

 private:
  void sum_up();
  // out += factor s_m(x) for each state, at another exposure.
  void add_softened(Index channel, double exposure, double factor, Eigen::Ref<Vector> out);

  Matrix basis_;
  Vector dispersion_;  // M
  Vector weights_;     // 1 / phi, or 0
  RowMatrix rows_;     // the basis, row by row
  std::vector<Stretch> stretches_;
  Vector total_;  // sum_m s_m(x)
  bool has_total_ = false;
  StateTable log_odds_;  // a's
  Vector intensity_;     // of one channel
};

}  // namespace headwater
