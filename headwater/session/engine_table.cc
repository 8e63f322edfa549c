#include "headwater/session/engine_table.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "headwater/engines/beam_engine.hpp"
#include "headwater/engines/exact_batch.hpp"
#include "headwater/engines/exact_engine.hpp"
#include "headwater/engines/fast_engine.hpp"
#include "headwater/engines/particle_batch.hpp"
#include "headwater/engines/particle_engine.hpp"
#include "headwater/error.hpp"
#include "headwater/learning/m_step.hpp"

namespace headwater {

namespace {

void accept_all(const Config&, const AnyPrior&) {}

bool learns(const EngineRequest& request) {
  return learns_prior(request.config.effective_m_step(), request.start.prior);
}

void set_window(const Config& config, WindowOptions& window) {
  window.lag = config.lag;
  window.tolerance = config.window_tolerance;
  window.block = config.block;
}

// --- exact
// -----------------------------------------------------------------------------------------

std::optional<std::string> why_exact(const AnyPrior& prior, Index) {
  if (!is_in_exact_reach(prior)) return std::nullopt;
  return fmt::format("prior '{}' has {} states, no more than {}", prior.name(),
                     prior.finite_chain().num_states(), kLargestExactStateSpace);
}

std::unique_ptr<Engine> make_exact(const EngineRequest& request) {
  using Smoother = ExactEngineOptions::Smoother;
  const Config& config = request.config;
  ExactEngineOptions options;
  options.smoother = !request.smooths                            ? Smoother::kNone
                     : config.paper_exact                        ? Smoother::kForwardAsPrinted
                     : config.smoother == SmootherKind::kForward ? Smoother::kForward
                                                                 : Smoother::kWindow;
  set_window(config, options.window);
  options.learn_prior = learns(request);
  return std::make_unique<ExactEngine>(request.start.prior, request.start.emission(), options);
}

Matrix smooth_exactly(const EngineRequest& request, const RecordView& observations) {
  check_exact_reach(request.start.prior);
  ExactBatch batch(request.start.prior.finite_chain(), request.start.emission(), observations);
  return batch.smoothed_activations();
}

void report_nothing(const FilterStep&, const VisitField&) {}

// --- beam
// ------------------------------------------------------------------------------------------

std::optional<std::string> why_beam(const AnyPrior& prior, Index) {
  if (!is_in_beam_reach(prior)) return std::nullopt;
  return fmt::format("prior '{}' has more than {} states", prior.name(), kLargestExactStateSpace);
}

BeamOptions beam_options(const EngineRequest& request) {
  return {request.config.engine.beam_width, request.seed};
}

std::unique_ptr<Engine> make_beam(const EngineRequest& request) {
  BeamEngineOptions options;
  options.filter = beam_options(request);
  options.smooths = request.smooths;
  set_window(request.config, options.window);
  options.learn_prior = learns(request);
  return std::make_unique<BeamEngine>(request.start.prior, request.start.emission(), options);
}

Matrix smooth_by_beam(const EngineRequest& request, const RecordView& observations) {
  check_beam_reach(request.start.prior);
  BeamFilter filter(request.start.prior.finite_chain(), request.start.emission(),
                    beam_options(request));
  return beam_smoothed_activations(filter, observations);
}

void report_beam(const FilterStep& step, const VisitField& visit) {
  const BeamReport& beam = std::get<BeamReport>(step.of_filter);
  if (beam.effective_size > 0) visit("ess", beam.effective_size);
  visit("states", std::int64_t{beam.num_states});
  visit("lost_mass", beam.lost_mass);
}

// --- fast
// ------------------------------------------------------------------------------------------

// Up to these sizes particles are what continuous priors are given: they take a thousand times as
// long as the fast engine, and are not biased.
constexpr Index kMostForParticles = 50;            // components
constexpr Index kLargestForParticles = 1000 * 50;  // entries of the basis

std::optional<std::string> why_fast(const AnyPrior& prior, Index num_channels) {
  const Index components = prior.num_components();
  if (!prior.is_affine()) return std::nullopt;
  if (components <= kMostForParticles && components * num_channels <= kLargestForParticles) {
    return std::nullopt;
  }
  return fmt::format("{} components of {} channels are too many for particles", components,
                     num_channels);
}

std::unique_ptr<Engine> make_fast(const EngineRequest& request) {
  FastEngineOptions options;
  options.filter.seed = request.seed;
  options.smooths = request.smooths;
  options.window.block = request.config.block;
  options.learn_prior = learns(request);
  return std::make_unique<FastEngine>(request.start.prior, request.start.emission(), options);
}

Matrix smooth_fast(const EngineRequest& request, const RecordView& observations) {
  check_fast_reach(request.start.prior);
  FastFilter filter(request.start.prior, request.start.emission(), {.seed = request.seed});
  return fast_smoothed_activations(filter, observations);
}

void report_fast(const FilterStep& step, const VisitField& visit) {
  const FastReport& fast = std::get<FastReport>(step.of_filter);
  if (fast.effective_size > 0) visit("ess", fast.effective_size);
}

// --- particle
// --------------------------------------------------------------------------------------

void accept_every_prior(const AnyPrior&) {}

std::optional<std::string> why_particle(const AnyPrior& prior, Index num_channels) {
  if (!prior.is_affine()) {
    return fmt::format("no other engine can handle prior '{}'", prior.name());
  }
  return fmt::format("{} components of {} channels are few enough for particles",
                     prior.num_components(), num_channels);
}

ParticleFilterOptions filter_options(const EngineRequest& request) {
  const EngineConfig& engine = request.config.engine;
  ParticleFilterOptions options{engine.num_particles, engine.resampling, engine.resample_below,
                                request.seed};
  options.guided = choose_proposal(request.config, request.start.prior,
                                   request.start.basis.rows()) == ProposalKind::kGuided;
  // Without resampling the effective size falls to nothing, however particles move.
  options.guided_if_low = engine.proposal == ProposalKind::kAuto && engine.resample_below > 0 &&
                          request.start.prior.is_guided() && !request.config.paper_exact;
  return options;
}

ParticleEngineOptions::Smoother particle_smoother(const Config& config) {
  using Smoother = ParticleEngineOptions::Smoother;
  return config.paper_exact                          ? Smoother::kPathAsPrinted
         : config.smoother == SmootherKind::kPath    ? Smoother::kPath
         : config.smoother == SmootherKind::kParis   ? Smoother::kParis
         : config.smoother == SmootherKind::kForward ? Smoother::kForward
                                                     : Smoother::kLag;
}

ParticleEngineOptions smoother_options(const Config& config) {
  ParticleEngineOptions options;
  options.smoother = particle_smoother(config);
  options.backward_draw = config.backward;
  options.num_backward_draws = config.backward_draws;
  options.window.lag = config.lag;
  options.window.block = config.block;
  return options;
}

void check_particle_options(const Config& config, const AnyPrior& prior) {
  if (config.paper_exact && config.smoother == SmootherKind::kForward) {
    throw UsageError(
        "paper-exact with particles is Algorithm 1; it cannot go with smoother forward");
  }
  check_smoother(prior, smoother_options(config));
}

// A step that is too small to be shared is made on one thread.
std::shared_ptr<const ThreadPool> pool_for(const EngineRequest& request) {
  const bool shares = shares_steps(request.config, request.start.prior, request.start.basis.rows());
  return shares ? request.pool : std::make_shared<const ThreadPool>(1);
}

std::unique_ptr<Engine> make_particle(const EngineRequest& request) {
  ParticleEngineOptions options = smoother_options(request.config);
  if (!request.smooths) options.smoother = ParticleEngineOptions::Smoother::kNone;
  options.filter = filter_options(request);
  options.learn_prior = learns(request);
  return std::make_unique<ParticleEngine>(request.start.prior, request.start.emission(), options,
                                          pool_for(request));
}

Matrix smooth_by_particles(const EngineRequest& request, const RecordView& observations) {
  ParticleFilter filter(request.start.prior, request.start.emission(), filter_options(request),
                        pool_for(request));
  return particle_smoothed_activations(filter, observations);
}

void report_particles(const FilterStep& step, const VisitField& visit) {
  const ParticleReport& particles = std::get<ParticleReport>(step.of_filter);
  visit("ess", particles.effective_size);
  visit("resampled", particles.resampled);
  visit("guided", particles.guided);
  visit("bridge_stages", std::int64_t{particles.bridge_stages});
  visit("unique_ancestors", std::int64_t{particles.unique_ancestors});
}

}  // namespace

const std::vector<EngineInfo>& engine_table() {
  using S = SmootherKind;
  static const std::vector<EngineInfo> table = {
      {EngineKind::kExact,
       "exact",
       "all states of a finite prior",
       check_exact_reach,
       why_exact,
       {S::kLag, S::kForward},
       true,
       accept_all,
       make_exact,
       smooth_exactly,
       report_nothing,
       exact_cost},
      {EngineKind::kBeam,
       "beam",
       "the most probable states of a large finite prior",
       check_beam_reach,
       why_beam,
       {S::kLag},
       false,
       accept_all,
       make_beam,
       smooth_by_beam,
       report_beam,
       beam_cost},
      {EngineKind::kFast,
       "fast",
       "a normal or gamma approximation, for priors with affine moments",
       check_fast_reach,
       why_fast,
       {S::kLag},
       false,
       accept_all,
       make_fast,
       smooth_fast,
       report_fast},
      {EngineKind::kParticle,
       "particle",
       "sequential Monte Carlo, any prior",
       accept_every_prior,
       why_particle,
       {S::kLag, S::kPath, S::kParis, S::kForward},
       true,
       check_particle_options,
       make_particle,
       smooth_by_particles,
       report_particles,
       particle_cost},
  };
  return table;
}

}  // namespace headwater
