#include "headwater/engines/particle_batch.hpp"

#include <algorithm>

#include "headwater/engines/particle_engine.hpp"
#include "headwater/smoothers/particle_sweep.hpp"

namespace headwater {

namespace {

// The particles that a law gives any weight.
class AliveParticles {
 public:
  Eigen::RowVectorXd mean_activation(const ParticleStep& step, const Vector& law,
                                     const ParticleFilter& filter) {
    particles_.clear();
    for (Index i = 0; i < law.size(); ++i) {
      if (law[i] > 0) particles_.push_back(i);
    }
    return law(particles_).transpose() * activations_.of(step, particles_, filter);
  }

 private:
  std::vector<Index> particles_;
  ChosenActivations activations_;
};

}  // namespace

Matrix particle_smoothed_activations(ParticleFilter& filter, const RecordView& observations) {
  ParticleEngineOptions options;
  options.smoother = filter.prior().has_density() ? ParticleEngineOptions::Smoother::kParis
                                                  : ParticleEngineOptions::Smoother::kLag;
  const Index lag = default_lag(options.smoother);
  const Index window = 2 * lag;
  const auto kernel = make_kernel(options);

  AliveParticles alive;
  const Index length = observations.size();
  Matrix means(length, filter.basis().cols());
  std::vector<ParticleStep> steps(static_cast<std::size_t>(window));
  Index kept = 0;  // steps in the window, whose first is observation `first`
  Index first = 0;
  const std::vector<double> no_moves(static_cast<std::size_t>(window), 0);
  for (Index t = 0; t < length; ++t) {
    const Observation& y = observations[t];
    filter.step(y);
    steps[kept].remember(filter, y, 0);
    if (kept > 0) kernel->prepare(filter, steps[kept - 1], steps[kept]);
    ++kept;
    const bool is_last = t + 1 == length;
    if (kept < window && !is_last) continue;
    const auto settled = static_cast<std::size_t>(is_last ? kept : lag);
    Vector law = steps[kept - 1].weights;
    Vector before_law;
    sweep_back({steps.data(), static_cast<std::size_t>(kept)}, no_moves, filter, *kernel, law,
               before_law, {}, [&](std::size_t s, const Vector& law_of_s) {
                 if (s >= settled) return;
                 means.row(first + static_cast<Index>(s)) =
                     alive.mean_activation(steps[s], law_of_s, filter);
               });
    std::rotate(steps.begin(), steps.begin() + static_cast<Index>(settled), steps.begin() + kept);
    first += static_cast<Index>(settled);
    kept -= static_cast<Index>(settled);
  }
  return means;
}

}  // namespace headwater
