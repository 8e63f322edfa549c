// A fit speaks from the first observation on, and never of what it has not been given.
#include <gtest/gtest.h>

#include <cmath>

#include "headwater/inference.hpp"
#include "headwater/learning/online_em.hpp"
#include "headwater/models/basis_selection.hpp"
#include "headwater/observation.hpp"
#include "headwater/reference/streams.hpp"
#include "headwater/session.hpp"
#include "headwater/simulate.hpp"
#include "headwater/state_archive.hpp"

namespace headwater {
namespace {

constexpr Index kSearched = 110;  // with a light search after 50 observations
constexpr Index kLiveLength = 160;

Config live_config() {
  Config config;
  config.num_components = 2;
  config.start_on = kSearched;
  return config;
}

Matrix live_record(Index length = kLiveLength) {
  return reference::simulate_record(AnyPrior(BasisSelection(2, 0.8, 0.7)), random_basis(4, 2, 6, 1),
                                    length, 2);
}

// What was reported of each observation, and when.
struct Published {
  std::vector<StepReport> reports;
  std::vector<Vector> activations;
  std::vector<double> tails;

  void listen(Session& session) {
    session.keep_predictions(true);
    session.on_step([&](const StepReport& report) {
      reports.push_back(report);
      activations.push_back(session.filtered_activation());
      SurpriseMeter meter;
      tails.push_back(meter(session.prediction(), *report.observation).p_row);
    });
  }
};

// A report is out before the next observation is there, so that none can have been looked at.
TEST(Live, EachObservationIsReportedWhenItComes) {
  for (const char* prior : {"basis-selection", "gamma"}) {
    Config config = live_config();
    config.prior.name = prior;
    config.engine.num_particles = 30;
    Session session(config);
    Published published;
    published.listen(session);
    const Matrix record = live_record();
    for (Index t = 0; t < kLiveLength; ++t) {
      session.update(as_span(record.col(t)));
      ASSERT_EQ(std::ssize(published.reports), t + 1);
      const StepReport& report = published.reports.back();
      EXPECT_EQ(report.t, t + 1);
      EXPECT_EQ(report.provisional, t < 50);
      EXPECT_EQ(report.in_start, t < kSearched);
      EXPECT_EQ(report.is_blind, t == 0);
      EXPECT_EQ(session.learner()->observations(), t + 1);
      EXPECT_TRUE(session.model().reported.basis.allFinite());
      EXPECT_EQ(session.is_settled(), t + 1 >= kSearched);
    }
    double sum = 0;
    double after_start = 0;
    for (const StepReport& report : published.reports) {
      sum += report.filter.log_predictive;
      if (!report.in_start) after_start += report.filter.log_predictive;
    }
    session.finish();
    EXPECT_EQ(std::ssize(published.reports), kLiveLength);  // the end has nothing to add
    EXPECT_NEAR(session.model().log_likelihood, sum, 1e-9 * std::abs(sum));
    EXPECT_NEAR(session.model().log_likelihood_after_start, after_start, 1e-9 * std::abs(sum));
    EXPECT_EQ(session.model().observations_after_start, kLiveLength - kSearched);
  }
}

// The probability of an observation is settled before it: over the counts of a single channel they
// sum up to 1 at every stage of the start, but for the tail beyond the largest count, and for
// outliers, which are treated as missing and reported as such.
TEST(Live, PredictionsAreProbabilities) {
  Config config = live_config();
  config.num_components = 1;
  const Matrix record = live_record();
  for (const Index t : {1, 2, 9, 40, 50, 55, 63, 110, 111, 138}) {
    Session session(config);
    for (Index s = 0; s < t; ++s) session.update(std::vector<double>{record(0, s)});
    double sum = 0;
    for (int n = 0; n < 60; ++n) {
      Session next(session);
      next.on_step([&](const StepReport& report) {
        if (!report.is_outlier) sum += std::exp(report.filter.log_predictive);
      });
      next.update(std::vector<double>{1.0 * n});
    }
    EXPECT_LT(sum, 1 + 1e-9) << t;
    EXPECT_GT(sum, 0.9) << t;
  }
}

TEST(Live, AStreamThatBeginsWithNothingIsFitted) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const double first : {0.0, nan}) {
    Matrix record = 500 * live_record();
    record.leftCols(12).setConstant(first);
    for (const char* prior : {"basis-selection", "gamma"}) {
      Config config = live_config();
      config.prior.name = prior;
      config.engine.num_particles = 30;
      Session session(config);
      Published published;
      published.listen(session);
      for (Index t = 0; t < kLiveLength; ++t) session.update(as_span(record.col(t)));
      session.finish();
      for (const StepReport& report : published.reports) {
        EXPECT_TRUE(std::isfinite(report.filter.log_predictive)) << report.t;
        // Only the first one that has a cell is predicted without any scale.
        EXPECT_EQ(report.is_blind, report.t <= (std::isnan(first) ? 13 : 1));
      }
      EXPECT_TRUE(session.model().reported.basis.allFinite());
      EXPECT_GT(session.model().reported.basis.sum(), 100);
    }
  }
}

