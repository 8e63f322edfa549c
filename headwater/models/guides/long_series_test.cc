#include "headwater/models/guides/long_series.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "headwater/kernels/count_series.hpp"

namespace headwater {
namespace {

// Those of e^m: the terms are Poisson probabilities times e^m.
std::vector<double> poisson_ratios(int count) {
  std::vector<double> ratios;
  for (int h = 0; h < count; ++h) ratios.push_back(1.0 / (h + 1));
  return ratios;
}

TEST(LongSeries, SumsAsTheKernelDoes) {
  std::vector<double> ratios;
  for (int h = 0; h < 400; ++h) ratios.push_back((2.5 + h) / ((0.7 + h) * (h + 1)));
  const LongSeries series(ratios);
  const std::vector<double> means = {0, 1e-9, 0.3, 4, 60};
  std::vector<double> sums(means.size());
  sum_series(ratios, means, sums);
  for (std::size_t i = 0; i < means.size(); ++i) {
    EXPECT_NEAR(series.log_sum(means[i]), std::log(sums[i]), 1e-13 * (1 + means[i])) << means[i];
  }
}

TEST(LongSeries, SumsWhatIsNoNumber) {
  const LongSeries series(poisson_ratios(8000));
  EXPECT_NEAR(series.log_sum(5000), 5000, 1e-8);
}

// Of numbers spread evenly over (0, 1), as many lead to h as its probability says, give or take one
// at each end of its one or two intervals.
TEST(LongSeries, DrawsEachTermWithItsProbability) {
  const LongSeries series(poisson_ratios(8000));
  for (const double mean : {0.0, 0.2, 3.0, 5000.0}) {
    const int num_draws = 20000;
    std::vector<int> counts(8001);
    for (int i = 0; i < num_draws; ++i) ++counts[series.draw((i + 0.5) / num_draws, mean)];
    for (std::size_t h = 0; h < counts.size(); ++h) {
      const auto n = static_cast<double>(h);
      const double log_probability =
          mean > 0 ? n * std::log(mean) - mean - std::lgamma(n + 1) : (h == 0 ? 0 : -1e9);
      EXPECT_NEAR(counts[h], num_draws * std::exp(log_probability), 2.1) << mean << " " << h;
    }
  }
}

}  // namespace
}  // namespace headwater
