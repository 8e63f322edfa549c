#pragma once

#include <functional>
#include <vector>

#include "headwater/emission/statistics.hpp"
#include "headwater/finite_chain.hpp"

namespace headwater::reference {

// All exact results for a short record, by summation over all n^T paths of the hidden states.
// Efficient recursions are tested against this; it is written to be obviously correct.
struct PathSums {
  double log_likelihood = 0;
  std::vector<double> log_predictive;  // log p(y_t | y_1..t-1)
  std::vector<Vector> filtered;        // p(x_t | y_1..t)
  std::vector<Vector> smoothed;        // p(x_t | y_1..T)
  Statistics statistics;               // sum_t coefficient_t E[s_t | y_1..T]
};

// states: n x K, plus a column of ones if there is a background. observations: M x T, NaN if
// missing.
PathSums sum_over_paths(const FiniteChain& chain, const Matrix& states, const Matrix& basis,
                        const Matrix& observations, const std::vector<double>& coefficients);

// log g(y | x), term by term, with PO(0; 0) = 1 and PO(v > 0; 0) = 0.
double log_poisson(const Eigen::Ref<const Vector>& y, const Vector& intensity);

// The full n x n transition matrix.
Matrix dense_transition(const FiniteChain& chain);

// Calls visit(path) for every sequence of `length` states out of n.
void for_each_path(Index n, Index length,
                   const std::function<void(const std::vector<Index>&)>& visit);

// s3 += weight for the move of each axis from one joint state to another.
void add_moves(const FiniteChain& chain, Index from, Index to, double weight, Vector& s3);

}  // namespace headwater::reference
