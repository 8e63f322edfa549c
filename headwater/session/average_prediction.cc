#include "headwater/session/average_prediction.hpp"

#include <algorithm>
#include <cmath>

namespace headwater {

namespace {

// log p of what a fit took to be impossible.
constexpr double kLogImpossible = -1e6;

// How many observations, about, decide who predicts. With fewer the choice follows chance, with
// more it is late where the last iterate is ahead for a while.
constexpr double kMemory = 300;

}  // namespace

double bounded_log_predictive(const FilterStep& step) {
  return step.impossible ? kLogImpossible : std::max(step.log_predictive, kLogImpossible);
}

void AveragePrediction::compare(const FilterStep& by_average, const FilterStep& by_last) {
  gain_ *= 1 - 1 / kMemory;
  gain_ += bounded_log_predictive(by_average) - bounded_log_predictive(by_last);
}

void AveragePrediction::exchange(StateArchive& archive) {
  archive(filter_, gain_, leads_);
  archive.expect(std::isfinite(gain_), "a gain that is none");
}

}  // namespace headwater