// A fit that does not average makes the same steps, and predicts with its last iterate alone. In a
// stream that does not change, the average is better as soon as the fit is near its end. Where that
// cannot be told from chance it rests, so that it predicts a part of the observations only.
TEST(Live, TheAveragePredictsWhereItIsBetter) {
  const Matrix record = live_record(3000);
  Config config = live_config();
  Published with;
  Published without;
  for (Published* published : {&with, &without}) {
    config.average = published == &with ? Average::kPolyak : Average::kNone;
    Session session(config);
    published->listen(session);
    for (Index t = 0; t < record.cols(); ++t) session.update(as_span(record.col(t)));
    session.finish();
  }
  double gain = 0;
  Index by_average = 0;
  for (std::size_t t = 0; t < with.reports.size(); ++t) {
    const StepReport& report = with.reports[t];
    const double by_last = without.reports[t].filter.log_predictive;
    EXPECT_FALSE(without.reports[t].by_average);
    gain += report.filter.log_predictive - by_last;
    if (report.by_average) {
      ++by_average;
      EXPECT_NE(with.activations[t], without.activations[t]);
    } else {
      EXPECT_EQ(report.filter.log_predictive, by_last);
      EXPECT_EQ(with.activations[t], without.activations[t]);
      EXPECT_EQ(with.tails[t], without.tails[t]);
    }
  }
  EXPECT_GT(by_average, 300);
  EXPECT_GT(gain, 0);
}

// From the first observations on the scale is that of the data: a prediction of the second one
// costs no more than a few nats a channel more than one by the truth does.
TEST(Live, TheScaleIsThatOfTheData) {
  for (const double scale : {1.0, 1000.0}) {
    Config config = live_config();
    Session session(config);
    Published published;
    published.listen(session);
    for (int t = 0; t < 40; ++t) {
      session.update(std::vector<double>{10 * scale, 20 * scale, 40 * scale, 5 * scale});
    }
    for (std::size_t t = 1; t < 40; ++t) {
      const double least = -4 * (std::log(40 * scale) + 4);
      EXPECT_GT(published.reports[t].filter.log_predictive, least) << scale << " " << t;
      EXPECT_FALSE(published.reports[t].is_outlier);
    }
  }
}

// A session that is put away anywhere goes on in the same bits, a race under way or not.
TEST(Live, ABreakAnywhereChangesNothing) {
  const Matrix record = live_record();
  for (const char* law : {"auto", "drifting"}) {
    Config config = live_config();
    config.counts.law = law;
    Session whole(config);
    Published expected;
    expected.listen(whole);
    for (Index t = 0; t < kLiveLength; ++t) whole.update(as_span(record.col(t)));
    whole.finish();
    for (const Index cut : {1, 2, 31, 49, 50, 51, 61, 62, 63, 109, 110, 111, 137, 138}) {
      Session first(config);
      for (Index t = 0; t < cut; ++t) first.update(as_span(record.col(t)));
      StateArchive saved;
      first.exchange(saved);
      Session second(config);
      StateArchive read(saved.bytes());
      second.exchange(read);
      Published published;
      published.listen(second);
      for (Index t = cut; t < kLiveLength; ++t) second.update(as_span(record.col(t)));
      second.finish();
      EXPECT_EQ(second.model().last.basis, whole.model().last.basis) << law << " cut at " << cut;
      EXPECT_EQ(second.model().reported.basis, whole.model().reported.basis);
      EXPECT_EQ(second.model().log_likelihood, whole.model().log_likelihood);
      EXPECT_EQ(second.model().trace.reported, whole.model().trace.reported);
      for (Index t = cut; t < kLiveLength; ++t) {
        const auto i = static_cast<std::size_t>(t - cut);
        const auto j = static_cast<std::size_t>(t);
        EXPECT_EQ(published.reports[i].filter.log_predictive,
                  expected.reports[j].filter.log_predictive);
        EXPECT_EQ(published.reports[i].provisional, expected.reports[j].provisional);
        EXPECT_EQ(published.activations[i], expected.activations[j]);
        EXPECT_EQ(published.tails[i], expected.tails[j]);
      }
    }
  }
}

// The prediction of an observation that a search follows is that of the fit that made it.
TEST(Live, APredictionOutlivesItsFit) {
  const Matrix record = live_record();
  Session session(live_config());
  session.keep_predictions(true);
  for (Index t = 0; t + 1 < kSearched; ++t) session.update(as_span(record.col(t)));
  const Matrix before = session.learner()->engine().basis();
  session.update(as_span(record.col(kSearched - 1)));
  EXPECT_TRUE(session.is_settled());
  EXPECT_EQ(session.prediction().emission->basis(), before);
  EXPECT_NE(session.learner()->engine().basis(), before);
}

}  // namespace
}  // namespace headwater
