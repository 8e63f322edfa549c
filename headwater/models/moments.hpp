#pragma once

#include "headwater/core/matrix.hpp"
#include "headwater/core/state_archive.hpp"

namespace headwater {

// The mean and variance of a component's next state, both affine in the previous state:
//   E[s | s'] = intercept + slope s',   Var[s | s'] = noise + noise_slope s',
// K numbers each. The state is either the activation, approximately gamma distributed, or its
// logarithm, approximately normal.
struct AffineMoments {
  bool is_logarithmic = false;
  Vector intercept;
  Vector slope;  // inside (-1, 1)
  Vector noise;
  Vector noise_slope;

  // Moments of the stationary distribution.
  Vector mean() const { return intercept.array() / (1 - slope.array()); }
  Vector variance() const {
    return (noise.array() + noise_slope.array() * mean().array()) / (1 - slope.array().square());
  }
};

// Expected moments of one transition of each component, from state s' to state s; K numbers each.
struct ExpectedMoves {
  void exchange(StateArchive& archive) {
    archive(before, after, before_square, after_square, product, log_after);
  }

  Vector before;         // E[s']
  Vector after;          // E[s]
  Vector before_square;  // E[s'^2]
  Vector after_square;   // E[s^2]
  Vector product;        // E[s' s]
  Vector log_after;      // E[log s], if the state is the activation
};

}  // namespace headwater
