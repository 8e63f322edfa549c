#include "headwater/engines/fast_engine.hpp"

#include <fmt/format.h>

#include <vector>

#include "headwater/error.hpp"
#include "headwater/smoothers/filtered_statistics.hpp"

namespace headwater {

namespace {

const AnyPrior& checked(const AnyPrior& prior) {
  check_fast_reach(prior);
  return prior;
}

}  // namespace

void check_fast_reach(const AnyPrior& prior) {
  if (prior.is_affine()) return;
  throw UsageError(
      fmt::format("prior '{}' has no affine moments, which the fast engine needs (log-gaussian, "
                  "gamma and independent have them); use engine {}",
                  prior.name(), prior.is_finite() ? "auto" : "particle"));
}

FastEngine::FastEngine(const AnyPrior& prior, const Emission& emission,
                       const FastEngineOptions& options)
    : FilterEngine(FastFilter(checked(prior), emission, options.filter)) {
  if (!options.smooths) return;
  follow_with(std::make_unique<FilteredStatistics>(
      filter_, window_under(emission.law(), options.window), options.learn_prior));
}

Matrix fast_smoothed_activations(FastFilter& filter, const RecordView& observations) {
  struct Kept {
    FastFilter::Law predicted;
    FastFilter::Law filtered;
  };
  std::vector<Kept> kept;
  for (Index t = 0; t < observations.size(); ++t) {
    filter.step(observations[t]);
    kept.push_back({filter.predicted(), filter.filtered()});
  }
  Matrix means(observations.size(), filter.basis().cols());
  const Vector slope = filter.prior().moments().slope;
  FastFilter::Law law;
  for (Index t = observations.size() - 1; t >= 0; --t) {
    const Kept& here = kept[static_cast<std::size_t>(t)];
    if (t + 1 == observations.size()) {
      law = here.filtered;
    } else {
      const FastFilter::Law& next = kept[static_cast<std::size_t>(t + 1)].predicted;
      const Vector gain = slope.array() * here.filtered.variance.array() / next.variance.array();
      law.mean = here.filtered.mean.array() + gain.array() * (law.mean - next.mean).array();
      law.variance = (here.filtered.variance.array() +
                      gain.array().square() * (law.variance - next.variance).array())
                         .max(0);
    }
    means.row(t) = filter.activation(law).transpose();
  }
  return means;
}

void FastEngine::write_prediction(PredictedActivations& out) const {
  out.points.resize(0, 0);
  out.weights.resize(0);
  out.are_whole = false;
  out.means = filter_.predicted().mean;
  out.variances = filter_.predicted().variance;
  out.is_logarithmic = filter_.prior().moments().is_logarithmic;
  const Index components = out.means.size();
  out.filtered.setOnes(emission().num_columns());
  out.filtered.head(components) = filter_.filtered().mean;
  if (out.is_logarithmic) {
    out.filtered.head(components) = out.filtered.head(components).array().exp();
  }
}

}  // namespace headwater
