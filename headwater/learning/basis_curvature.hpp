#pragma once

#include <vector>

#include "headwater/learning/estimate.hpp"

namespace headwater {

// Lengthens EM's steps where they are too short.
//
// EM moves row m of the basis by D_m^-1 g_m, where g_m is the gradient of the log-likelihood and
// D_m = diag(E[x_k loss_m(x)] / B(m, k)) the information if it were known of each count which
// component gave it; the loss is that of CellLaw, 1 for the Poisson law. Nobody knows: even with
// known activations there is only
//   J_m = E[x x^T i(lambda_m(x))],
// where i(lambda) is the information of the law of the counts: 1 / lambda for the Poisson law,
// where J_m B_m = E[x] and so J_m <= D_m. For a small entry in a busy channel J is a hundredth of
// D, and EM takes hundreds of rounds. The longer step is J_m^-1 g_m = J_m^-1 D_m (EM's step):
// Newton's if activations were known, and still too short rather than too long where they are not.
class BasisCurvature {
 public:
  // Whether M matrices of K x K are little enough to keep and to solve.
  static bool is_affordable(Index num_channels, Index num_components);

  // J_m under this estimate, by draws from the prior. `ridge` times D_m is added to it: no step is
  // made longer than by (1 + ridge) / ridge.
  void measure(const Estimate& estimate, double ridge);

  // basis: where EM's step from `before` ends; becomes where the longer one does. No entry is made
  // less than half of what it was, nor more than twice that, unless by EM itself.
  void lengthen_step(const Matrix& before, Matrix& basis) const;

  void exchange(StateArchive& archive) { archive(longer_); }
  // Whether it can be that of a basis of this shape.
  bool fits(const Matrix& basis) const;

 private:
  std::vector<Matrix> longer_;  // of each row, J_m^-1 D_m
};

}  // namespace headwater
