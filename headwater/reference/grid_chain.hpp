#pragma once

#include <vector>

#include "headwater/emission/statistics.hpp"
#include "headwater/models/any_prior.hpp"

namespace headwater::reference {

// The states of one component, cut into cells.
struct GridAxis {
  Vector states;           // S: the state that stands for a cell, as the prior stores it; ascending
  Vector edges;            // S - 1: where neighbouring cells meet
  Matrix move_statistics;  // S^2 x J: s3 of the move from cell i to cell j in row i S + j

  Index cell_of(double state) const;
};

// A prior whose components are independent chains of real numbers, as a chain of finitely many
// states, one axis for each component. What the exact engine finds for it is the truth for the
// prior, but for the width of the cells:
//
// - log-gaussian, gamma and independent have smooth densities f. The cells are equally wide in a
//   coordinate in which f and its stationary law fall off fast at both ends, and a cell's mass is f
//   at its middle times its width. Such sums are integrals with an error that falls exponentially
//   with the number of cells, once a cell is narrower than f and the law of the filter are. In
//   log x that is about 1 / sqrt(n) for an observation of n counts in all, in sqrt(x) half of
//   sqrt(1 / sum b), b a column of the basis.
// - relaxed-selection jumps at the previous state. Its cells have exact masses, averaged over the
//   stationary law in the cell that a move starts from; the error falls with the squared width.
struct GridChain {
  FiniteChain chain;
  std::vector<GridAxis> axes;
};

// prior: one of those four, of any scale, parameters shared or not. cells: for each axis; even, at
// least 8; relaxed-selection has one more at each edge.
GridChain make_grid_chain(const AnyPrior& prior, Index cells);

// What is true of a record, given the basis (M x K, or M x (K + 1) with a background).
// observations: M x T, NaN where missing.
struct GridTruth {
  double log_likelihood = 0;
  Vector log_predictive;  // T: log p(y_t | y_1..t-1)
  Matrix filtered_means;  // T x K: E[x_t | y_1..t]
  Matrix smoothed_means;  // T x K: E[x_t | y_1..T]
  Statistics statistics;  // each observation, and each move, weighs 1 / T; s3 as the prior has it
};

GridTruth truth_on_grid(const GridChain& grid, const Matrix& basis, const Matrix& observations);

// The same for a prior, whose cells are also taken twice as wide if their error falls with the
// squared width, and what both say is extrapolated to width 0. cells: a multiple of 4, at least 16.
GridTruth truth_of(const AnyPrior& prior, const Matrix& basis, const Matrix& observations,
                   Index cells);

}  // namespace headwater::reference
