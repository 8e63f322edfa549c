#include "headwater/kernels/count_series.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "headwater/kernels/test_support.hpp"
#include "headwater/random.hpp"

namespace headwater {
namespace {

// The ratios of e^m, or of a series that decreases more slowly; enough terms for all m up to
// `most`.
std::vector<double> ratios_up_to(double most, double extra) {
  std::vector<double> ratios;
  double log_term = 0;
  double largest = 0;
  for (double h = 0; log_term > largest - 40; ++h) {
    ratios.push_back((1 + extra + h) / ((1 + h) * (1 + h)));
    log_term += std::log(most * ratios.back());
    largest = std::max(largest, log_term);
  }
  return ratios;
}

std::vector<long double> partial_sums(const std::vector<double>& ratios, double mean) {
  std::vector<long double> sums = {1};
  long double term = 1;
  for (const double ratio : ratios) {
    term *= static_cast<long double>(mean) * ratio;
    sums.push_back(sums.back() + term);
  }
  return sums;
}

struct Numbers {
  std::vector<double> means;
  std::vector<double> uniforms;
};

Numbers random_numbers(std::size_t size, double most) {
  Generator generator = RandomStream(95).at(0, 0, Purpose::basis);
  Numbers numbers;
  for (std::size_t i = 0; i < size; ++i) {
    numbers.means.push_back(i % 9 == 0 ? 0 : most * std::pow(generator.uniform(), 3));
    numbers.uniforms.push_back(generator.uniform());
  }
  numbers.means[1] = most;
  numbers.means[2] = 1e-300;
  numbers.uniforms[1] = 1 - 0x1p-53;
  numbers.uniforms[4] = 0x1p-53;
  return numbers;
}

const double kMost[] = {0.01, 3, 40, 500};
const double kExtra[] = {0, 7.5};

// A term with h factors is rounded 2h times.
TEST(CountSeries, SumsAllThatMatters) {
  under_each_instruction_set([] {
    for (const double most : kMost) {
      for (const double extra : kExtra) {
        const std::vector<double> ratios = ratios_up_to(most, extra);
        const Numbers numbers = random_numbers(1100, most);
        const double error = 1e-15 + static_cast<double>(ratios.size()) * 3e-16;
        for (const std::size_t length : lengths_to_try()) {
          std::vector<double> sums(length + 1, -7);
          sum_series(ratios, std::span(numbers.means).first(length), std::span(sums).first(length));
          EXPECT_EQ(sums.back(), -7);
          for (std::size_t i = 0; i < length; ++i) {
            const auto expected =
                static_cast<double>(partial_sums(ratios, numbers.means[i]).back());
            EXPECT_NEAR(sums[i], expected, error * expected) << numbers.means[i];
          }
        }
      }
    }
  });
}

// The uniform number must lie between the partial sum without the drawn term and the one with it.
TEST(CountSeries, DrawsInvertTheDistribution) {
  under_each_instruction_set([] {
    for (const double most : kMost) {
      for (const double extra : kExtra) {
        const std::vector<double> ratios = ratios_up_to(most, extra);
        const Numbers numbers = random_numbers(1100, most);
        const double error = 1e-15 + static_cast<double>(ratios.size()) * 6e-16;
        for (const std::size_t length : lengths_to_try()) {
          std::vector<double> counts(length + 1, -7);
          draw_from_series(ratios, std::span(numbers.means).first(length),
                           std::span(numbers.uniforms).first(length),
                           std::span(counts).first(length));
          EXPECT_EQ(counts.back(), -7);
          for (std::size_t i = 0; i < length; ++i) {
            const auto sums = partial_sums(ratios, numbers.means[i]);
            const auto h = static_cast<std::size_t>(counts[i]);
            ASSERT_EQ(static_cast<double>(h), counts[i]);
            ASSERT_LT(h, sums.size());
            const auto part = [&](std::size_t n) {
              return n == 0 ? 0 : static_cast<double>(sums[n - 1] / sums.back());
            };
            EXPECT_LE(part(h), numbers.uniforms[i] + error);
            EXPECT_GE(part(h + 1), numbers.uniforms[i] - error);
          }
        }
      }
    }
  });
}

TEST(CountSeries, WithoutRatiosIsOne) {
  const std::vector<double> means = {0, 3};
  std::vector<double> found = {0.5, 0.9};
  draw_from_series({}, means, found, found);
  EXPECT_EQ(found, std::vector<double>({0, 0}));
  sum_series({}, means, found);
  EXPECT_EQ(found, std::vector<double>({1, 1}));
}

}  // namespace
}  // namespace headwater
