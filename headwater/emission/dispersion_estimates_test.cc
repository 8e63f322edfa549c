#include "headwater/emission/dispersion_estimates.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "headwater/emission/negative_binomial.hpp"
#include "headwater/random.hpp"

namespace headwater {
namespace {

constexpr double kNow = 0.1;
constexpr double kObservations = 1000;

// Statistics of channels that ask for these logarithms of the dispersion, each as precisely.
std::vector<double> asking_for(const Vector& logarithms, double precision) {
  const double information = precision / (kNow * kNow * kObservations);
  std::vector<double> statistics;
  for (const double logarithm : logarithms) {
    statistics.push_back(std::exp(logarithm) * information);
    statistics.push_back(information);
  }
  return statistics;
}

void add_silent(std::vector<double>& statistics) {
  statistics.push_back(1e-12);
  statistics.push_back(1e-12);
}

std::vector<double> counts_at(const Vector& places) {
  std::vector<double> counts;
  for (const double place : places) counts.push_back(std::exp(place));
  return counts;
}

// Logarithms from log .1 to log .4, around a falling line over the places -2 to 2.
Vector around_a_line(const Vector& places) {
  Vector logarithms(places.size());
  for (Index m = 0; m < places.size(); ++m) {
    logarithms[m] =
        std::log(0.2) - 0.25 * places[m] + 0.08 * std::sin(7.0 * static_cast<double>(m));
  }
  return logarithms;
}

// Channels that all know as much have equal weights. So the variance is that around the mean, the
// line is that of least squares, and a channel that knows nothing is given its value.
TEST(DispersionLine, IsThatOfLeastSquaresShrunk) {
  const Index n = 30;
  const double precision = 400;
  const Vector places = Vector::LinSpaced(n, -2, 2);
  const Vector logarithms = around_a_line(places);
  std::vector<double> statistics = asking_for(logarithms, precision);
  std::vector<double> counts = counts_at(places);
  for (const double place : {-5.0, 0.7, 3.0}) {
    add_silent(statistics);
    counts.push_back(std::exp(place));
  }
  add_silent(statistics);
  counts.push_back(0);

  // What scoring itself asks for is linear in the dispersion; see Wishes.
  const Vector asked = std::log(kNow) + (logarithms.array().exp() / kNow - 1);
  const double mean = logarithms.mean();
  const double variance = (asked.array() - mean).square().sum() / (n - 1) - 1 / precision;
  const double weight = precision / (1 + variance * precision);
  double products = 0;
  double squares = 0;
  for (Index m = 0; m < n; ++m) {
    products += places[m] * (logarithms[m] - mean);
    squares += places[m] * places[m];
  }
  const double plain = products / squares;
  const double slope = plain - 4 / (weight * squares) / plain;
  ASSERT_LT(slope, -0.02);  // shrunk, but there

  const Vector found =
      channel_dispersions(statistics, kObservations, Vector::Constant(n + 4, kNow), counts);
  const double ends[] = {-2, 0.7, 2, -2};  // no further out than those that have a say
  for (Index i = 0; i < 4; ++i) {
    EXPECT_NEAR(std::log(found[n + i]), mean + slope * ends[i], 1e-6) << i;
  }
}

// To the last bit as without mean counts: where the logarithms do not depend on them, where too few
// channels have a say, and where all counts are the same.
TEST(DispersionLine, IsNotThereWhereChannelsDoNotShowIt) {
  const auto expect_none = [](const Vector& logarithms, const Vector& places) {
    const std::vector<double> statistics = asking_for(logarithms, 400);
    const Vector now = Vector::Constant(logarithms.size(), kNow);
    EXPECT_EQ(channel_dispersions(statistics, kObservations, now, counts_at(places)),
              channel_dispersions(statistics, kObservations, now));
  };
  const Vector places = Vector::LinSpaced(30, -2, 2);
  expect_none(std::log(0.15) + 0.2 * places.array().square(), places);
  const Vector few = Vector::LinSpaced(9, -2, 2);
  expect_none(around_a_line(few), few);
  expect_none(around_a_line(places), Vector::Zero(30));
}

// Continuous: a slope that is hardly clear is hardly there.
TEST(DispersionLine, BeginsAtZero) {
  const Vector places = Vector::LinSpaced(30, -2, 2);
  const std::vector<double> counts = counts_at(places);
  const Vector now = Vector::Constant(30, kNow);
  double last = 0;
  for (double slope = 0; slope < 0.3; slope += 1e-4) {
    Vector logarithms = std::log(0.2) - slope * places.array();
    for (Index m = 0; m < 30; ++m) logarithms[m] += m % 2 == 0 ? 0.25 : -0.25;
    const std::vector<double> statistics = asking_for(logarithms, 4);
    const double first = std::log(channel_dispersions(statistics, kObservations, now, counts)[0]);
    if (slope > 0) {
      EXPECT_NEAR(first, last, 2e-2) << slope;
    }
    last = first;
  }
}

// 300 channels of means .05 to 20, 200 counts each, whose dispersions fall with the mean: with the
// mean counts the logarithms are found more closely. Seeds are fixed.
TEST(DispersionLine, HelpsWhereDispersionsFallWithTheMean) {
  const Index channels = 300;
  const Index n = 200;
  const Vector places = Vector::LinSpaced(channels, std::log(0.05), std::log(20.0));
  const Vector truth = (std::log(0.3) - 0.6 * places.array()).exp();
  const Vector means = places.array().exp();
  const NegativeBinomial drawn(truth);
  Generator generator = RandomStream(3).at(1, 0, Purpose::observation);
  Matrix counts(channels, n);
  for (Index i = 0; i < counts.size(); ++i) {
    counts(i) = drawn.draw(i % channels, means[i % channels], generator);
  }
  const Vector mean_counts = counts.rowwise().mean();
  const auto error_given = [&](std::span<const double> line_over) {
    NegativeBinomial law(Vector::Constant(channels, 0.1));
    for (int step = 0; step < 15; ++step) {
      std::vector<double> sums(static_cast<std::size_t>(2 * channels), 0);
      for (Index i = 0; i < counts.size(); ++i) {
        law.add_statistics(i % channels, counts(i), means[i % channels], 1.0 / n, sums);
      }
      law.maximise(sums, static_cast<double>(n), {}, line_over);
    }
    double error = 0;
    for (Index m = 0; m < channels; ++m) {
      error += std::abs(std::log(law.dispersion(m) / truth[m]));
    }
    return error / static_cast<double>(channels);
  };
  EXPECT_LT(error_given(as_span(mean_counts)), 0.75 * error_given({}));
}

// 2,000 channels with 10 counts each, in 200 cells: no channel knows its dispersion, all together
// do. The information of a cell is near mean^2 / (2 (1 + phi)), so that the common dispersion has a
// standard error of .055; five of them, which are allowed, are passed with probability 1e-6.
TEST(ChannelDispersions, OfManyQuietChannelsAreFoundTogether) {
  const Index channels = 2000;
  const Index n = 200;
  const double mean = 0.05;
  const double truth = 0.5;
  const NegativeBinomial drawn(Vector::Constant(channels, truth));
  Generator generator = RandomStream(4).at(1, 0, Purpose::observation);
  Matrix counts(channels, n);
  for (Index i = 0; i < counts.size(); ++i) {
    counts(i) = drawn.draw(i % channels, mean, generator);
  }
  NegativeBinomial law(Vector::Constant(channels, 0.1));
  for (int step = 0; step < 15; ++step) {
    std::vector<double> sums(static_cast<std::size_t>(2 * channels), 0);
    for (Index i = 0; i < counts.size(); ++i) {
      law.add_statistics(i % channels, counts(i), mean, 1.0 / n, sums);
    }
    law.maximise(sums, static_cast<double>(n), {}, {});
  }
  for (Index m = 0; m < channels; ++m) ASSERT_NEAR(law.dispersion(m), truth, 5 * 0.055) << m;
}

}  // namespace
}  // namespace headwater
