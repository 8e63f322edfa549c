#include <gtest/gtest.h>

#include <cmath>

#include "headwater/emission/hurdle.hpp"
#include "headwater/learning/batch_em.hpp"
#include "headwater/learning/law_choice.hpp"
#include "headwater/reference/learners.hpp"
#include "headwater/reference/streams.hpp"

// Learning under the hurdle law: the basis and the excess.

namespace headwater {
namespace {

using reference::Learner;
using reference::perturbed;
using reference::three_states;

constexpr double kTrueExcess = 0.3;

// Each cell is about as often 0 as not.
Matrix hurdle_basis() { return reference::learned_basis() / 10; }

Record hurdle_stream(const AnyLaw& law, Index length) {
  Simulator simulator(three_states(), Emission(hurdle_basis(), law), 7);
  Record record;
  for (Index t = 0; t < length; ++t) {
    simulator.next();
    std::vector<double> counts = simulator.observation();
    if (t % 7 == 0) counts[static_cast<std::size_t>(t) % 5] = std::nan("");
    record.add(Observation(counts));
  }
  return record;
}

Estimate poor_hurdle_start(Index excesses) {
  return {perturbed(hurdle_basis(), 0.3, 2), three_states(),
          Hurdle(Vector::Constant(excesses, 1.0))};
}

double positive_counts(const Record& record) {
  double sum = 0;
  for (Index t = 0; t < record.size(); ++t) {
    sum += static_cast<double>(record[t].channels().size());
  }
  return sum;
}

double largest_excess_error(const Estimate& found) {
  return (found.law.parameters()[0].value.array() - kTrueExcess).abs().maxCoeff();
}

TEST(HurdleLearning, BatchEmNeverFalls) {
  for (const Index excesses : {1, 5}) {
    for (const Index length : {15, 150}) {
      const Record record = hurdle_stream(Hurdle(Vector::Constant(1, kTrueExcess)), length);
      BatchEmOptions options;
      options.max_iterations = 60;
      const BatchEmResult result = batch_em(record, poor_hurdle_start(excesses), options);
      for (std::size_t i = 1; i < result.log_likelihood.size(); ++i) {
        const double before = result.log_likelihood[i - 1];
        EXPECT_GE(result.log_likelihood[i], before - 1e-10 * std::abs(before)) << i;
      }
      EXPECT_TRUE(result.estimate.is_finite());
    }
  }
}

// The excess does not depend on the activations: sqrt(x (1 + x) / n) is its standard error, with n
// the positive counts. All learners see the same record; 4 standard errors are exceeded once in
// 16,000 times. Later observations weigh more online, which costs less than half of their number.
TEST(HurdleLearning, EveryEngineFindsTheExcess) {
  const Record record = hurdle_stream(Hurdle(Vector::Constant(1, kTrueExcess)), 1500);
  const double error = std::sqrt(kTrueExcess * (1 + kTrueExcess) / positive_counts(record));
  for (const Learner& learner : reference::all_learners()) {
    Estimate start = poor_hurdle_start(1);
    start.prior = learner.prior;
    OnlineEm em = learner.from(start);
    for (Index t = 0; t < record.size(); ++t) em.update(record[t]);
    em.finish();
    EXPECT_LT(largest_excess_error(em.reported()), 4 * std::sqrt(2.0) * error) << learner.name;
  }
}

// Batch EM finds the basis that the counts were drawn with: the log-likelihood of the truth is not
// higher than at the maximum, and not lower by more than chi-square of the 10 entries, 6 free moves
// and the excess allows: half of it is 22 once in 10,000 times.
TEST(HurdleLearning, BatchEmFindsWhatFitsAsWellAsTheTruth) {
  const Record record = hurdle_stream(Hurdle(Vector::Constant(1, kTrueExcess)), 2000);
  BatchEmOptions options;
  options.max_iterations = 500;
  const double best = batch_em(record, poor_hurdle_start(1), options).log_likelihood.back();
  Estimate truth{hurdle_basis(), three_states(), Hurdle(Vector::Constant(1, kTrueExcess))};
  options.max_iterations = 1;
  const double of_truth = batch_em(record, truth, options).log_likelihood.front();
  EXPECT_GT(best, of_truth);
  EXPECT_LT(best, of_truth + 22);
}

TEST(HurdleLearning, ASavedStateGoesOnBitForBit) {
  const Record record = hurdle_stream(Hurdle(Vector::Constant(1, kTrueExcess)), 300);
  for (const Learner& learner : reference::all_learners()) {
    Estimate start = poor_hurdle_start(5);
    start.prior = learner.prior;
    Estimate other = start;
    other.law.set_parameter(scalar_parameter("excess", 3));
    reference::expect_saved_state_goes_on(learner, record, start, other);
  }
}

// Zeros and ones with lasting activations are narrow by many standard errors. Poisson counts would
// be called narrow less than once in 44 times; the seed is fixed.
TEST(AreNarrow, TellsZerosAndOnesFromCounts) {
  EXPECT_TRUE(are_narrow(hurdle_stream(Hurdle(Vector::Constant(1, 1e-6)), 500)));
  EXPECT_FALSE(are_narrow(hurdle_stream(AnyLaw(), 500)));
  EXPECT_FALSE(are_narrow(hurdle_stream(NegativeBinomial(Vector::Constant(1, 0.5)), 500)));
}

}  // namespace
}  // namespace headwater
