#include "headwater/engines/exact_engine.hpp"

#include <fmt/format.h>

#include "headwater/error.hpp"
#include "headwater/filters/resampling.hpp"
#include "headwater/smoothers/forward_recursion.hpp"

namespace headwater {

namespace {

std::unique_ptr<ExactSmoother> make_smoother(const ExactFilter& filter,
                                             const ExactEngineOptions& options) {
  using Smoother = ExactEngineOptions::Smoother;
  using Second = ForwardRecursion::SecondStatistic;
  switch (options.smoother) {
    case Smoother::kNone:
      return nullptr;
    case Smoother::kWindow:
      return std::make_unique<AdjointWindow>(
          filter, window_under(filter.emission().law(), options.window), options.learn_prior);
    case Smoother::kForward:
      return std::make_unique<ForwardRecursion>(filter, Second::kAtOnce, options.learn_prior);
    case Smoother::kForwardAsPrinted:
      return std::make_unique<ForwardRecursion>(filter, Second::kAsPrinted, options.learn_prior);
  }
  return nullptr;
}

FiniteChain chain_for_exact_engine(const AnyPrior& prior) {
  check_exact_reach(prior);
  FiniteChain chain = prior.finite_chain();
  validate(chain, fmt::format("prior '{}'", prior.name()));
  return chain;
}

}  // namespace

bool is_in_exact_reach(const AnyPrior& prior) {
  if (!prior.is_finite()) return false;
  // One axis at a time: the product of all may not fit an integer.
  Index num_states = 1;
  for (const FiniteAxis& axis : prior.finite_chain().axes) {
    num_states *= axis.size();
    if (num_states > kLargestExactStateSpace) return false;
  }
  return true;
}

void check_exact_reach(const AnyPrior& prior) {
  if (is_in_exact_reach(prior)) return;
  if (!prior.is_finite()) {
    throw UsageError(
        fmt::format("prior '{}' has infinitely many states, and the exact engine takes finite "
                    "priors; use engine particle",
                    prior.name()));
  }
  throw UsageError(fmt::format(
      "prior '{}' with {} components has more than {} states, the exact engine's reach; use engine "
      "particle or fewer components",
      prior.name(), prior.num_components(), kLargestExactStateSpace));
}

ExactEngine::ExactEngine(const AnyPrior& prior, const Emission& emission,
                         const ExactEngineOptions& options)
    : FilterEngine(ExactFilter(chain_for_exact_engine(prior), emission)) {
  follow_with(make_smoother(filter_, options));
}

Vector ExactEngine::predicted_activation() const {
  return filter_.states().transpose() * filter_.predicted();
}

void ExactEngine::sample_predicted(Generator& generator, Matrix& out) const {
  QuantileTable law;
  law.set(as_span(filter_.predicted()));
  for (auto row : out.rowwise())
    row = filter_.states().row(law.at(generator.uniform() * law.total()));
}

Vector ExactEngine::filtered_activation() const {
  return filter_.states().transpose() * filter_.filtered();
}

// States that are hardly possible are left out, unless the observation speaks for them.
void ExactEngine::write_prediction(PredictedActivations& out) const {
  constexpr double kLeastPredicted = 1e-6;
  constexpr double kLeastFiltered = 1e-4;
  const Vector& predicted = filter_.predicted();
  std::vector<Index> kept;
  for (Index i = 0; i < predicted.size(); ++i) {
    if (predicted[i] <= 0) continue;
    if (predicted[i] >= kLeastPredicted || filter_.filtered()[i] >= kLeastFiltered) {
      kept.push_back(i);
    }
  }
  out.points = filter_.states()(kept, Eigen::all);
  out.weights = predicted(kept);
  out.weights /= out.weights.sum();
  out.are_whole = true;
  out.means.resize(0);
  out.variances.resize(0);
  out.filtered = filtered_activation();
}

}  // namespace headwater
