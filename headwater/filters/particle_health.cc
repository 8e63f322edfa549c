#include "headwater/reports.hpp"

#include <algorithm>

namespace headwater {

void ParticleHealth::add(const ParticleReport& step, Index num_particles) {
  if (!(step.effective_size > 0)) return;
  was_guided_ = was_guided_ || step.guided;
  const double part = step.effective_size / static_cast<double>(num_particles);
  ++steps_;
  sum_ += part;
  stages_ += static_cast<double>(step.bridge_stages);
  const double weight = 1 / static_cast<double>(std::min(steps_, 2 * kFewSteps));
  recent_ += weight * (part - recent_);
}

void ParticleHealth::merge(const ParticleHealth& later) {
  if (later.steps_ == 0) return;
  was_guided_ = was_guided_ || later.was_guided_;
  steps_ += later.steps_;
  sum_ += later.sum_;
  stages_ += later.stages_;
  const double weight = std::min(1.0, static_cast<double>(later.steps_) /
                                          static_cast<double>(std::min(steps_, 2 * kFewSteps)));
  recent_ += weight * (later.recent_ - recent_);
}

double ParticleHealth::mean_part() const {
  return steps_ > 0 ? sum_ / static_cast<double>(steps_) : 1;
}

double ParticleHealth::mean_stages() const {
  return steps_ > 0 ? stages_ / static_cast<double>(steps_) : 0;
}

}  // namespace headwater
