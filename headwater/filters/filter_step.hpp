#pragma once

#include "headwater/core/matrix.hpp"

namespace headwater {

// What became of one observation in a filter.
struct FilterStep {
  double log_predictive = 0;  // log p(y_t | y_1..t-1) under the parameters of the time
  // No state could have given this observation. The law is left as predicted, as if the
  // observation were missing, and log_predictive is -infinity.
  bool impossible = false;

  // Of a filter that has particles, or some of all states; 0 elsewhere.
  double effective_size = 0;  // 1 / sum of squared weights
  // Of a particle filter; 0 elsewhere.
  bool resampled = false;      // whether the step began with a resampling
  bool guided = false;         // whether particles looked at the observation before they moved
  Index bridge_stages = 0;     // in how many stages they were then brought to their law, if any
  Index unique_ancestors = 0;  // particles of the step before that have descendants in this one

  // Of a beam filter; 0 elsewhere.
  Index num_states = 0;  // that were kept
  // How much of the law, as far as it was looked at, is in states that were not kept.
  double lost_mass = 0;
};

}  // namespace headwater
