#pragma once

#include "headwater/core/matrix.hpp"
#include "headwater/core/state_archive.hpp"

namespace headwater {

// How a component's next state follows from the one before, in mean and variance, which both are
// affine in it:
//   E[s | s'] = intercept + slope s',   Var[s | s'] = noise + noise_slope s',
// K numbers each. The state is the activation, of a law like a gamma law, or the logarithm of the
// activation, of a law like a normal one.
struct AffineMoments {
  bool is_logarithmic = false;
  Vector intercept;
  Vector slope;  // inside (-1, 1)
  Vector noise;
  Vector noise_slope;

  // Of the stationary law.
  Vector mean() const { return intercept.array() / (1 - slope.array()); }
  Vector variance() const {
    return (noise.array() + noise_slope.array() * mean().array()) / (1 - slope.array().square());
  }
};

// Expectations of a move of each component, from state s' to state s; K numbers each.
struct ExpectedMoves {
  void exchange(StateArchive& archive) {
    archive(before, after, before_square, after_square, product, log_after);
  }

  Vector before;         // E[s']
  Vector after;          // E[s]
  Vector before_square;  // E[s'^2]
  Vector after_square;   // E[s^2]
  Vector product;        // E[s' s]
  Vector log_after;      // E[log s], where the state is the activation
};

}  // namespace headwater
