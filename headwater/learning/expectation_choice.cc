#include "headwater/learning/expectation_choice.hpp"

namespace headwater {

namespace {

constexpr double kCounts[] = {0.1, 0.3, 1, 3, 10, 30};
// Predictions by particles are noisy: one number that does not improve them is no sign.
constexpr int kMostFailures = 2;

}  // namespace

ExpectationChoice choose_expectation(const BasisExpectation& expectation,
                                     const RecordView& observations, const FitExpecting& fit,
                                     const MakeFilter& filter) {
  const Index fitted = fitted_part(observations.size());
  const auto predictions_with = [&](double counts) {
    BasisExpectation trial = expectation;
    trial.counts = counts;
    return held_out_predictions(*filter(fit(trial, fitted)), observations, fitted);
  };
  const Vector without = predictions_with(0);
  ExpectationChoice choice{expectation, {}};
  choice.expectation.counts = 0;
  Vector best = without;
  double counts = 0;
  int failures = 0;
  for (const double trial : kCounts) {
    Vector predictions = predictions_with(trial);
    if (predictions.mean() > best.mean()) {
      best = std::move(predictions);
      counts = trial;
      failures = 0;
    } else if (++failures == kMostFailures) {
      break;
    }
  }
  const Gain gain = gain_of(best, without);
  choice.report.gain = gain.mean;
  choice.report.standard_error = gain.standard_error;
  if (gain.mean > gain.standard_error) choice.report.counts = choice.expectation.counts = counts;
  return choice;
}

}  // namespace headwater
