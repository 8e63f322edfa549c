#include "headwater/kernels/poisson.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "headwater/core/test_numbers.hpp"
#include "headwater/kernels/test_support.hpp"
#include "headwater/random.hpp"

namespace headwater {
namespace {

struct Problem {
  Matrix x;
  RowMatrix rows;
  std::vector<double> counts;
  Vector total;
};

Problem random_problem(Index num_particles, Index num_channels, Index num_components) {
  Generator generator = RandomStream(72).at(0, 0, Purpose::basis);
  const auto uniform = [&] { return generator.uniform(); };
  Problem problem;
  problem.x = Matrix::NullaryExpr(num_particles, num_components, uniform);
  problem.rows = RowMatrix::NullaryExpr(num_channels, num_components, uniform) * 10;
  problem.total = problem.rows.colwise().sum();
  for (Index j = 0; j < num_channels; ++j) {
    problem.counts.push_back(std::floor(1 + 40 * uniform()));
  }
  return problem;
}

long double exactly(const Problem& problem, Index i, long double* error) {
  long double sum = 0;
  *error = 0;
  const auto k = static_cast<long double>(problem.x.cols());
  for (Index j = 0; j < problem.rows.rows(); ++j) {
    long double intensity = 0;
    for (Index c = 0; c < problem.x.cols(); ++c) {
      intensity += static_cast<long double>(problem.rows(j, c)) * problem.x(i, c);
    }
    const long double log = std::log(intensity);
    sum += problem.counts[j] * log;
    *error += problem.counts[j] * (k + 2 + 2 * std::abs(log));
  }
  for (Index c = 0; c < problem.x.cols(); ++c) {
    const long double term = static_cast<long double>(problem.total[c]) * problem.x(i, c);
    sum -= term;
    *error += (k + 1) * term;
  }
  *error = (*error + std::abs(sum)) * std::numeric_limits<double>::epsilon() / 2;
  return sum;
}

// Every intensity is a sum of K rounded products; every logarithm is within one ulp.
void expect_right(const Problem& problem, Index shift = 0) {
  const Index n = problem.x.rows() - shift;
  std::vector<double> out(n + shift + 1, -7);
  CountRuns counts;
  counts.set(problem.counts);
  poisson_log_likelihoods(problem.x.bottomRows(n), as_span(problem.rows), counts,
                          as_span(problem.total), std::span(out).subspan(shift, n));
  EXPECT_EQ(out.back(), -7);
  for (Index i = 0; i < n; ++i) {
    long double error = 0;
    const long double expected = exactly(problem, shift + i, &error);
    const double found = out[shift + i];
    if (std::isinf(expected)) {
      EXPECT_EQ(found, -kInfinity) << i;
    } else {
      EXPECT_LE(std::abs(found - expected), error) << i;
    }
  }
}

TEST(PoissonKernel, IsTheSumForEveryNumberOfParticles) {
  under_each_instruction_set([] {
    for (const std::size_t length : lengths_to_try()) {
      for (const Index shift : {0, 1}) {
        expect_right(random_problem(static_cast<Index>(length) + shift, 6, 3), shift);
      }
    }
    expect_right(random_problem(75, 6, 3));
  });
}

TEST(PoissonKernel, IsTheSumForEveryNumberOfChannelsAndComponents) {
  under_each_instruction_set([] {
    for (Index num_components = 1; num_components <= 9; ++num_components) {
      expect_right(random_problem(70, 8, num_components));
    }
    for (Index num_channels = 0; num_channels <= 40; ++num_channels) {
      expect_right(random_problem(70, num_channels, 2));
    }
  });
}

TEST(PoissonKernel, TakesAnyPositiveCounts) {
  under_each_instruction_set([] {
    Problem problem = random_problem(70, 9, 5);
    problem.counts.assign(9, 1);
    expect_right(problem);
    problem.counts = {4095, 4096, 1e6, 1e15, 0.5, 2048, 1e-9, 3, 1.25};
    expect_right(problem);
    problem.counts = {1, 2, 4, 8, 16, 32, 64, 4095, 4095};
    expect_right(problem);
  });
}

// Intensities for which the products of powers leave the range of doubles.
TEST(PoissonKernel, TakesIntensitiesOfAnySize) {
  under_each_instruction_set([] {
    for (const double scale : {1e-300, 1e-60, 1e-20, 1e-15, 1e15, 1e25, 1e60, 1e300}) {
      Problem problem = random_problem(70, 16, 2);
      problem.x.row(3) *= scale;
      problem.x.row(66) *= scale;
      problem.rows.row(1).setConstant(1e-5);
      expect_right(problem);
    }
  });
}

TEST(PoissonKernel, ZeroIntensityIsImpossible) {
  under_each_instruction_set([] {
    for (const double count : {1.0, 7.0, 0.5, 1e6}) {
      Problem problem = random_problem(70, 5, 3);
      problem.counts[2] = count;
      problem.rows.row(2) << 0, 1, 0;
      for (const Index i : {0, 5, 33, 69}) problem.x(i, 1) = 0;
      problem.x.row(34).setZero();
      expect_right(problem);
      problem.total.setZero();
      expect_right(problem);
    }
  });
}

// Against one logarithm of a quotient for each channel. The division and the factor 1 + z have a
// rounding each beside those of the intensity, and so has the logarithm of 1 + z where it is taken.
void expect_right_softened(const Problem& problem, const std::vector<double>& scales) {
  const Index n = problem.x.rows();
  std::vector<double> out(n, 0.25);
  CountRuns counts;
  counts.set(problem.counts);
  add_softened_count_logarithms(problem.x, as_span(problem.rows), scales, counts.runs(), out);
  for (Index i = 0; i < n; ++i) {
    long double expected = 0.25;
    long double error = 1;
    for (Index j = 0; j < problem.rows.rows(); ++j) {
      long double intensity = 0;
      for (Index c = 0; c < problem.x.cols(); ++c) {
        intensity += static_cast<long double>(problem.rows(j, c)) * problem.x(i, c);
      }
      const long double count = problem.counts[j];
      const long double log = std::log(intensity);
      const long double softening = std::log1p(scales[j] * intensity);
      expected += count * (log - softening);
      error += count *
               (static_cast<long double>(problem.x.cols()) + 6 + 2 * std::abs(log) + 2 * softening);
    }
    error = (error + std::abs(expected)) * std::numeric_limits<double>::epsilon();
    if (std::isinf(expected)) {
      EXPECT_EQ(out[i], -kInfinity) << i;
    } else {
      EXPECT_LE(std::abs(out[i] - expected), error) << i;
    }
  }
}

TEST(PoissonKernel, SoftenedCountsAreTheirDefinition) {
  under_each_instruction_set([] {
    for (const double size : {0.0, 1e-9, 0.3, 40.0, 1e12, 1e60}) {
      for (const Index num_channels : {1, 5, 16, 37}) {
        SCOPED_TRACE(testing::Message() << size << " " << num_channels);
        Problem problem = random_problem(75, num_channels, 5);
        std::vector<double> scales;
        for (Index j = 0; j < num_channels; ++j) {
          scales.push_back(size * static_cast<double>(j % 4));
        }
        expect_right_softened(problem, scales);
        problem.counts.assign(problem.counts.size(), 1);
        problem.counts[0] = 2.5;
        expect_right_softened(problem, scales);
        problem.x.row(3) *= 1e-14;
        problem.x.row(40) *= 1e30;
        problem.x.row(41).setZero();
        expect_right_softened(problem, scales);
      }
    }
  });
}

}  // namespace
}  // namespace headwater
