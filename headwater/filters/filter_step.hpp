#pragma once

#include <variant>

#include "headwater/core/matrix.hpp"

namespace headwater {

// What a particle filter has to say of one step.
struct ParticleReport {
  double effective_size = 0;   // 1 / sum of squared weights
  bool resampled = false;      // whether the step began with a resampling
  bool guided = false;         // whether particles looked at the observation before they moved
  Index bridge_stages = 0;     // tempering stages between their draws and their weights
  Index unique_ancestors = 0;  // particles of the step before that have descendants in this one
};

// ... a beam filter.
struct BeamReport {
  double effective_size = 0;
  Index num_states = 0;  // that were kept
  // How much of the law, as far as it was looked at, is in states that were not kept.
  double lost_mass = 0;
};

// ... a fast filter.
struct FastReport {
  double effective_size = 0;  // of the draws that correct the law; 0 where it is not corrected
};

// What became of one observation in a filter.
struct FilterStep {
  double log_predictive = 0;  // log p(y_t | y_1..t-1) under the parameters of the time
  // No state could have given this observation. The law is left as predicted, as if the
  // observation were missing, and log_predictive is -infinity.
  bool impossible = false;

  // What is particular to the filter; an exact filter has nothing to add.
  std::variant<std::monostate, ParticleReport, BeamReport, FastReport> of_filter;

  const ParticleReport* particles() const { return std::get_if<ParticleReport>(&of_filter); }
  const BeamReport* beam() const { return std::get_if<BeamReport>(&of_filter); }
};

}  // namespace headwater
