#include "headwater/engines/beam_engine.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "headwater/error.hpp"
#include "headwater/smoothers/beam_window.hpp"

namespace headwater {

namespace {

FiniteChain checked_chain(const AnyPrior& prior) {
  check_beam_reach(prior);
  FiniteChain chain = prior.finite_chain();
  validate(chain, fmt::format("prior '{}'", prior.name()));
  return chain;
}

}  // namespace

bool is_in_beam_reach(const AnyPrior& prior) {
  return prior.is_finite() && can_be_packed(prior.finite_chain());
}

void check_beam_reach(const AnyPrior& prior) {
  if (!prior.is_finite()) {
    throw UsageError(
        fmt::format("prior '{}' has infinitely many states, and the beam engine takes finite "
                    "priors; use engine particle",
                    prior.name()));
  }
  if (!is_in_beam_reach(prior)) {
    throw UsageError(
        fmt::format("prior '{}' with {} components has joint states of more than 64 bits, the "
                    "beam engine's reach; use engine particle or fewer components",
                    prior.name(), prior.num_components()));
  }
}

BeamEngine::BeamEngine(const AnyPrior& prior, const Emission& emission,
                       const BeamEngineOptions& options)
    : FilterEngine(BeamFilter(checked_chain(prior), emission, options.filter)) {
  if (!options.smooths) return;
  follow_with(std::make_unique<BeamWindow>(filter_, window_under(emission.law(), options.window),
                                           options.learn_prior));
}

Matrix beam_smoothed_activations(BeamFilter& filter, const RecordView& observations) {
  const Index length = observations.size();
  const Index lag = window_lag({}, filter.chain()->contraction());
  Matrix means(length, filter.basis().cols());
  std::vector<BeamStep> steps(static_cast<std::size_t>(2 * lag));
  BeamRetreat retreat;
  Matrix x;
  GrowingVector law;
  GrowingVector before_law;
  Index first = 0;  // the observation of the window's first step
  Index kept = 0;
  for (Index t = 0; t < length; ++t) {
    const Observation& y = observations[t];
    filter.step(y);
    steps[static_cast<std::size_t>(kept++)].remember(filter, y, 0);
    const bool is_last = t + 1 == length;
    if (kept < 2 * lag && !is_last) continue;
    const Index settled = is_last ? kept : lag;
    const std::vector<double>& newest = steps[static_cast<std::size_t>(kept - 1)].weights;
    std::ranges::copy(newest, law.resize(static_cast<Index>(newest.size())).begin());
    for (Index s = kept - 1; s >= 0; --s) {
      const BeamStep& step = steps[static_cast<std::size_t>(s)];
      if (s < settled) {
        x.resize(law.size(), means.cols());
        step.chain->activations(step.states, x);
        means.row(first + s) = law.view().transpose() * x;
      }
      if (s == 0) break;
      retreat.run(steps[static_cast<std::size_t>(s - 1)], step, law.view(), 0, before_law, {});
      std::swap(law, before_law);
    }
    std::rotate(steps.begin(), steps.begin() + settled, steps.begin() + kept);
    first += settled;
    kept -= settled;
  }
  return means;
}

void BeamEngine::write_prediction(PredictedActivations& out) const {
  constexpr Index kPoints = 128;
  // At an address of its own: the sample is the same for every seed.
  Generator generator =
      RandomStream(0).at(static_cast<std::uint64_t>(position()), 1, Purpose::surprise);
  out.points.resize(kPoints, emission().num_columns());
  filter_.sample_predicted(generator, out.points);
  out.weights.setConstant(kPoints, 1.0 / kPoints);
  out.are_whole = false;
  out.means.resize(0);
  out.variances.resize(0);
  out.filtered = filtered_activation();
}

}  // namespace headwater
