#include "headwater/learning/automatic_start.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "headwater/engines/beam_engine.hpp"
#include "headwater/engines/exact_engine.hpp"
#include "headwater/engines/fast_engine.hpp"
#include "headwater/engines/particle_engine.hpp"
#include "headwater/learning/activation_law.hpp"
#include "headwater/learning/batch_em.hpp"
#include "headwater/learning/cumulant_start.hpp"
#include "headwater/learning/initialise.hpp"
#include "headwater/learning/kl_nmf.hpp"
#include "headwater/learning/level_prior.hpp"
#include "headwater/learning/monte_carlo_em.hpp"

namespace headwater {

namespace {

constexpr Index kRandomStarts = 4;
constexpr int kFactorisationIterations = 100;
// Joint states that a trial may have: of the prior itself, and of a stand-in of several levels.
constexpr Index kMostStates = 1024;
constexpr Index kMostLevelStates = 256;
// What is left of a stand-in's trials is improved under the prior itself, by so many particles.
constexpr Index kParticles = 200;
// So many for the cumulants of unbounded activations: of ten streams of 'gamma' (M = 8, K = 5,
// persistence .8) the mean cosine of the columns with the truth was below .98 in two with 1,000, in
// one with 2,000 and in none with 4,000.
constexpr Index kObservationsForCumulants = 4000;
// A finite prior with too many states is tried on a beam of so few.
constexpr Index kBeamWidth = 64;
// A factorisation's zeros, over the mean of their channel.
constexpr double kFloor = 1e-3;

// EM goes on in rounds, on more observations each time, with the better half of the trials.
struct Round {
  Index observations;
  std::int64_t iterations;
  std::size_t trials;  // that go on from it
};

struct Trial {
  StartReport::Trial report;
  Estimate estimate;
};

// A factorisation with columns on the scale that they have under the prior, and without zeros.
Matrix factorised(const Eigen::Ref<const Matrix>& observations, const Matrix& start,
                  const AnyPrior& prior) {
  const Factorisation found = kl_nmf(observations, start, kFactorisationIterations);
  const Vector scale = found.activations.rowwise().mean().cwiseQuotient(mean_activation(prior));
  Matrix basis = found.basis * scale.asDiagonal();
  const Vector least = kFloor * start.rowwise().mean();
  for (Index k = 0; k < basis.cols(); ++k) basis.col(k) = basis.col(k).cwiseMax(least);
  return basis.allFinite() ? basis : start;
}

struct NamedBasis {
  std::string name;
  Matrix basis;
};

std::vector<NamedBasis> beginnings(const Eigen::Ref<const Matrix>& observations,
                                   const AnyPrior& prior, std::uint64_t seed) {
  std::vector<NamedBasis> bases;
  for (Index i = 0; i < kRandomStarts; ++i) {
    const std::uint64_t own_seed = seed + (static_cast<std::uint64_t>(i) << 40);
    bases.push_back({fmt::format("random {}", i + 1), random_start(observations, prior, own_seed)});
  }
  const Matrix random = bases[0].basis;
  const CumulantStart cumulants = cumulant_start(observations, activation_variances(prior), random);
  if (cumulants.columns_found > 0 && cumulants.basis.allFinite()) {
    bases.push_back(
        {"factorisation of cumulants", factorised(observations, cumulants.basis, prior)});
    bases.push_back({"cumulants", cumulants.basis});
  }
  bases.push_back({"factorisation", factorised(observations, random, prior)});
  return bases;
}

void improve(Trial& trial, const Record& observations, std::int64_t iterations,
             const MStepOptions& m_step, const OnIteration& on_iteration) {
  BatchEmOptions options;
  options.max_iterations = iterations;
  options.tolerance = 1e-7;
  options.m_step = m_step;
  BatchEmResult result = batch_em(observations, std::move(trial.estimate), options, on_iteration);
  trial.estimate = std::move(result.estimate);
  trial.report.iterations += result.iterations;
  trial.report.log_likelihood =
      result.log_likelihood.back() / static_cast<double>(observations.size());
}

void sort_by_likelihood(std::vector<Trial>& trials, std::size_t count) {
  std::stable_sort(trials.begin(), trials.begin() + static_cast<std::ptrdiff_t>(count),
                   [](const Trial& a, const Trial& b) {
                     return a.report.log_likelihood > b.report.log_likelihood;
                   });
}

// A trial that was found under a stand-in, under the prior that it stands for.
void put_under(const AnyPrior& prior, Trial& trial) {
  const Vector ratio = mean_activation(trial.estimate.prior).cwiseQuotient(mean_activation(prior));
  trial.estimate.basis.leftCols(ratio.size()) *= ratio.asDiagonal();
  trial.estimate.prior = prior;
}

// An engine for a trial, whose random numbers are those of a seed.
using MakeTrialEngine =
    std::function<std::unique_ptr<Engine>(const Estimate& estimate, std::uint64_t seed)>;

MakeTrialEngine particle_engines(bool learn_prior) {
  return [learn_prior, pool = std::make_shared<ThreadPool>(1)](const Estimate& estimate,
                                                               std::uint64_t seed) {
    ParticleEngineOptions options;
    options.filter.num_particles = kParticles;
    options.filter.seed = seed;
    options.learn_prior = learn_prior;
    return std::make_unique<ParticleEngine>(estimate.prior, estimate.basis, options, pool);
  };
}

MakeTrialEngine beam_engines(bool learn_prior) {
  return [learn_prior](const Estimate& estimate, std::uint64_t seed) {
    BeamEngineOptions options;
    options.filter = {kBeamWidth, seed};
    options.learn_prior = learn_prior;
    return std::make_unique<BeamEngine>(estimate.prior, estimate.basis, options);
  };
}

MakeTrialEngine fast_engines(bool learn_prior) {
  return [learn_prior](const Estimate& estimate, std::uint64_t seed) {
    FastEngineOptions options;
    options.filter.seed = seed;
    options.learn_prior = learn_prior;
    return std::make_unique<FastEngine>(estimate.prior, estimate.basis, options);
  };
}

void improve_by_engine(Trial& trial, const Record& observations, std::int64_t iterations,
                       const MStepOptions& m_step, const MakeTrialEngine& make, std::uint64_t seed,
                       const OnIteration& on_iteration) {
  seed += static_cast<std::uint64_t>(trial.report.iterations);
  BatchEmOptions options;
  options.max_iterations = iterations;
  options.tolerance = 0;
  options.lengthen_steps = !trial.estimate.prior.has_scale();
  options.m_step = m_step;
  BatchEmResult result = monte_carlo_em(
      observations, std::move(trial.estimate), options,
      [&](const Estimate& estimate, std::int64_t iteration) {
        return make(estimate, seed + (static_cast<std::uint64_t>(iteration) << 32));
      },
      on_iteration);
  trial.estimate = std::move(result.estimate);
  trial.report.iterations += result.iterations;
  trial.report.log_likelihood =
      result.log_likelihood.back() / static_cast<double>(observations.size());
}

// How many observations EM is tried on, if that can be afforded.
Index observations_to_try(Index num_channels, Index num_components) {
  return std::clamp<Index>(2 * num_channels * num_components, 1000, 3000);
}

// Fewer observations where an iteration is dear: where there are many channels each tells more.
Index affordable(Index n, double cells_of_each, double most_cells) {
  return std::min(n, std::max<Index>(200, static_cast<Index>(most_cells / cells_of_each)));
}

Index affordable_by_states(Index n, Index num_states, Index num_channels) {
  return affordable(n, static_cast<double>(num_states * (num_channels + 20)), 3e7);
}

Index affordable_by_particles(Index n, const Matrix& basis) {
  return affordable(n, static_cast<double>(kParticles * basis.cols() * (basis.rows() + 20)), 1e8);
}

// For priors of many components: on as many observations as the engine's cells allow.
Index affordable_by_beam(Index n, const Matrix& basis) {
  return affordable(n, static_cast<double>(kBeamWidth * basis.cols() * (basis.rows() + 20)), 2e8);
}

Index affordable_by_fast(Index n, const Matrix& basis) {
  return affordable(n, static_cast<double>(20 * basis.cols() * (basis.rows() + 20)), 1e9);
}

// Where the prior has a scale EM's steps are as they are, and more of them are needed.
std::vector<Round> rounds_by_particles(const AnyPrior& prior, Index n) {
  if (prior.has_scale()) return {{n, 10, 2}, {n, 15, 1}, {n, 50, 1}};
  return {{n, 5, 2}, {n, 10, 1}, {n, 15, 1}};
}

using Improve =
    std::function<void(Trial& trial, const Round& round, const OnIteration& on_iteration)>;

struct Stage {
  std::vector<Round> rounds;
  Improve improve;
};

void search(std::vector<Trial>& trials, const std::vector<Stage>& stages,
            const OnSearch& on_search) {
  std::int64_t all = 0;
  std::size_t count = trials.size();
  for (const Stage& stage : stages) {
    for (const Round& round : stage.rounds) {
      all += static_cast<std::int64_t>(count);
      count = std::min(count, round.trials);
    }
  }
  std::int64_t done = 0;
  const OnIteration tell = [&](std::int64_t, double, const Estimate&) {
    if (on_search) on_search(done, all);
  };
  count = trials.size();
  for (const Stage& stage : stages) {
    for (const Round& round : stage.rounds) {
      for (std::size_t i = 0; i < count; ++i) {
        stage.improve(trials[i], round, tell);
        ++done;
      }
      sort_by_likelihood(trials, count);
      count = std::min(count, round.trials);
    }
  }
}

Matrix with_background(Matrix basis, const Vector& background) {
  basis.conservativeResize(Eigen::NoChange, basis.cols() + 1);
  basis.rightCols(1) = background;
  return basis;
}

}  // namespace

Index start_buffer(Index num_channels, const AnyPrior& prior) {
  constexpr Index kCells = Index{1} << 22;
  const Index tried = observations_to_try(num_channels, prior.num_components());
  const Index wanted = prior.has_scale() ? kObservationsForCumulants : tried;
  return std::clamp<Index>(kCells / num_channels, 20, wanted);
}

StartSearch automatic_start(const Record& observations, const AnyPrior& prior, bool background,
                            const MStepOptions& options, std::uint64_t seed,
                            const OnSearch& on_search) {
  const bool is_itself = prior.is_finite() && is_in_exact_reach(prior) &&
                         prior.finite_chain().num_states() <= kMostStates;
  const std::optional<AnyPrior> model =
      is_itself ? std::optional(prior) : stand_in(prior, kMostLevelStates, kMostStates);

  std::vector<Trial> trials;
  const Matrix rates = observations.rates();
  for (NamedBasis& begin : beginnings(rates, prior, seed)) {
    Matrix basis = background ? with_background(std::move(begin.basis), background_start(rates))
                              : std::move(begin.basis);
    trials.push_back({{begin.name, 0, 0}, {std::move(basis), model ? *model : prior}});
  }
  if (model) {
    const Index n = std::min(observations.size(), observations_to_try(observations.num_channels(),
                                                                      prior.num_components()));
    const Index most =
        affordable_by_states(n, model->finite_chain().num_states(), observations.num_channels());
    const Index few = std::min<Index>(most, 300);
    MStepOptions m_step = options;
    if (!is_itself) m_step.held_parameters.clear();
    const Improve by_em = [&](Trial& trial, const Round& round, const OnIteration& tell) {
      improve(trial, observations.first(round.observations), round.iterations, m_step, tell);
    };
    const Improve by_particles = [&](Trial& trial, const Round& round, const OnIteration& tell) {
      if (trial.estimate.prior.name() != prior.name()) put_under(prior, trial);
      improve_by_engine(trial, observations.first(round.observations), round.iterations, options,
                        particle_engines(learns_prior(options, prior)), seed, tell);
    };
    std::vector<Stage> stages;
    if (is_itself) {
      stages = {{{{few, 10, 4}, {most, 15, 2}, {most, 30, 1}}, by_em}};
    } else {
      const Index all = affordable_by_particles(n, trials[0].estimate.basis);
      stages = {{{{few, 10, 4}, {most, 20, 4}}, by_em},
                {rounds_by_particles(prior, all), by_particles}};
    }
    search(trials, stages, on_search);
  } else if (is_in_beam_reach(prior) || prior.is_affine()) {
    const bool has_beam = is_in_beam_reach(prior);
    const bool learn_prior = learns_prior(options, prior);
    const MakeTrialEngine make = has_beam ? beam_engines(learn_prior) : fast_engines(learn_prior);
    const Index n = std::min(observations.size(), observations_to_try(observations.num_channels(),
                                                                      prior.num_components()));
    const Matrix& basis = trials[0].estimate.basis;
    const Index most = has_beam ? affordable_by_beam(n, basis) : affordable_by_fast(n, basis);
    const Index few = std::min<Index>(most, 300);
    search(trials,
           {{{{few, 10, 2}, {most, 20, 1}, {most, 20, 1}},
             [&](Trial& trial, const Round& round, const OnIteration& tell) {
               improve_by_engine(trial, observations.first(round.observations), round.iterations,
                                 options, make, seed, tell);
             }}},
           on_search);
  } else {
    trials = {*std::ranges::find_if(
        trials, [](const Trial& trial) { return trial.report.name.starts_with("factorisation"); })};
  }

  Trial& best = trials.front();
  StartSearch found{std::move(best.estimate), {{}, best.report.name}};
  for (const Trial& trial : trials) found.report.trials.push_back(trial.report);
  return found;
}

}  // namespace headwater
