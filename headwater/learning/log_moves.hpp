#pragma once

#include "headwater/prior_arguments.hpp"

namespace headwater {

// The log-density of the logarithm u of an activation, and its derivatives: d1 once, d2 twice and
// d3 three times in u.
struct LogStateTerms {
  double value;
  double d1, d2, d3;
};

// The log-density of a move from u' to u. Letters name the derivatives: b for before (u'), a for
// after (u).
struct LogMoveTerms {
  double value;
  double b, a;
  double bb, ba, aa;
  double bbb, bba, baa, aaa;
};

// The moves of u = log x of a prior with affine moments. Where the moments are those of u, moves
// are normal:
//   u ~ N(intercept + slope u', noise).
// Where they are those of x, moves are of the autoregressive gamma process that has them,
//   h ~ Poisson(beta x'),  x ~ Gamma(shape + h, rate).
// That is what `log-gaussian`, `gamma` and `independent` are; of another prior it is an
// approximation. The first state has the stationary law.
class LogMoves {
 public:
  explicit LogMoves(const AffineMoments& moments);

  Index num_components() const { return first_.size(); }
  bool is_logarithmic() const { return is_logarithmic_; }
  // Mean and variance of u under the stationary law, approximately for gamma laws.
  double mean(Index k) const { return mean_[k]; }
  double variance(Index k) const { return variance_[k]; }

  LogStateTerms first(Index k, double u) const;
  LogMoveTerms move(Index k, double before, double after) const;

 private:
  LogMoveTerms gamma_move(Index k, double before, double after) const;

  bool is_logarithmic_;
  Vector first_;  // (gamma) rate of the stationary law
  Vector intercept_, slope_, noise_;
  Vector shape_, rate_, beta_;
  Vector mean_, variance_;
};

}  // namespace headwater
