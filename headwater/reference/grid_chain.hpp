#pragma once

#include <vector>

#include "headwater/any_prior.hpp"
#include "headwater/emission/statistics.hpp"

namespace headwater::reference {

// The states of one component, divided into cells.
struct GridAxis {
  Vector states;           // S: the state that represents a cell, as the prior stores it; ascending
  Vector edges;            // S - 1: the borders between neighbouring cells
  Matrix move_statistics;  // S^2 x J: s3 of the transition from cell i to j in row i S + j

  Index cell_of(double state) const;
};

// A finite-state approximation of a prior whose components are independent real-valued chains, with
// one axis per component. The exact engine's results for it are those of the prior, up to the
// discretisation error:
//
//   - log-gaussian, gamma and independent have smooth densities f. The cells are equally wide in a
//     coordinate in which f and its stationary distribution decay fast at both ends, and a cell's
//     probability is f at its midpoint times its width. The error of such sums decreases
//     exponentially with the number of cells, once a cell is narrower than f and the filtering
//     distribution. The latter's width in log x is about 1 / sqrt(n) for an observation of n counts
//     in all; in sqrt(x) it is half of sqrt(1 / sum b), where b is a column of the basis.
//   - relaxed-selection has a density that jumps at the previous state. Its cells have exact
//     probabilities, averaged over the stationary distribution within the starting cell. The error
//     decreases with the squared width.
struct GridChain {
  FiniteChain chain;
  std::vector<GridAxis> axes;
};

// prior: one of those four, with any scale, and parameters shared or not. cells: the number per
// axis, even and at least 8; relaxed-selection adds one at each edge.
GridChain make_grid_chain(const AnyPrior& prior, Index cells);

// The exact results for a record, given the basis (M x K, or M x (K + 1) with a background).
// observations: M x T, NaN if missing.
struct GridTruth {
  double log_likelihood = 0;
  Vector log_predictive;  // T: log p(y_t | y_1..t-1)
  Matrix filtered_means;  // T x K: E[x_t | y_1..t]
  Matrix smoothed_means;  // T x K: E[x_t | y_1..T]
  Statistics statistics;  // observations and transitions have weight 1 / T; s3 as in the prior
};

GridTruth truth_on_grid(const GridChain& grid, const Matrix& basis, const Matrix& observations);

// The same for a prior. If the error decreases with the squared width, the computation is repeated
// with cells twice as wide and extrapolated to width 0. cells: a multiple of 4, at least 16.
GridTruth truth_of(const AnyPrior& prior, const Matrix& basis, const Matrix& observations,
                   Index cells);

}  // namespace headwater::reference
