#include "headwater/smoothers/particle_step.hpp"

namespace headwater {

void ParticleStep::remember(const ParticleFilter& filter, Observation y, double step_size_of_it) {
  states = filter.states();
  activations = filter.activations();
  weights = filter.weights();
  ancestors = filter.ancestors();
  observation = Eigen::Map<const Vector>(y.data(), static_cast<Index>(y.size()));
  step_size = step_size_of_it;
}

}  // namespace headwater
