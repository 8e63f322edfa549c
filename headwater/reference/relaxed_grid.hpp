#pragma once

#include <vector>

#include "headwater/matrix.hpp"

namespace headwater::reference {

// Distances d from an edge of (0, 1) with lower < d <= upper, and means over the stationary
// distribution, whose density is proportional to d^-alpha (1 - d)^-(1 - alpha).
struct DistanceCell {
  double lower, upper;
  double mass = 0;
  double mean = 0;
  double mean_inverse = 0;      // E[1 / d]; not used if lower = 0
  double mean_inverse_far = 0;  // E[1 / (1 - d)]

  double width() const { return upper - lower; }
};

// Prior 'relaxed-selection' with one component, discretised into cells of both sides in the order
// of the state: from the middle to x = 1, then from x = 0 to the middle. Transitions start from the
// stationary distribution within a cell, so the stationary distribution over cells is exact.
class RelaxedGrid {
 public:
  // cells: an even number, not counting the one at each edge.
  RelaxedGrid(double alpha, Index cells);

  Index size() const { return 2 * num_half(); }
  Vector states() const;  // E[d] with the sign of the side
  Vector edges() const;
  Vector law() const;
  Matrix transition() const;

  // The probability of a move from cell i into cell j towards the edge: d = U d', U uniform on (0,
  // 1).
  double towards(Index i, Index j) const;
  // The probability of a move from cell i into cell j away from the edge: uniform over the 1 - d'
  // beyond d'.
  double away(Index i, Index j) const;

 private:
  Index num_half() const { return static_cast<Index>(half_.size()); }
  bool same_side(Index i, Index j) const { return (i < num_half()) == (j < num_half()); }
  const DistanceCell& cell(Index i) const;

  double alpha_;
  std::vector<DistanceCell> half_;  // from the middle outward
};

}  // namespace headwater::reference
