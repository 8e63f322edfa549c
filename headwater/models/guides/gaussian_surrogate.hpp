#pragma once

#include "headwater/core/cholesky.hpp"
#include "headwater/models/guides/laplace.hpp"
#include "headwater/prior_arguments.hpp"

namespace headwater {

// A likelihood that is Gaussian in u = log x about a point p,
//   log g~(u) = h'(u - p) - (u - p)' J (u - p) / 2,
// for priors whose states are u and move by normal variables that are independent from component
// to component: u ~ N(mean, diag(variance)). J is full, or diagonal where there are many
// components.
class GaussianSurrogate {
 public:
  // About where the likelihood and N(predicted_mean, predicted_precision^-1) have their mode
  // together; the precision is K x K, or K x 1 for a diagonal: see uses_full(). variance: of the
  // moves to come.
  void fit(const Evidence& evidence, const Vector& predicted_mean,
           const Matrix& predicted_precision, const Vector& variance);
  static bool uses_full(Index components) { return components <= Laplace::kMostFull; }

  // In all of these, one row a particle. means: of the moves.
  // out(i) = log of the integral of N(u; mean_i, variance) g~(u).
  void log_worths(ConstStates means, Eigen::Ref<Vector> out) const;
  // A draw of N(u; mean_i, variance) g~(u), by normal numbers.
  void draw(ConstStates means, ConstStates normals, States next) const;
  // ... that is correlated with `states`, the pair of them reversible: step 1, not at all.
  void draw_near(ConstStates means, ConstStates normals, double step, ConstStates states,
                 States next) const;
  // out(i) = log g~(state_i).
  void log_values(ConstStates states, Eigen::Ref<Vector> out) const;

 private:
  // With L L' = diag(1 / variance) + J: b' L'^-1, and b' L^-1, for each row b'.
  void solve_first(States b) const;
  void solve_second(States b) const;
  // What of the whitened law of a move from mean_i is not noise.
  void centre(ConstStates means, States out) const;

  Laplace laplace_;
  Vector slope_;
  Matrix curvature_;
  Vector precision_;  // 1 / variance
  Vector away_;
  Matrix sum_;
  Cholesky factor_;
  Vector root_;                 // L where it is diagonal
  double log_determinant_ = 0;  // of L L' diag(variance)
};

}  // namespace headwater
