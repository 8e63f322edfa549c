#pragma once

#include <memory>
#include <string>

#include "headwater/engines/engine.hpp"
#include "headwater/engines/particle_engine.hpp"
#include "headwater/filters/beam_filter.hpp"

namespace headwater {

enum class EngineKind {
  kAuto,      // by the prior and the size of the basis: see choose_engine
  kExact,     // all states of a finite prior
  kBeam,      // those states of a large finite prior that matter
  kParticle,  // sequential Monte Carlo, any prior
  kFast,      // a product of normal or gamma laws, for priors with affine moments
};

enum class SmootherKind {
  kAuto,     // the engine's own choice
  kPath,     // genealogies of particles, back to the first observation
  kForward,  // exact: every statistic carried forward; particle: all backward weights
  kParis,    // particle: a few backward draws
  kLag,      // a window of later observations
};

// How particles move.
enum class ProposalKind {
  kAuto,    // guided where that pays
  kPrior,   // by the prior alone
  kGuided,  // by the prior and the observation together
};

std::string to_string(EngineKind engine);
std::string to_string(ProposalKind proposal);
std::string to_string(SmootherKind smoother);
std::string to_string(BackwardDraw draw);

// How the E-step is done: the options that fitting a model and applying one share.
struct EngineConfig {
  EngineKind kind = EngineKind::kAuto;
  Index num_particles = 1000;
  ProposalKind proposal = ProposalKind::kAuto;
  Index beam_width = 256;  // states that the beam keeps
  Resampling resampling = Resampling::kSystematic;
  double resample_below = 0.5;
  int num_threads = 1;

  void validate() const;  // throws UsageError
};

}  // namespace headwater
