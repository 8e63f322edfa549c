#pragma once

#include <string>

#include "headwater/concepts.hpp"

namespace headwater::reference {

// A component that is uniform in [0, 1), anew at each step: the least that a prior can offer. Tests
// derive priors from it that are broken in one point.
struct UniformPrior {
  std::string name() const { return "uniform"; }
  Index num_components() const { return 1; }
  Index state_size() const { return 1; }
  void sample_initial(const RandomBlock& random, States next) const {
    for (Index i = 0; i < next.rows(); ++i) next(i, 0) = random.particle(i).uniform();
  }
  void sample_transition(const RandomBlock& random, ConstStates, States next) const {
    sample_initial(random, next);
  }
  void activations(ConstStates states, Eigen::Ref<Matrix> x) const { x = states; }
};

}  // namespace headwater::reference
