#include "headwater/session/engine_config.hpp"

#include <fmt/format.h>

#include "headwater/core/error.hpp"

namespace headwater {

namespace {

constexpr int kMostThreads = 1024;
ParticleFilterOptions plain_options(const EngineConfig& config, std::uint64_t seed) {
  return {config.num_particles, config.resampling, config.resample_below, seed};
}

}  // namespace

std::string to_string(EngineKind engine) {
  switch (engine) {
    case EngineKind::kAuto:
      return "auto";
    case EngineKind::kExact:
      return "exact";
    case EngineKind::kBeam:
      return "beam";
    case EngineKind::kParticle:
      return "particle";
    case EngineKind::kFast:
      return "fast";
  }
  return "";
}

std::string to_string(ProposalKind proposal) {
  switch (proposal) {
    case ProposalKind::kAuto:
      return "auto";
    case ProposalKind::kPrior:
      return "prior";
    case ProposalKind::kGuided:
      return "guided";
  }
  return "";
}

std::string to_string(SmootherKind smoother) {
  switch (smoother) {
    case SmootherKind::kAuto:
      return "auto";
    case SmootherKind::kPath:
      return "path";
    case SmootherKind::kForward:
      return "forward";
    case SmootherKind::kParis:
      return "paris";
    case SmootherKind::kLag:
      return "lag";
  }
  return "";
}

std::string to_string(BackwardDraw draw) {
  switch (draw) {
    case BackwardDraw::kMcmc:
      return "mcmc";
    case BackwardDraw::kRejection:
      return "rejection";
    case BackwardDraw::kExact:
      return "exact";
  }
  return "";
}

void EngineConfig::validate() const {
  plain_options(*this, 0).validate();
  BeamOptions{beam_width, 0}.validate();
  if (num_threads < 1 || num_threads > kMostThreads) {
    throw UsageError(
        fmt::format("threads is {}; expected a number from 1 to {}", num_threads, kMostThreads));
  }
}

}  // namespace headwater
