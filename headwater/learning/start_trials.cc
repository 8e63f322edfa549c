#include "headwater/learning/start_trials.hpp"

#include <utility>

#include "headwater/engines/beam_engine.hpp"
#include "headwater/engines/fast_engine.hpp"
#include "headwater/engines/particle_engine.hpp"
#include "headwater/learning/activation_law.hpp"
#include "headwater/learning/monte_carlo_em.hpp"

namespace headwater {

void put_under(const AnyPrior& prior, StartTrial& trial) {
  const Vector ratio = mean_activation(trial.estimate.prior).cwiseQuotient(mean_activation(prior));
  trial.estimate.basis.leftCols(ratio.size()) *= ratio.asDiagonal();
  trial.estimate.prior = prior;
  trial.is_stand_in = false;
}

void improve(StartTrial& trial, const RecordView& observations, std::int64_t iterations,
             const MStepOptions& m_step, const OnIteration& on_iteration) {
  BatchEmOptions options;
  options.max_iterations = iterations;
  options.tolerance = 1e-7;
  options.m_step = m_step;
  options.m_step.shrink_profile = false;  // batch EM climbs the likelihood itself
  BatchEmResult result = batch_em(observations, std::move(trial.estimate), options, on_iteration);
  trial.estimate = std::move(result.estimate);
  trial.report.iterations += result.iterations;
  trial.report.log_likelihood =
      result.log_likelihood.back() / static_cast<double>(observations.size());
}

MakeTrialEngine exact_engines(ExactEngineOptions::Smoother smoother, bool learn_prior) {
  return [smoother, learn_prior](const Estimate& estimate, std::uint64_t) {
    ExactEngineOptions options;
    options.smoother = smoother;
    options.learn_prior = learn_prior;
    return std::make_unique<ExactEngine>(estimate.prior, estimate.emission(), options);
  };
}

MakeTrialEngine particle_engines(bool learn_prior) {
  return [learn_prior, pool = std::make_shared<ThreadPool>(1)](const Estimate& estimate,
                                                               std::uint64_t seed) {
    ParticleEngineOptions options;
    options.filter.num_particles = kTrialParticles;
    options.filter.seed = seed;
    options.learn_prior = learn_prior;
    return std::make_unique<ParticleEngine>(estimate.prior, estimate.emission(), options, pool);
  };
}

MakeTrialEngine beam_engines(bool learn_prior) {
  return [learn_prior](const Estimate& estimate, std::uint64_t seed) {
    BeamEngineOptions options;
    options.filter = {kTrialBeamWidth, seed};
    options.learn_prior = learn_prior;
    return std::make_unique<BeamEngine>(estimate.prior, estimate.emission(), options);
  };
}

MakeTrialEngine fast_engines(bool learn_prior) {
  return [learn_prior](const Estimate& estimate, std::uint64_t seed) {
    FastEngineOptions options;
    options.filter.seed = seed;
    options.learn_prior = learn_prior;
    return std::make_unique<FastEngine>(estimate.prior, estimate.emission(), options);
  };
}

void improve_by_engine(StartTrial& trial, const RecordView& observations, std::int64_t iterations,
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

}  // namespace headwater
