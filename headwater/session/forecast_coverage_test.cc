#include <gtest/gtest.h>

#include <cmath>

#include "headwater/reference/forecast_coverage.hpp"
#include "headwater/reference/statistical_tests.hpp"

namespace headwater {
namespace {

// With the true model, an interval of probability .9 holds the truth .9 of the time. 18 models, 3
// horizons, a channel and the total each are 108 comparisons, which share an alarm rate of .001 by
// Bonferroni: each may be off by 4.4 standard errors. bench_forecasts has more streams, and 3.
TEST(Forecast, IntervalsHoldTheTruthAsOftenAsTheySay) {
  const reference::CoverageOptions options;
  const auto n = static_cast<double>(options.num_streams);
  const double allowed = reference::normal_critical(0.001 / 108) * std::sqrt(0.9 * 0.1 / n);
  const auto cases = reference::forecast_cases();
  ASSERT_EQ(cases.size(), 18u);
  for (const reference::ForecastCase& c : cases) {
    for (const reference::Coverage& at : reference::forecast_coverage(c.truth, options)) {
      EXPECT_NEAR(static_cast<double>(at.channel_inside) / n, 0.9, allowed)
          << c.name << ", " << at.step << " ahead";
      EXPECT_NEAR(static_cast<double>(at.total_inside) / n, 0.9, allowed)
          << c.name << ", total, " << at.step << " ahead";
    }
  }
}

}  // namespace
}  // namespace headwater
