#include "headwater/report/stream_report.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "headwater/core/test_numbers.hpp"
#include "headwater/models/basis_selection.hpp"
#include "headwater/simulate.hpp"

namespace headwater {
namespace {

Model two_sources() {
  Matrix basis(3, 2);
  basis << 6, 0.5, 0.3, 5, 2, 3;
  const Estimate estimate{basis, AnyPrior(BasisSelection(2, 0.9, 0.8))};
  return {estimate, estimate};
}

// 3 x T counts of that model.
Matrix counts_of(const Model& model, Index length, std::uint64_t seed) {
  Simulator simulator(model.reported.prior, model.reported.emission(), seed);
  Matrix counts(3, length);
  for (Index t = 0; t < length; ++t) {
    simulator.next();
    counts.col(t) = Eigen::Map<const Vector>(simulator.observation().data(), 3);
  }
  return counts;
}

StreamReport report_on(const Model& model, const Matrix& counts,
                       const StreamReportOptions& options = {}) {
  StreamReporter reporter(model, options);
  for (Index t = 0; t < counts.cols(); ++t) reporter.add(Observation(as_span(counts.col(t))));
  return reporter.finish();
}

// Everything once more, by plain loops.
TEST(StreamReport, SumsUpWhatTheFilterSays) {
  const Model model = two_sources();
  Matrix counts = counts_of(model, 700, 1);
  counts(1, 5) = kMissing;
  counts(2, 699) = kMissing;
  const StreamReport report = report_on(model, counts);

  ModelFilter filter(model.reported, false);
  double log_likelihood = 0;
  Vector shares = Vector::Zero(2);
  Vector errors = Vector::Zero(3), errors_of_mean = Vector::Zero(3), sums = Vector::Zero(3),
         seen = Vector::Zero(3);
  for (Index t = 0; t < counts.cols(); ++t) {
    log_likelihood += filter.step(Observation(as_span(counts.col(t)))).log_predictive;
    const Vector x = filter.filtered_activation();
    for (Index k = 0; k < 2; ++k) shares[k] += x[k] * model.reported.basis.col(k).sum();
    const Vector expected = filter.predicted_observation();
    EXPECT_DOUBLE_EQ(report.activations.mean(t, 0), x[0]);
    for (Index m = 0; m < 3; ++m) {
      const double y = counts(m, t);
      if (std::isnan(y)) {
        EXPECT_TRUE(std::isnan(report.seen.mean(t, m)));
        continue;
      }
      EXPECT_EQ(report.seen.mean(t, m), y);
      EXPECT_DOUBLE_EQ(report.expected.mean(t, m), expected[m]);
      if (seen[m] > 0) {
        errors[m] += std::pow(y - expected[m], 2);
        errors_of_mean[m] += std::pow(y - sums[m] / seen[m], 2);
      }
      sums[m] += y;
      seen[m] += 1;
    }
  }
  EXPECT_EQ(report.observations, 700);
  EXPECT_EQ(report.sequences, 1);
  EXPECT_EQ(report.missing_cells, 2);
  EXPECT_NEAR(report.log_likelihood, log_likelihood, 1e-9);
  for (Index k = 0; k < 2; ++k) EXPECT_NEAR(report.shares[k], shares[k] / shares.sum(), 1e-12);
  std::vector<double> explained;
  for (Index m = 0; m < 3; ++m) {
    explained.push_back(1 - errors[m] / errors_of_mean[m]);
    EXPECT_NEAR(report.explained[m], explained.back(), 1e-9);
    EXPECT_NEAR(report.mean_counts[m], sums[m] / seen[m], 1e-12);
  }
  std::ranges::sort(explained);
  EXPECT_NEAR(report.median_explained, explained[1], 1e-9);
  ASSERT_EQ(report.predictions.size(), 3);
  EXPECT_NEAR(report.predictions[0].explained, explained[2], 1e-9);
  EXPECT_NEAR(report.predictions[2].explained, explained[0], 1e-9);
  // The last 400 rows, in the order of time.
  ASSERT_EQ(report.recent.seen.cols(), 400);
  EXPECT_EQ(report.recent.first, 300);
  EXPECT_EQ(report.recent.seen.col(0), counts.col(300));
  EXPECT_TRUE(std::isnan(report.recent.seen(2, 399)));
  EXPECT_TRUE(report.recent.seen.col(398) == counts.col(698));
  const Matrix ahead = filter.forecast(report.forecast.horizon);
  ASSERT_EQ(report.forecast.channels, (std::vector<Index>{3, 0, 1, 2}));
  for (Index h = 0; h < report.forecast.horizon; ++h) {
    EXPECT_NEAR(report.forecast.means(h, 0), ahead.col(h).sum(), 1e-9);
    EXPECT_NEAR(report.forecast.means(h, 2), ahead(1, h), 1e-9);
    const auto quantiles = report.forecast.quantiles[1].row(h);
    EXPECT_TRUE(std::ranges::is_sorted(Vector(quantiles)));
  }
}

// Tail probabilities of the right model are uniform, of rows at equal distances.
TEST(StreamReport, ARightModelIsCalibrated) {
  const Model model = two_sources();
  const StreamReport report = report_on(model, counts_of(model, 3000, 2));
  const std::vector<double>& tails = report.tail_probabilities;
  ASSERT_GE(tails.size(), 500);
  ASSERT_LE(tails.size(), 2048);
  EXPECT_TRUE(std::ranges::is_sorted(tails));
  // Kolmogorov and Smirnov: P(distance > c / sqrt(n)) < 2 exp(-2 c^2) = 1e-6 for c = 2.694.
  double distance = 0;
  const auto n = static_cast<double>(tails.size());
  for (std::size_t i = 0; i < tails.size(); ++i) {
    distance = std::max(distance, std::abs(tails[i] - (static_cast<double>(i) + 0.5) / n));
  }
  EXPECT_LT(distance, 2.694 / std::sqrt(n) + 0.5 / n);
}

TEST(StreamReport, ExpectingManyRowsComputesFewerTailProbabilities) {
  const Model model = two_sources();
  StreamReporter reporter(model, {});
  reporter.expect_rows(1e6);
  const Matrix counts = counts_of(model, 3000, 2);
  for (Index t = 0; t < counts.cols(); ++t) reporter.add(Observation(as_span(counts.col(t))));
  EXPECT_EQ(reporter.finish().tail_probabilities.size(), 3000 / 1024);
}

TEST(StreamReport, FindsThePlantedSurprise) {
  const Model model = two_sources();
  Matrix counts = counts_of(model, 600, 3);
  counts(1, 400) = 60;
  const StreamReport report = report_on(model, counts);
  ASSERT_FALSE(report.surprises.empty());
  EXPECT_EQ(report.surprises[0].t, 401);
  EXPECT_LT(report.surprises[0].tail_probability, 1e-4);
  EXPECT_EQ(report.surprises[0].cells[0].channel, 1);
  EXPECT_EQ(report.surprises[0].cells[0].seen, 60);
  EXPECT_GT(report.surprises[0].cells[0].deviation, 10);
  for (std::size_t i = 1; i < report.surprises.size(); ++i) {
    EXPECT_LE(report.surprises[i - 1].tail_probability, report.surprises[i].tail_probability);
  }
}

TEST(StreamReport, OneChannelThatNeverChangesHasNothingToExplain) {
  const Estimate estimate{Matrix::Ones(1, 1), AnyPrior(BasisSelection(1, 0.5, 0.5))};
  const StreamReport report = report_on(Model(estimate, estimate), Matrix::Zero(1, 40));
  EXPECT_TRUE(std::isnan(report.explained[0]));
  EXPECT_TRUE(std::isnan(report.median_explained));
  EXPECT_TRUE(report.predictions.empty());
  EXPECT_EQ(report.forecast.channels, std::vector<Index>{0});
}

}  // namespace
}  // namespace headwater
