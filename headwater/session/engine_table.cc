#include "headwater/session/engine_table.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "headwater/engines/beam_engine.hpp"
#include "headwater/engines/drifting_engine.hpp"
#include "headwater/engines/exact_batch.hpp"
#include "headwater/engines/exact_engine.hpp"
#include "headwater/engines/fast_engine.hpp"
#include "headwater/engines/gains_engine.hpp"
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

// From so many channels and components on, particles that move by the prior alone are spread too
// thin for what the observations say (bench_proposals).
constexpr Index kGuidedChannels = 20;
constexpr Index kGuidedComponents = 3;

void accept_every_prior(const AnyPrior&) {}

std::optional<std::string> why_particle(const AnyPrior& prior, Index num_channels) {
  if (!prior.is_affine()) {
    return fmt::format("prior '{}' is one for particles alone", prior.name());
  }
  return fmt::format("{} components of {} channels are within reach of particles",
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

// --- what follows from the table
// -------------------------------------------------------------------

bool supports(const EngineInfo& engine, const Config& config) {
  if (config.paper_exact && !engine.can_be_paper_exact) return false;
  return config.smoother == SmootherKind::kAuto ||
         std::ranges::find(engine.smoothers, config.smoother) != engine.smoothers.end();
}

std::string quoted(const std::vector<SmootherKind>& smoothers) {
  std::string names;
  for (std::size_t i = 0; i < smoothers.size(); ++i) {
    const char* before = i == 0 ? "" : i + 1 == smoothers.size() ? " and " : ", ";
    names += fmt::format("{}'{}'", before, to_string(smoothers[i]));
  }
  return names;
}

[[noreturn]] void refuse_smoother(const EngineInfo& engine, const Config& config) {
  if (config.paper_exact && !engine.can_be_paper_exact) {
    throw UsageError(fmt::format(
        "engine '{}' cannot go with paper-exact; engines 'exact' and 'particle' can", engine.name));
  }
  std::vector<std::string> others;
  for (const EngineInfo& other : engine_table()) {
    if (supports(other, config)) others.push_back(fmt::format("'{}'", other.name));
  }
  throw UsageError(fmt::format("smoother '{}' requires engine {}; engine '{}' supports {}",
                               to_string(config.smoother), fmt::join(others, " or "), engine.name,
                               quoted(engine.smoothers)));
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
       "those states of a large finite prior that matter",
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
       "a product of normal or gamma laws, for priors with affine moments",
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

const EngineInfo& engine_info(EngineKind kind) {
  return *std::ranges::find(engine_table(), kind, &EngineInfo::kind);
}

EngineChoice choose_engine(const Config& config, const AnyPrior& prior, Index num_channels) {
  if (config.engine.kind != EngineKind::kAuto) {
    engine_info(config.engine.kind).check_reach(prior);
    return {config.engine.kind, ""};
  }
  for (const EngineInfo& engine : engine_table()) {
    const std::optional<std::string> reason = engine.reason(prior, num_channels);
    if (!reason) continue;
    // The exact engine is taken even where another one has the smoother, so that it is said that it
    // does not go together; a beam or the fast engine gives way to particles.
    const bool gives_way = engine.kind != EngineKind::kExact && !supports(engine, config);
    if (gives_way) return {EngineKind::kParticle, "only particles have the smoother asked for"};
    return {engine.kind, *reason};
  }
  return {EngineKind::kParticle, ""};
}

void check_engine(const Config& config, const AnyPrior& prior) {
  const EngineInfo& engine = engine_info(choose_engine(config, prior, 0).kind);
  if (!supports(engine, config)) refuse_smoother(engine, config);
  engine.check_options(config, prior);
}

namespace {

const EngineInfo& engine_of(const EngineRequest& request) {
  const Estimate& start = request.start;
  return engine_info(choose_engine(request.config, start.prior, start.basis.rows()).kind);
}

}  // namespace

std::unique_ptr<Engine> make_engine(const EngineRequest& request) {
  const Estimate& start = request.start;
  return with_channel_gains(with_levels(engine_of(request).make(request), start.law), start.season,
                            request.smooths && request.config.learns_channel_profiles());
}

namespace {

// Sequence by sequence. Each has random numbers of its own.
Matrix smooth_sequences(const EngineInfo& engine, const EngineRequest& request,
                        const RecordView& observations) {
  const std::vector<Index> begins = observations.sequences();
  Matrix means(observations.size(), request.start.basis.cols());
  request.pool->run(std::ssize(begins), [&](Index task) {
    const auto i = static_cast<std::size_t>(task);
    const Index end = i + 1 < begins.size() ? begins[i + 1] : observations.size();
    const EngineRequest of_sequence{request.config, request.start,
                                    request.seed + (static_cast<std::uint64_t>(i) << 32),
                                    request.pool, request.smooths};
    means.middleRows(begins[i], end - begins[i]) =
        engine.smooth_record(of_sequence, observations.part(begins[i], end - begins[i]));
  });
  return means;
}

}  // namespace

Matrix smooth_record(const EngineRequest& request, const RecordView& observations) {
  const Estimate& start = request.start;
  const EngineInfo& engine = engine_of(request);
  Record room;
  const RecordView given =
      with_channel_profiles(observations, start.season.channel_profiles(), room);
  if (!drifts(start.law)) return smooth_sequences(engine, request, given);
  return smooth_sequences(engine, request,
                          with_found_levels(engine.make(request), start.law, given));
}

ProposalKind choose_proposal(const Config& config, const AnyPrior& prior, Index num_channels) {
  const ProposalKind asked = config.engine.proposal;
  if (asked == ProposalKind::kGuided && !prior.is_guided()) {
    throw UsageError(fmt::format(
        "prior '{}' has no guide, which proposal guided needs; use prior or auto", prior.name()));
  }
  if (asked != ProposalKind::kAuto) return asked;
  const bool pays = prior.is_guided() && !config.paper_exact && num_channels >= kGuidedChannels &&
                    prior.num_components() >= kGuidedComponents;
  return pays ? ProposalKind::kGuided : ProposalKind::kPrior;
}

Config filter_config(const EngineConfig& engine, const AnyPrior& prior) {
  engine.validate();
  Config config;
  config.num_components = prior.num_components();
  config.engine = engine;
  return config;
}

}  // namespace headwater
