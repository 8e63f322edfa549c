#pragma once

#include <cstdint>

#include "headwater/core/state_archive.hpp"
#include "headwater/filters/filter_step.hpp"

namespace headwater {

// Whether enough particles carry the weight, over many steps.
class ParticleHealth {
 public:
  void add(const ParticleReport& step, Index num_particles);

  std::int64_t steps() const { return steps_; }
  double mean_part() const;  // effective size over the number of particles
  double recent_part() const { return recent_; }
  double mean_stages() const;  // of bridging, in a step

  void exchange(StateArchive& archive) { archive(steps_, sum_, stages_, recent_); }

  // So few particles carry the weight that estimates are hardly better than with one.
  static constexpr double kLowPart = 0.05;
  bool is_low() const { return steps_ >= kFewSteps && mean_part() < kLowPart; }
  bool is_low_now() const { return steps_ >= kFewSteps && recent_ < kLowPart; }

 private:
  static constexpr std::int64_t kFewSteps = 100;

  std::int64_t steps_ = 0;
  double sum_ = 0;
  double stages_ = 0;
  double recent_ = 0;
};

}  // namespace headwater
