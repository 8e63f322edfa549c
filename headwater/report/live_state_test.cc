#include "headwater/report/live_state.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace headwater {
namespace {

StepReport step_of(std::int64_t t, double log_predictive) {
  StepReport report;
  report.t = t;
  report.filter.log_predictive = log_predictive;
  return report;
}

Config small_config() {
  Config config;
  config.num_components = 2;
  return config;
}

TEST(LiveWatch, SnapshotsAreFewAndKeepTheMeanAndTheLeastOfTheirStretch) {
  LiveWatch watch("counts.csv", std::chrono::hours(1));
  const Session session(small_config());
  EXPECT_TRUE(watch.is_due());
  watch.snapshot(session);
  EXPECT_FALSE(watch.is_due());
  for (const double value : {-3.0, -7.0, -2.0}) watch.add(step_of(1, value), 10);
  watch.add(step_of(4, -std::numeric_limits<double>::infinity()), 10);  // counted, not averaged
  const auto snapshot = watch.snapshot(session);
  ASSERT_EQ(snapshot->samples.size(), 1);
  EXPECT_EQ(snapshot->samples[0].log_predictive, -4);
  EXPECT_EQ(snapshot->samples[0].least_log_predictive, -7);
  EXPECT_EQ(snapshot->samples[0].t, 4);
  EXPECT_FALSE(snapshot->has_started);
  watch.add(step_of(5, -1), 10);
  EXPECT_EQ(watch.snapshot(session)->samples.size(), 2);
  EXPECT_EQ(snapshot->samples.size(), 1);  // the earlier one has not changed
}

TEST(LiveWatch, MemoryIsBounded) {
  LiveWatch watch("-", std::chrono::hours(1));
  const Session session(small_config());
  for (int i = 1; i <= 1000; ++i) {
    watch.add(step_of(i, -1), 10);
    watch.snapshot(session);
  }
  EXPECT_EQ(watch.snapshot(session)->samples.size(), 600);
  EXPECT_EQ(watch.snapshot(session)->samples.back().t, 1000);
}

// 200 values with mean -10 and standard deviation 1; then one that is far below.
TEST(LiveWatch, TellsOfSurprises) {
  LiveWatch watch("-", std::chrono::hours(1));
  const Session session(small_config());
  const auto no_time = [](const Observation&) { return std::string("noon"); };
  for (int i = 1; i <= 200; ++i) watch.add(step_of(i, i % 2 == 0 ? -9 : -11), 10);
  EXPECT_EQ(watch.snapshot(session)->surprising, 0);
  const Observation y;
  StepReport far = step_of(201, -30);
  far.observation = &y;
  watch.add(far, 10, no_time);
  const auto snapshot = watch.snapshot(session);
  EXPECT_EQ(snapshot->surprising, 1);
  ASSERT_EQ(snapshot->surprises.size(), 1);
  EXPECT_EQ(snapshot->surprises[0].t, 201);
  EXPECT_EQ(snapshot->surprises[0].time, "noon");
  EXPECT_NEAR(snapshot->surprises[0].excess, 20, 1);
}

TEST(LiveState, MetricsHaveOneValueEachAndNoLabelButTheVersion) {
  LiveSnapshot snapshot;
  snapshot.observations = 12;
  snapshot.effective_part = 0.5;
  const std::string text = prometheus_text(snapshot);
  EXPECT_NE(text.find("# TYPE headwater_observations_total counter\n"
                      "headwater_observations_total 12\n"),
            std::string::npos);
  EXPECT_NE(text.find("headwater_effective_sample_ratio 0.5\n"), std::string::npos);
  EXPECT_EQ(std::ranges::count(text, '{'), 1);
}

TEST(LiveState, NumbersThatAreNotFiniteAreNull) {
  LiveSnapshot snapshot;
  snapshot.components = 1;
  snapshot.samples.push_back({1, 1, -2, -3, std::nan(""), {}});
  const std::string json = live_state_json(snapshot);
  EXPECT_NE(json.find("\"activations\":[[null]]"), std::string::npos);
  EXPECT_EQ(json.find("nan"), std::string::npos);
}

}  // namespace
}  // namespace headwater
