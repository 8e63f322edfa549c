#include "headwater/learning/refinement.hpp"

#include <algorithm>
#include <utility>

#include "headwater/emission/levels.hpp"
#include "headwater/engines/fast_engine.hpp"
#include "headwater/learning/laplace_em.hpp"
#include "headwater/learning/laplace_path.hpp"
#include "headwater/learning/law_choice.hpp"

namespace headwater {

namespace {

// Nats. One parameter is worth half a nat.
constexpr double kSmallChange = 0.3;
// Numbers that are kept: 256 MB.
constexpr Index kMostKept = Index{1} << 25;
// Observations times entries of the basis times components, so that an iteration takes seconds.
constexpr double kMostRefinementWork = 4e8;
// Up to so many components EM begins twice.
constexpr Index kMostToTryTwice = 12;
// Of fewer observations nothing is left to fit to and to predict.
constexpr Index kFewest = 300;

BatchEmResult climb(const RecordView& observations, const Estimate& start,
                    const MStepOptions& options, std::int64_t iterations,
                    const std::function<void()>& tell) {
  BatchEmOptions batch;
  batch.max_iterations = iterations;
  batch.tolerance = kSmallChange;
  batch.m_step = options;
  batch.m_step.shrink_profile = false;
  return laplace_em(observations, start, batch, [&](std::int64_t, double, const Estimate&) {
    if (tell) tell();
  });
}

Estimate raised(Estimate estimate, double part) {
  const Vector least = part * estimate.basis.rowwise().mean();
  for (auto column : estimate.basis.colwise()) column = column.cwiseMax(least);
  return estimate;
}

Vector predictions_of(const Estimate& estimate, const RecordView& observations, Index fitted,
                      std::uint64_t seed) {
  FastEngineOptions options;
  options.filter.seed = seed;
  options.smooths = false;
  FastEngine engine(estimate.prior, estimate.emission(), options);
  return held_out_predictions(engine, observations, fitted);
}

}  // namespace

Index most_to_refine_on(const Estimate& estimate) {
  if (!estimate.prior.has_scale() || !LaplacePath::is_in_reach(estimate.prior)) return 0;
  if (drifts(estimate.law) || !estimate.season.empty()) return 0;
  const Index components = estimate.prior.num_components();
  const auto work = static_cast<double>(estimate.basis.size() * components);
  return std::min(kMostKept / LaplacePath::numbers_kept(components, 1),
                  static_cast<Index>(kMostRefinementWork / work));
}

bool predicts_better(const Estimate& estimate, const Estimate& than, const RecordView& observations,
                     std::uint64_t seed) {
  if (!estimate.is_finite()) return false;
  const Index first = fitted_part(observations.size());
  const Gain gain = gain_of(predictions_of(estimate, observations, first, seed),
                            predictions_of(than, observations, first, seed));
  return gain.mean > 0;
}

std::optional<Estimate> refined(const RecordView& observations, const Estimate& now,
                                const std::vector<Estimate>& others, const MStepOptions& options,
                                const RefinementEffort& effort, std::uint64_t seed,
                                const std::function<void()>& tell) {
  if (observations.size() < kFewest || options.hold_basis) return {};
  const Index fitted = fitted_part(observations.size());
  const RecordView part = observations.first(fitted);
  BatchEmResult best =
      climb(part, raised(now, effort.least_entry), options, effort.iterations, tell);
  for (const Estimate& other : others) {
    BatchEmResult found =
        climb(part, raised(other, effort.least_entry), options, effort.iterations, tell);
    if (found.log_likelihood.back() > best.log_likelihood.back()) best = std::move(found);
  }
  if (!predicts_better(best.estimate, now, observations, seed)) return {};
  best = climb(observations, best.estimate, options, effort.last_iterations, tell);
  if (!predicts_better(best.estimate, now, observations, seed)) return {};
  return std::move(best.estimate);
}

bool refine_start(const RecordView& observations, const Matrix& other_basis,
                  const MStepOptions& options, std::uint64_t seed,
                  const std::function<void()>& tell, Estimate& estimate) {
  if (most_to_refine_on(estimate) < observations.size()) return false;
  std::vector<Estimate> others;
  if (other_basis.size() > 0 && estimate.prior.num_components() <= kMostToTryTwice) {
    others = {estimate};
    others.front().basis = other_basis;
  }
  auto found = refined(observations, estimate, others, options, {}, seed, tell);
  if (!found) return false;
  estimate = std::move(*found);
  return true;
}

Estimate refitted_by_look(const RecordView& observations, const Estimate& start,
                          const MStepOptions& options, const std::function<void()>& tell) {
  return climb(observations, start, options, RefinementEffort{}.last_iterations, tell).estimate;
}

std::vector<Statistics> refined_statistics(const RecordView& observations, const Estimate& estimate,
                                           Index num_stretches, bool learn_prior) {
  LaplacePath path(observations);
  path.fit(estimate);
  const Index count = std::min(num_stretches, observations.size());
  const auto begin_of = [&](Index i) { return i * observations.size() / count; };
  std::vector<Statistics> stretches;
  for (Index i = 0; i < count; ++i) {
    stretches.push_back(path.statistics_of(begin_of(i), begin_of(i + 1), estimate, learn_prior));
  }
  return stretches;
}

}  // namespace headwater
