#include "headwater/smoothers/particle_sweep.hpp"

#include "headwater/emission/shared_rows.hpp"

namespace headwater {

void ParticleSweep::run(std::span<const ParticleStep> steps, std::span<const double> coefficients,
                        const ParticleFilter& filter, BackwardKernel& kernel, Vector& law,
                        Statistics& statistics) {
  SharedRows rows(statistics);
  sweep_back(steps, coefficients, filter, kernel, law, before_law_, as_span(statistics.s3),
             [&](std::size_t s, const Vector& law_of_s) {
               if (coefficients[s] == 0) return;
               add_emission(steps[s], filter, coefficients[s], law_of_s, statistics);
             });
  sums_->finish(filter.emission(), statistics);
  rows.gather();
}

void ParticleSweep::add_emission(const ParticleStep& step, const ParticleFilter& filter,
                                 double coefficient, const Vector& law, Statistics& statistics) {
  const Index n = law.size();
  if (weights_.size() != n) weights_.resize(n);
  alive_.clear();
  for (Index i = 0; i < n; ++i) {
    if (!(law[i] > 0)) continue;
    weights_[static_cast<Index>(alive_.size())] = coefficient * law[i];
    alive_.push_back(i);
  }
  const auto count = static_cast<Index>(alive_.size());
  sums_->add_one(activations_.of(step, alive_, filter), filter.emission(), weights_.head(count),
                 step.observation, statistics);
}

}  // namespace headwater
