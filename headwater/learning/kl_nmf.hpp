#pragma once

#include "headwater/matrix.hpp"

namespace headwater {

struct Factorisation {
  Matrix basis;        // M x K
  Matrix activations;  // K x n
  double divergence;
};

// Classical nonnegative matrix factorisation of a block of counts: lowers the divergence
//   sum over seen cells of y log(y / lambda) - y + lambda,  lambda = B X,
// which is the negative log-likelihood of Poisson counts up to a constant, by turns in X and in B,
// with the multiplicative updates of [LeeSeung2001]. It never grows. Activations have no prior
// here, and so the scale of a column of B is arbitrary against that of its row of X.
//
// observations: M x n, nonnegative, NaN where a cell is missing. Zeros of the starting basis stay.
// An observation without any count has no activation.
Factorisation kl_nmf(const Eigen::Ref<const Matrix>& observations, const Matrix& starting_basis,
                     int iterations);

}  // namespace headwater
