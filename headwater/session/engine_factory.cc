#include "headwater/session/engine_factory.hpp"

#include <fmt/format.h>

#include "headwater/core/error.hpp"
#include "headwater/engines/beam_engine.hpp"
#include "headwater/engines/exact_engine.hpp"
#include "headwater/engines/fast_engine.hpp"

namespace headwater {

namespace {

ExactEngineOptions exact_options(const Config& config, const AnyPrior& prior) {
  using Smoother = ExactEngineOptions::Smoother;
  ExactEngineOptions options;
  options.smoother = config.paper_exact                          ? Smoother::kForwardAsPrinted
                     : config.smoother == SmootherKind::kForward ? Smoother::kForward
                                                                 : Smoother::kWindow;
  options.window.lag = config.lag;
  options.window.tolerance = config.window_tolerance;
  options.window.block = config.block;
  options.learn_prior = learns_prior(config.effective_m_step(), prior);
  return options;
}

BeamEngineOptions beam_engine_options(const Config& config, const AnyPrior& prior,
                                      std::uint64_t seed) {
  BeamEngineOptions options;
  options.filter = beam_options(config.engine, seed);
  options.window.lag = config.lag;
  options.window.tolerance = config.window_tolerance;
  options.window.block = config.block;
  options.learn_prior = learns_prior(config.effective_m_step(), prior);
  return options;
}

FastEngineOptions fast_engine_options(const Config& config, const AnyPrior& prior,
                                      std::uint64_t seed) {
  FastEngineOptions options;
  options.filter.seed = seed;
  options.window.block = config.block;
  options.learn_prior = learns_prior(config.effective_m_step(), prior);
  return options;
}

// Whether the smoother that is asked for is one of particles alone.
bool wants_particles(const Config& config, const AnyPrior& prior) {
  switch (config.smoother) {
    case SmootherKind::kPath:
    case SmootherKind::kParis:
      return true;
    case SmootherKind::kForward:
      return !is_in_exact_reach(prior);
    default:
      return config.paper_exact && !is_in_exact_reach(prior);
  }
}

}  // namespace

ParticleEngineOptions particle_options(const Config& config, const AnyPrior& prior,
                                       Index num_channels, std::uint64_t seed) {
  using Smoother = ParticleEngineOptions::Smoother;
  ParticleEngineOptions options;
  options.filter = filter_options(config.engine, prior, num_channels, seed);
  if (config.paper_exact && config.engine.proposal == ProposalKind::kAuto) {
    options.filter.guided = false;
  }
  options.smoother = config.paper_exact                          ? Smoother::kPathAsPrinted
                     : config.smoother == SmootherKind::kPath    ? Smoother::kPath
                     : config.smoother == SmootherKind::kParis   ? Smoother::kParis
                     : config.smoother == SmootherKind::kForward ? Smoother::kForward
                                                                 : Smoother::kLag;
  options.backward_draw = config.backward;
  options.num_backward_draws = config.backward_draws;
  options.window.lag = config.lag;
  options.window.block = config.block;
  options.learn_prior = learns_prior(config.effective_m_step(), prior);
  return options;
}

EngineChoice engine_of(const Config& config, const AnyPrior& prior, Index num_channels) {
  EngineChoice choice = chosen_engine(config.engine.kind, prior, num_channels);
  const bool has_no_such_smoother =
      choice.kind == EngineKind::kBeam || choice.kind == EngineKind::kFast;
  if (config.engine.kind == EngineKind::kAuto && has_no_such_smoother &&
      wants_particles(config, prior)) {
    return {EngineKind::kParticle, "the smoother that was asked for is one of particles"};
  }
  return choice;
}

void check_engine(const Config& config, const AnyPrior& prior) {
  const EngineKind engine = engine_of(config, prior, 0).kind;
  if (engine == EngineKind::kParticle) {
    if (config.paper_exact && config.smoother == SmootherKind::kForward) {
      throw UsageError(
          "paper-exact with particles is Algorithm 1; it cannot go with smoother forward");
    }
    check_smoother(prior, particle_options(config, prior, 1, config.seed));
    return;
  }
  if (config.smoother == SmootherKind::kParis || config.smoother == SmootherKind::kPath) {
    const bool draws = config.smoother == SmootherKind::kParis;
    throw UsageError(fmt::format("smoother {} {} particles; the {} engine has lag{}",
                                 to_string(config.smoother), draws ? "draws" : "follows",
                                 to_string(engine),
                                 engine == EngineKind::kExact ? " and forward" : ""));
  }
  if (engine == EngineKind::kExact) return;
  if (config.paper_exact || config.smoother == SmootherKind::kForward) {
    throw UsageError(fmt::format("the {} engine cannot go with {}", to_string(engine),
                                 config.paper_exact ? "paper-exact" : "smoother forward"));
  }
}

std::unique_ptr<Engine> make_engine(const Config& config, const Estimate& start, std::uint64_t seed,
                                    std::shared_ptr<const ThreadPool> pool) {
  const AnyPrior& prior = start.prior;
  switch (engine_of(config, prior, start.basis.rows()).kind) {
    case EngineKind::kExact:
      return std::make_unique<ExactEngine>(prior, start.basis, exact_options(config, prior));
    case EngineKind::kBeam:
      return std::make_unique<BeamEngine>(prior, start.basis,
                                          beam_engine_options(config, prior, seed));
    case EngineKind::kFast:
      return std::make_unique<FastEngine>(prior, start.basis,
                                          fast_engine_options(config, prior, seed));
    default:
      return std::make_unique<ParticleEngine>(
          prior, start.basis, particle_options(config, prior, start.basis.rows(), seed),
          std::move(pool));
  }
}

}  // namespace headwater
