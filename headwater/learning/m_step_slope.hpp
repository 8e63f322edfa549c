#pragma once

#include "headwater/emission/statistics.hpp"
#include "headwater/estimate.hpp"
#include "headwater/learning/m_step.hpp"

namespace headwater {

// The M-step as a function of the statistics, and its slope in a direction, by differences.
class MStepSlope {
 public:
  // All three must outlive it.
  MStepSlope(const MStep& m_step, const Estimate& from, const Statistics& at);

  const Vector& point() const { return flat_; }
  // In the directions of the sums and of the sums over phases (see sums_of_visits), both an
  // observation: how numbers_of(estimate) move.
  Vector along(const Vector& direction, const Vector& of_phases) const;

 private:
  // Of the direction to the point: entry by entry where sums are divided by each other.
  double relative_length(const Vector& direction) const;
  double relative_length_of_phases(const Vector& direction) const;
  Vector after(const Vector& direction, const Vector& of_phases, double step) const;

  const MStep& m_step_;
  const Estimate& from_;
  const Statistics& at_;
  mutable Statistics moved_;
  Vector flat_;
};

}  // namespace headwater
