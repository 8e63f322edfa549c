#pragma once

#include <span>
#include <vector>

#include "headwater/emission.hpp"
#include "headwater/emission/statistics.hpp"
#include "headwater/smoothers/backward_kernel.hpp"

namespace headwater {

// One pass back over steps of a particle filter, oldest first, by one backward kernel. `law` is of
// the newest step's particles and ends as that of the oldest one's; visit(s, law) is called for
// each step with the law of its particles given what followed. The prior's statistics of the moves
// into step s are added to s3 (unless that is empty) times coefficients[s]; the moves into the
// oldest never are.
// before_law: room to compute in.
template <class Visit>
void sweep_back(std::span<const ParticleStep> steps, std::span<const double> coefficients,
                const ParticleFilter& filter, BackwardKernel& kernel, Vector& law,
                Vector& before_law, std::span<double> s3, const Visit& visit) {
  for (std::size_t s = steps.size(); s-- > 0;) {
    visit(s, law);
    if (s == 0) break;
    kernel.pull_back(filter, steps[s - 1], steps[s], law, coefficients[s], before_law, s3);
    law.swap(before_law);
  }
}

// The statistics of such a pass.
class ParticleSweep {
 public:
  explicit ParticleSweep(const Emission& emission) : sums_(emission.sums()) {}

  // coefficients: what each step's observation counts for; nothing is added for one of 0.
  void run(std::span<const ParticleStep> steps, std::span<const double> coefficients,
           const ParticleFilter& filter, BackwardKernel& kernel, Vector& law,
           Statistics& statistics);

 private:
  void add_emission(const ParticleStep& step, const ParticleFilter& filter, double coefficient,
                    const Vector& law, Statistics& statistics);

  ClonePointer<EmissionSums> sums_;
  std::vector<Index> alive_;  // particles that the law gives any weight
  ChosenActivations activations_;
  Vector weights_;  // what they weigh
  Vector before_law_;
};

}  // namespace headwater
