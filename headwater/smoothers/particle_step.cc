#include "headwater/smoothers/particle_step.hpp"

#include <algorithm>

#include "headwater/core/state_checks.hpp"
#include "headwater/kernels/all_finite.hpp"

namespace headwater {

void ParticleStep::remember(const ParticleFilter& filter, const Observation& y,
                            double its_step_size) {
  const Index n = filter.num_particles();
  states.resize(n, filter.states().cols());
  weights.resize(n);
  ancestors.resize(static_cast<std::size_t>(n));
  for_each_chunk(filter.pool(), n, kParticleChunk, [&](Index first, Index size, Index) {
    states.middleRows(first, size) = filter.states().middleRows(first, size);
    weights.segment(first, size) = filter.weights().segment(first, size);
    std::copy_n(filter.ancestors().begin() + first, size, ancestors.begin() + first);
  });
  observation = y;
  step_size = its_step_size;
}

void ParticleStep::exchange(StateArchive& archive, const ParticleFilter& filter) {
  archive(states, weights, ancestors, draws, observation, step_size);
  if (!archive.is_reading()) return;
  const Index n = filter.num_particles();
  const auto are_particles = [&](const Ancestors& list) {
    return are_indices(std::span<const std::int32_t>(list), n);
  };
  archive.expect(states.rows() == n && are_states_of(filter.prior(), states),
                 "states that the prior does not have");
  archive.expect(weights.size() == n && is_law(weights), "invalid weights");
  archive.expect(
      static_cast<Index>(ancestors.size()) == n && are_particles(ancestors) && are_particles(draws),
      "particles without an ancestor");
  archive.expect(observation.num_channels() == filter.emission().num_channels(),
                 "an observation of the wrong length");
  archive.expect(is_step_size(step_size), "a step size outside [0, 1]");
}

void gather_rows(const Eigen::Ref<const Matrix>& from, std::span<const Index> rows, Matrix& to) {
  const auto count = static_cast<Index>(rows.size());
  if (to.rows() < count || to.cols() != from.cols()) to.resize(count, from.cols());
  for (Index k = 0; k < from.cols(); ++k) {
    const double* column = from.col(k).data();
    double* out = to.col(k).data();
    for (Index i = 0; i < count; ++i) out[i] = column[rows[i]];
  }
}

Eigen::Ref<const Matrix> ChosenActivations::of(const ParticleStep& step,
                                               std::span<const Index> particles,
                                               const ParticleFilter& filter) {
  gather_rows(step.states, particles, states_);
  return of(states_.topRows(static_cast<Index>(particles.size())), filter);
}

Eigen::Ref<const Matrix> ChosenActivations::of(const Eigen::Ref<const Matrix>& states,
                                               const ParticleFilter& filter) {
  const AnyPrior& prior = filter.prior();
  const Index count = states.rows();
  if (activations_.rows() < count) activations_.setOnes(count, filter.basis().cols());
  auto x = activations_.topRows(count);
  prior.activations(states, x.leftCols(prior.num_components()));
  if (all_finite(x)) return x;
  for (Index i = 0; i < count; ++i) {
    auto own = x.row(i).head(prior.num_components());
    if (!own.allFinite()) own.setZero();  // as the filter has it
  }
  return x;
}

}  // namespace headwater
