#pragma once

#include "headwater/filters/exact_filter.hpp"
#include "headwater/smoothers/statistics.hpp"

namespace headwater {

// Follows an exact filter and keeps the discounted averages of the expected statistics,
//   S_t = (1 - gamma_t) S_t-1 + gamma_t E[s_t | data],
// by one of two ways: AdjointWindow and ForwardRecursion.
class ExactSmoother {
 public:
  virtual ~ExactSmoother() = default;

  // Takes in the step that the filter has just made. True when the statistics have changed.
  virtual bool advance(const ExactFilter& filter, Observation y, double step_size) = 0;
  // Takes in what is still held back. True when the statistics have changed.
  virtual bool finish(const ExactFilter& filter) = 0;

  virtual const Statistics& statistics() const = 0;
  virtual std::unique_ptr<ExactSmoother> clone() const = 0;
};

}  // namespace headwater
