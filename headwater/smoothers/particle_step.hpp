#pragma once

#include "headwater/filters/particle_filter.hpp"

namespace headwater {

// What a particle smoother keeps of one step of the filter.
struct ParticleStep {
  void remember(const ParticleFilter& filter, Observation y, double step_size_of_it);

  Matrix states;
  Matrix activations;
  Vector weights;
  Ancestors ancestors;
  Ancestors draws;  // where a backward kernel draws: so many for each particle, one after another
  Vector observation;
  double step_size = 0;
};

}  // namespace headwater
