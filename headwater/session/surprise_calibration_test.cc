#include "headwater/surprise_calibration.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "headwater/observation.hpp"
#include "headwater/random.hpp"
#include "headwater/reference/statistical_tests.hpp"
#include "headwater/reports.hpp"
#include "headwater/state_archive.hpp"

namespace headwater {
namespace {

constexpr double kAlarmRate = 1e-6;

// What the calibration makes of p-values that are `distorted` uniform numbers.
std::vector<double> calibrated(int count, const std::function<double(double)>& distorted) {
  SurpriseCalibration calibration;
  Generator generator = RandomStream(5).at(0, 0, Purpose::observation);
  std::vector<double> values;
  for (int i = 0; i < count; ++i) {
    RowSurprise by_model;
    by_model.p_row = distorted(generator.uniform());
    values.push_back(calibration(by_model).p_row);
  }
  return values;
}

double distance_from_uniform(std::vector<double> values) {
  std::ranges::sort(values);
  return reference::kolmogorov_statistic(values, [](double p) { return p; });
}

// Ranks of exchangeable numbers are uniform, and independent but for the window that they share. So
// the critical value of independent ones is used, whether the model was right or far too sure.
TEST(SurpriseCalibration, MakesPValuesUniform) {
  const std::vector<std::function<double(double)>> distortions = {
      [](double u) { return u; },
      [](double u) { return std::pow(u, 4); },
      [](double u) { return 1 - std::pow(u, 3); },
  };
  const double critical = reference::kolmogorov_smirnov_critical(4000, kAlarmRate / 3);
  for (const auto& distorted : distortions) {
    EXPECT_LT(distance_from_uniform(calibrated(4000, distorted)), critical);
  }
}

// The p-values are below .01 in 32 % of the observations before, and so seldom afterwards: 40 of
// 4,000 are expected, fewer than 14 or more than 78 with probability 5e-7 each (Poisson).
TEST(SurpriseCalibration, MakesSmallPValuesAsRareAsTheySay) {
  const std::vector<double> values = calibrated(4000, [](double u) { return std::pow(u, 4); });
  const auto small = std::ranges::count_if(values, [](double p) { return p < 0.01; });
  EXPECT_GE(small, 14);
  EXPECT_LE(small, 78);
}

// By the definition: the rank among the numbers that stand in and those before, by plain counting.
TEST(SurpriseCalibration, RanksAmongEarlierOnes) {
  std::vector<double> before;
  for (int i = 0; i < 10; ++i) before.push_back((i + 0.5) / 10);
  SurpriseCalibration calibration;
  Generator generator = RandomStream(6).at(0, 0, Purpose::observation);
  for (int i = 0; i < 10; ++i) {
    RowSurprise by_model;
    by_model.p_row = 0.2 + 0.8 * generator.uniform();  // not in the tail
    const auto smaller =
        std::ranges::count_if(before, [&](double p) { return p < by_model.p_row; });
    const double rank =
        (static_cast<double>(smaller) + 0.5) / static_cast<double>(before.size() + 1);
    EXPECT_DOUBLE_EQ(calibration(by_model).p_row, rank);
    before.push_back(by_model.p_row);
  }
}

StepReport report_of(const Observation& y, bool provisional, bool in_start) {
  StepReport report;
  report.observation = &y;
  report.provisional = provisional;
  report.in_start = in_start;
  return report;
}

TEST(SurpriseCalibration, RestartsWithAnotherStart) {
  const Observation y(std::vector<double>{1, 2});
  RowSurprise small;
  small.p_row = 0.2;
  SurpriseCalibration fresh;
  const double at_first = fresh(small, report_of(y, false, false)).p_row;
  SurpriseCalibration calibration;
  for (int i = 0; i < 50; ++i) calibration(small, report_of(y, true, true));
  EXPECT_GT(calibration(small, report_of(y, true, true)).p_row, 0.4);  // it is the usual value
  EXPECT_EQ(calibration(small, report_of(y, false, false)).p_row, at_first);
}

TEST(SurpriseCalibration, NothingIsUnusualWhereNothingIsSeen) {
  Observation missing;
  missing.assign_missing(2);
  SurpriseCalibration calibration;
  EXPECT_EQ(calibration(RowSurprise(), report_of(missing, false, false)).p_row, 1);
}

TEST(SurpriseCalibration, ContinuesFromASavedState) {
  SurpriseCalibration one;
  Generator generator = RandomStream(7).at(0, 0, Purpose::observation);
  RowSurprise by_model;
  const auto next = [&] {
    by_model.p_row = std::pow(generator.uniform(), 2);
    by_model.p_total = generator.uniform();
    return by_model;
  };
  for (int i = 0; i < 700; ++i) one(next());  // the window is full
  StateArchive writing;
  writing(one);
  SurpriseCalibration other;
  StateArchive reading(writing.bytes());
  reading(other);
  reading.expect_end();
  for (int i = 0; i < 100; ++i) {
    const RowSurprise a = one(next());
    const RowSurprise b = other(by_model);
    EXPECT_EQ(a.p_row, b.p_row);
    EXPECT_EQ(a.p_total, b.p_total);
    EXPECT_EQ(a.p_channels, b.p_channels);
  }
}

}  // namespace
}  // namespace headwater
