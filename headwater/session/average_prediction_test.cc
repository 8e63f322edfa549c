#include "headwater/session/average_prediction.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "headwater/engines/exact_engine.hpp"
#include "headwater/models/basis_selection.hpp"
#include "headwater/random.hpp"
#include "headwater/reference/streams.hpp"

namespace headwater {
namespace {

OnlineEm learner_with_an_average() {
  const Matrix basis = (Matrix(3, 2) << 5, 1, 1, 6, 3, 2).finished();
  const AnyPrior prior(BasisSelection(2, 0.8, 0.7));
  const Estimate start{basis, prior};
  OnlineEmOptions options;
  options.burn_in = 20;
  OnlineEm learner(std::make_unique<ExactEngine>(prior, start.emission(), ExactEngineOptions{}),
                   start, options);
  const Matrix record = reference::simulate_record(prior, basis, 50, 3);
  for (Index t = 0; t < record.cols(); ++t) learner.update(as_span(record.col(t)));
  return learner;
}

FilterStep step_of(double log_predictive) {
  FilterStep step;
  step.log_predictive = log_predictive;
  return step;
}

// Whether the gains g_1 .. g_n, each weighted by (1 - 1 / 300)^(n - i), are so poor that the
// average should rest: the sum is at most two standard errors at the end of the trial, or at most
// one later on.
bool is_in_vain(const std::vector<double>& gains) {
  if (gains.size() < 300) return false;
  double sum = 0;
  double squares = 0;
  for (std::size_t i = 0; i < gains.size(); ++i) {
    const double weight = std::pow(1 - 1 / 300.0, static_cast<double>(gains.size() - 1 - i));
    sum += weight * gains[i];
    squares += weight * weight * gains[i] * gains[i];
  }
  return sum <= (gains.size() == 300 ? 2 : 1) * std::sqrt(squares);
}

TEST(AveragePrediction, RestsWhereItHasNotPredictedBetter) {
  const OnlineEm learner = learner_with_an_average();
  int good_trials = 0;
  int later_in_vain = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Generator generator = RandomStream(seed).at(0, 0, Purpose::observation);
    AveragePrediction prediction(learner);
    std::vector<double> gains;
    for (int n = 1; n <= 900; ++n) {
      const double mean = n <= 400 ? 0.1 : -0.1;
      gains.push_back(mean + 2 * generator.uniform() - 1);
      prediction.compare(step_of(gains.back() - 5), step_of(-5));
      ASSERT_EQ(prediction.is_in_vain(), is_in_vain(gains)) << n;
      EXPECT_EQ(prediction.is_on_trial(), n < 300);
      if (n == 300) good_trials += !prediction.is_in_vain();
    }
    later_in_vain += prediction.is_in_vain();
  }
  EXPECT_GT(good_trials, 0);
  EXPECT_LT(good_trials, 20);
  EXPECT_GT(later_in_vain, 0);
}

TEST(AverageTrials, AreRarerAndRarerWhileTheyAreInVain) {
  AverageTrials trials;
  EXPECT_TRUE(trials.is_due(0));
  trials.end_in_vain(1000);
  EXPECT_FALSE(trials.is_due(1299));
  EXPECT_TRUE(trials.is_due(1300));
  trials.end_in_vain(1600);
  EXPECT_FALSE(trials.is_due(2199));
  EXPECT_TRUE(trials.is_due(2200));

  StateArchive saved;
  trials.exchange(saved);
  AverageTrials read;
  StateArchive archive(saved.bytes());
  read.exchange(archive);
  read.end_in_vain(3000);
  EXPECT_FALSE(read.is_due(4199));
  EXPECT_TRUE(read.is_due(4200));

  trials.succeed();
  trials.end_in_vain(5000);
  EXPECT_TRUE(trials.is_due(5300));
}

}  // namespace
}  // namespace headwater
