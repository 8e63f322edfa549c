#pragma once

#include <vector>

#include "headwater/emission/statistics.hpp"
#include "headwater/models/finite_chain.hpp"

namespace headwater::reference {

// Everything about a short record by summing over every path of the hidden states: n^T of them.
// The truth that clever recursions are tested against; written to be obviously right.
struct PathSums {
  double log_likelihood = 0;
  std::vector<double> log_predictive;  // log p(y_t | y_1..t-1)
  std::vector<Vector> filtered;        // p(x_t | y_1..t)
  std::vector<Vector> smoothed;        // p(x_t | y_1..T)
  Statistics statistics;               // sum_t coefficient_t E[s_t | y_1..T]
};

// states: n x K, with a column of ones for a background. observations: M x T, NaN where missing.
PathSums sum_over_paths(const FiniteChain& chain, const Matrix& states, const Matrix& basis,
                        const Matrix& observations, const std::vector<double>& coefficients);

// log g(y | x), term by term: PO(0; 0) = 1, PO(v > 0; 0) = 0.
double log_poisson(const Eigen::Ref<const Vector>& y, const Vector& intensity);

// The whole n x n transition matrix.
Matrix dense_transition(const FiniteChain& chain);

}  // namespace headwater::reference
