#pragma once

#include <span>

#include "headwater/filters/particle_filter.hpp"

namespace headwater {

// What a particle smoother keeps of one step of the filter. Not the activations, which follow from
// the states and are wanted of a part of the particles only.
struct ParticleStep {
  void remember(const ParticleFilter& filter, const Observation& y, double its_step_size);
  void exchange(StateArchive& archive, const ParticleFilter& filter);

  Matrix states;
  Vector weights;
  Ancestors ancestors;
  Ancestors draws;  // where a backward kernel draws: so many for each particle, one after another
  Observation observation;
  double step_size = 0;
};

// Chosen rows of a matrix, to the first rows of another one, which grows if it has to.
void gather_rows(const Eigen::Ref<const Matrix>& from, std::span<const Index> rows, Matrix& to);

// Activations of chosen particles of a step, and room to compute them in.
class ChosenActivations {
 public:
  // One row a particle; with a background, a last column of ones. Valid until the next call.
  Eigen::Ref<const Matrix> of(const Eigen::Ref<const Matrix>& states, const ParticleFilter& filter);
  Eigen::Ref<const Matrix> of(const ParticleStep& step, std::span<const Index> particles,
                              const ParticleFilter& filter);

 private:
  Matrix states_;
  Matrix activations_;
};

}  // namespace headwater
