#include "headwater/smoothers/particle_sweep.hpp"

namespace headwater {

void ParticleSweep::run(std::span<const ParticleStep> steps, std::span<const double> coefficients,
                        const ParticleFilter& filter, BackwardKernel& kernel, Vector& law,
                        Statistics& statistics) {
  sweep_back(steps, coefficients, filter, kernel, law, as_span(statistics.s3),
             [&](std::size_t s, const Vector& law_of_s) {
               if (coefficients[s] == 0) return;
               add_emission(steps[s], filter.basis(), coefficients[s], law_of_s, statistics);
             });
}

void ParticleSweep::add_emission(const ParticleStep& step, const Matrix& basis, double coefficient,
                                 const Vector& law, Statistics& statistics) {
  alive_.clear();
  for (Index i = 0; i < law.size(); ++i) {
    if (law[i] > 0) alive_.push_back(i);
  }
  activations_ = step.activations(alive_, Eigen::all);
  weights_ = coefficient * law(alive_);
  emission_.add(activations_, basis, weights_, step.observation, statistics);
}

}  // namespace headwater
