#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <vector>

#include "headwater/engines/particle_engine.hpp"
#include "headwater/reference/prior_draws.hpp"
#include "headwater/reference/statistical_tests.hpp"
#include "headwater/step_size.hpp"

// Helpers for tests that run particle engines over whole records.
namespace headwater::reference {

inline std::shared_ptr<const ThreadPool> threads(int count) {
  return std::make_shared<const ThreadPool>(count);
}

inline ParticleEngineOptions particle_options(ParticleEngineOptions::Smoother smoother, Index n,
                                              std::uint64_t seed = 1) {
  ParticleEngineOptions options;
  options.smoother = smoother;
  options.filter.num_particles = n;
  options.filter.seed = seed;
  return options;
}

struct ParticleRun {
  double log_likelihood = 0;  // of the observations of positive probability
  Index impossible = 0;
  Matrix filtered_means;  // T x K
  Statistics statistics;
};

// At the end every observation has weight 1 / T, unless another step size is given. The engine must
// have a smoother.
inline ParticleRun run_engine(Engine& engine, const Matrix& record,
                              const StepSize& step_size = StepSize::power(1)) {
  ParticleRun run{0, 0, {}, engine.statistics()};
  for (Index t = 0; t < record.cols(); ++t) {
    const FilterStep step = engine.step(as_span(record.col(t)), step_size(t + 1));
    if (!step.impossible) run.log_likelihood += step.log_predictive;
    run.impossible += step.impossible;
    const Vector mean = engine.filtered_activation();
    run.filtered_means.conservativeResize(t + 1, mean.size());
    run.filtered_means.row(t) = mean.transpose();
  }
  engine.finish();
  run.statistics = engine.statistics();
  return run;
}

inline ParticleRun run_particles(const AnyPrior& prior, const Matrix& basis, const Matrix& record,
                                 const ParticleEngineOptions& options,
                                 const StepSize& step_size = StepSize::power(1)) {
  ParticleEngine engine(prior, basis, options, threads(1));
  return run_engine(engine, record, step_size);
}

// s1, s2 and s3, concatenated.
inline Vector all_of(const Statistics& statistics) {
  Vector all(statistics.s1.size() + statistics.s2.size() + statistics.s3.size());
  all << statistics.s1, statistics.s2.reshaped(), statistics.s3;
  return all;
}

// The values of f(seed) for seeds 1, 2, ..., one row per seed.
inline Matrix over_seeds(Index seeds, const std::function<Vector(std::uint64_t)>& f) {
  Matrix values;
  for (Index i = 0; i < seeds; ++i) {
    const Vector of_seed = f(static_cast<std::uint64_t>(i) + 1);
    if (i == 0) values.resize(seeds, of_seed.size());
    values.row(i) = of_seed.transpose();
  }
  return values;
}

// The largest |mean over seeds - truth| in standard errors, which are estimated from the spread
// over seeds. A standard error is taken to be at least `resolution`, for values that hardly vary.
inline double largest_z(const Matrix& values, const Vector& truth, double resolution = 1e-9) {
  double largest = 0;
  for (Index i = 0; i < truth.size(); ++i) {
    const Moments mean = moments_of(values.col(i));
    const double standard_error = std::max(mean.standard_error, resolution);
    largest = std::max(largest, std::abs(mean.mean - truth[i]) / standard_error);
  }
  return largest;
}

// What largest_z() of such values exceeds with probability alpha at most where the truth is the
// mean: Student's t with a degree of freedom less than there are seeds, the rate of alarms shared
// among the columns (Bonferroni) of so many calls of a test.
inline double critical_z(const Matrix& values, int num_calls = 1, double alpha = 1e-6) {
  const auto num_comparisons = static_cast<double>(values.cols() * num_calls);
  return student_critical(static_cast<double>(values.rows()) - 1, alpha / num_comparisons);
}

}  // namespace headwater::reference
