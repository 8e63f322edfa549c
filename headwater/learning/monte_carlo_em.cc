#include "headwater/learning/monte_carlo_em.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <deque>

namespace headwater {

namespace {

constexpr std::size_t kStretch = 10;
constexpr double kRidge = 0.05;  // of lengthened steps
// With fewer, a longer step follows what the few happen to say: of 30 columns found from 300
// observations, one ended with a part of all the others in it, and stayed so.
constexpr Index kObservationsPerComponent = 25;

struct Moments {
  double mean;
  double squared_error;  // of the mean
};

Moments moments(std::span<const double> values) {
  const auto n = static_cast<double>(values.size());
  double mean = 0;
  for (const double value : values) mean += value / n;
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return {mean, squares / (n - 1) / n};
}

// Whether the last stretch of a noisy climb cannot be told from the one before.
bool has_levelled_off(const std::vector<double>& values, double tolerance) {
  if (tolerance == 0 || values.size() < 2 * kStretch) return false;
  const std::span<const double> recent(values.data() + values.size() - 2 * kStretch, 2 * kStretch);
  const Moments before = moments(recent.first(kStretch));
  const Moments after = moments(recent.last(kStretch));
  const double noise = std::sqrt(before.squared_error + after.squared_error);
  // Written so that a likelihood that stays at -infinity counts as no gain.
  return !(after.mean - before.mean >= std::max(noise, tolerance * std::abs(after.mean)));
}

Vector mean_of(const std::deque<Vector>& iterates) {
  Vector sum = Vector::Zero(iterates.front().size());
  for (const Vector& iterate : iterates) sum += iterate;
  return sum / static_cast<double>(iterates.size());
}

void update_basis(const MStep& m_step, bool lengthens, const Statistics& statistics,
                  Estimate& now) {
  const Matrix before = now.basis;
  m_step.update_basis(statistics, now.basis);
  if (!lengthens || !BasisCurvature::is_affordable(before.rows(), before.cols())) return;
  BasisCurvature curvature;
  curvature.measure({before, now.prior, now.law}, kRidge);
  curvature.lengthen_step(before, now.basis);
}

}  // namespace

BatchEmResult monte_carlo_em(const RecordView& observations, Estimate start,
                             const BatchEmOptions& options, const MakeEngine& make_engine,
                             const OnIteration& on_iteration) {
  assert(options.max_iterations >= 1 && options.tolerance >= 0);
  const MStep m_step(options.m_step, start.basis, start.prior);
  const bool lengthens =
      options.lengthen_steps &&
      observations.size() >= kObservationsPerComponent * start.prior.num_components();
  const bool learn_prior = m_step.learns(start.prior);
  BatchEmResult result{start, std::move(start), {}, 0, 0, false};
  Estimate& now = result.last;
  std::deque<Vector> iterates;  // the last few, oldest first

  while (true) {
    const auto engine = make_engine(now, result.iterations);
    double log_likelihood = 0;
    result.impossible_observations = 0;
    for (Index t = 0; t < observations.size(); ++t) {
      const FilterStep step = engine->step(observations[t], 1 / static_cast<double>(t + 1));
      if (!step.impossible) log_likelihood += step.log_predictive;
      result.impossible_observations += step.impossible;
    }
    engine->finish();
    result.log_likelihood.push_back(log_likelihood);
    if (on_iteration) on_iteration(result.iterations, log_likelihood, now);
    result.converged = has_levelled_off(result.log_likelihood, options.tolerance);
    if (result.converged || result.iterations == options.max_iterations) break;

    ++result.iterations;
    update_basis(m_step, lengthens, engine->statistics(), now);
    m_step.update_law(engine->statistics(), now.law);
    m_step.update_season(engine->statistics(), result.iterations, now.season);
    if (learn_prior) m_step.update_prior(engine->statistics(), now.prior);
    now = with_unit_scale(std::move(now));
    iterates.push_back(flatten(now));
    const auto half = static_cast<std::size_t>(result.iterations + 1) / 2;
    while (iterates.size() > std::min(kStretch, half)) iterates.pop_front();
  }
  result.estimate = now;
  unflatten(mean_of(iterates), options.m_step, result.estimate);
  return result;
}

}  // namespace headwater
