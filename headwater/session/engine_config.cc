#include "headwater/session/engine_config.hpp"

#include <fmt/format.h>

#include "headwater/core/error.hpp"
#include "headwater/engines/beam_engine.hpp"
#include "headwater/engines/exact_engine.hpp"
#include "headwater/engines/fast_engine.hpp"
#include "headwater/session/options.hpp"

namespace headwater {

namespace {

// Up to these sizes particles are what continuous priors are given: they take a thousand times as
// long as the fast engine, and are not biased.
constexpr Index kMostForParticles = 50;            // components
constexpr Index kLargestForParticles = 1000 * 50;  // entries of the basis

EngineChoice automatic_engine(const AnyPrior& prior, Index num_channels) {
  const Index components = prior.num_components();
  if (is_in_exact_reach(prior)) {
    return {EngineKind::kExact,
            fmt::format("prior '{}' has {} states, no more than {}", prior.name(),
                        prior.finite_chain().num_states(), kLargestExactStateSpace)};
  }
  if (is_in_beam_reach(prior)) {
    return {EngineKind::kBeam, fmt::format("prior '{}' has more than {} states", prior.name(),
                                           kLargestExactStateSpace)};
  }
  if (!prior.is_affine()) {
    return {EngineKind::kParticle,
            fmt::format("prior '{}' is one for particles alone", prior.name())};
  }
  if (components > kMostForParticles || components * num_channels > kLargestForParticles) {
    return {EngineKind::kFast,
            fmt::format("{} components of {} channels are too many for particles", components,
                        num_channels)};
  }
  return {EngineKind::kParticle, fmt::format("{} components of {} channels are within reach of "
                                             "particles",
                                             components, num_channels)};
}

// From so many channels and components on, particles that move by the prior alone are spread too
// thin for what the observations say (bench_proposals).
constexpr Index kGuidedChannels = 20;
constexpr Index kGuidedComponents = 3;

ParticleFilterOptions plain_options(const EngineConfig& config, std::uint64_t seed) {
  return {config.num_particles, config.resampling, config.resample_below, seed};
}

}  // namespace

void EngineConfig::validate() const { check_values(engine_options(), *this); }

EngineChoice chosen_engine(EngineKind asked, const AnyPrior& prior, Index num_channels) {
  if (asked == EngineKind::kAuto) return automatic_engine(prior, num_channels);
  if (asked == EngineKind::kExact) check_exact_reach(prior);
  if (asked == EngineKind::kBeam) check_beam_reach(prior);
  if (asked == EngineKind::kFast) check_fast_reach(prior);
  return {asked, ""};
}

BeamOptions beam_options(const EngineConfig& config, std::uint64_t seed) {
  return {config.beam_width, seed};
}

ProposalKind chosen_proposal(ProposalKind asked, const AnyPrior& prior, Index num_channels) {
  if (asked == ProposalKind::kGuided && !prior.is_guided()) {
    throw UsageError(fmt::format(
        "prior '{}' has no guide, which proposal guided needs; use prior or auto", prior.name()));
  }
  if (asked != ProposalKind::kAuto) return asked;
  const bool pays = prior.is_guided() && num_channels >= kGuidedChannels &&
                    prior.num_components() >= kGuidedComponents;
  return pays ? ProposalKind::kGuided : ProposalKind::kPrior;
}

ParticleFilterOptions filter_options(const EngineConfig& config, const AnyPrior& prior,
                                     Index num_channels, std::uint64_t seed) {
  ParticleFilterOptions options = plain_options(config, seed);
  options.guided = chosen_proposal(config.proposal, prior, num_channels) == ProposalKind::kGuided;
  return options;
}

std::unique_ptr<Engine> make_filter(const EngineConfig& config, const AnyPrior& prior,
                                    const Matrix& basis, std::uint64_t seed) {
  const EngineKind kind = chosen_engine(config.kind, prior, basis.rows()).kind;
  if (kind == EngineKind::kExact) {
    ExactEngineOptions options;
    options.smoother = ExactEngineOptions::Smoother::kNone;
    return std::make_unique<ExactEngine>(prior, basis, options);
  }
  if (kind == EngineKind::kBeam) {
    BeamEngineOptions options;
    options.filter = beam_options(config, seed);
    options.smooths = false;
    return std::make_unique<BeamEngine>(prior, basis, options);
  }
  if (kind == EngineKind::kFast) {
    FastEngineOptions options;
    options.filter.seed = seed;
    options.smooths = false;
    return std::make_unique<FastEngine>(prior, basis, options);
  }
  ParticleEngineOptions options;
  options.filter = filter_options(config, prior, basis.rows(), seed);
  options.smoother = ParticleEngineOptions::Smoother::kNone;
  return std::make_unique<ParticleEngine>(prior, basis, options,
                                          std::make_shared<ThreadPool>(config.num_threads));
}

}  // namespace headwater
