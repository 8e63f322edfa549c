#include "headwater/kernels/tail_sums.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "headwater/kernels/test_support.hpp"
#include "headwater/random.hpp"

namespace headwater {
namespace {

// Means of laws from `least` to `most`, and the factors of these laws.
struct Laws {
  std::vector<double> means;
  std::vector<double> factors;
};

Laws laws_between(double least, double most, double phi, std::size_t count) {
  Generator generator = RandomStream(92).at(0, 0, Purpose::basis);
  Laws laws;
  for (std::size_t i = 0; i < count; ++i) {
    laws.means.push_back(least + (most - least) * generator.uniform());
    laws.factors.push_back(laws.means.back() / (1 + phi * laws.means.back()));
  }
  return laws;
}

double up(double k, double phi, double factor) { return factor * (1 + k * phi) / (k + 1); }

double at_zero(double mean, double phi) {
  return std::exp(phi > 0 ? -std::log1p(phi * mean) / phi : -mean);
}

const std::vector<double> kDispersions = {0, 0.02, 1.5};

TEST(TailSums, FromZeroAreThoseOfTheirDefinition) {
  under_each_instruction_set([] {
    for (const double phi : kDispersions) {
      for (const double y : {0.0, 1.0, 2.0, 33.0}) {
        for (const std::size_t length : lengths_to_try()) {
          const Laws laws = laws_between(0, 60, phi, length);
          std::vector<double> at(length + 1, -7);
          std::vector<double> below(length + 1, -7);
          for (std::size_t i = 0; i < length; ++i) at[i] = at_zero(laws.means[i], phi);
          const auto given = at;
          climb_from_zero(y, phi, laws.factors, std::span(at).first(length),
                          std::span(below).first(length));
          for (std::size_t i = 0; i < length; ++i) {
            double term = given[i];
            double sum = 0;
            for (double k = 0; k < y; ++k) {
              sum += term;
              term *= up(k, phi, laws.factors[i]);
            }
            EXPECT_NEAR(at[i], term, 1e-13 * term);
            EXPECT_NEAR(below[i], sum, 1e-13 * sum);
          }
          EXPECT_EQ(at.back(), -7);
          EXPECT_EQ(below.back(), -7);
        }
      }
    }
  });
}

// Every term of the sum, up to where it has no more digits.
TEST(TailSums, AboveAreThoseOfTheirDefinition) {
  under_each_instruction_set([] {
    for (const double phi : kDispersions) {
      for (const double y : {1.0, 40.0, 700.0}) {
        for (const std::size_t length : {1, 7, 8, 9, 50}) {
          const Laws laws = laws_between(0.1, y, phi, length);
          std::vector<double> at(length, 0.01);
          at[0] = 0;
          std::vector<double> above(length, -7);
          sum_above(y, phi, laws.factors, at, above);
          for (std::size_t i = 0; i < length; ++i) {
            double term = at[i];
            double sum = 0;
            for (double k = y; k < y + 1e6 && term > 1e-18 * sum; ++k) {
              term *= up(k, phi, laws.factors[i]);
              sum += term;
            }
            EXPECT_NEAR(above[i], sum, 1e-10 * sum) << y << " " << phi;
          }
        }
      }
    }
  });
}

// A mean of 1e6 under a dispersion of 1: each ratio is nearly 1, and the sum nearly a geometric
// one.
TEST(TailSums, AboveGoOnBeyondTheLastTerm) {
  under_each_instruction_set([] {
    const double factor = 1e6 / (1 + 1e6);
    std::vector<double> above(1);
    sum_above(10, 1, std::vector<double>{factor}, std::vector<double>{1e-6}, above);
    EXPECT_NEAR(above[0], 1e-6 * factor / (1 - factor), 1e-9);
  });
}

TEST(TailSums, BelowAreThoseOfTheirDefinition) {
  under_each_instruction_set([] {
    for (const double phi : kDispersions) {
      for (const double y : {0.0, 1.0, 40.0, 700.0}) {
        for (const std::size_t length : {1, 7, 8, 9, 50}) {
          const Laws laws = laws_between(y, 2 * y + 1, phi, length);
          std::vector<double> at(length, 0.01);
          at[0] = 0;
          std::vector<double> below(length, -7);
          sum_below(y, phi, laws.factors, at, below);
          for (std::size_t i = 0; i < length; ++i) {
            double term = at[i];
            double sum = 0;
            for (double k = y - 1; k >= 0; --k) {
              term /= up(k, phi, laws.factors[i]);
              sum += term;
            }
            EXPECT_NEAR(below[i], sum, 1e-10 * sum) << y << " " << phi;
          }
        }
      }
    }
  });
}

TEST(TailSums, OfAMixtureAreSumsOverTheLaws) {
  under_each_instruction_set([] {
    for (const double phi : kDispersions) {
      for (const double y : {0.0, 1.0, 2.0, 33.0}) {
        for (const std::size_t length : lengths_to_try()) {
          const Laws laws = laws_between(0.5, 60, phi, length);
          const Laws weights = laws_between(0, 1, 0, length);
          std::vector<double> log_zero;
          for (const double mean : laws.means) log_zero.push_back(std::log(at_zero(mean, phi)));
          std::vector<double> densities(length + 1, -7);
          const MixedSums sums =
              mix_from_zero(y, phi, laws.factors,
                            phi > 0 ? std::span<const double>(log_zero) : std::span<double>(),
                            weights.means, std::span(densities).first(length));
          MixedSums right;
          for (std::size_t i = 0; i < length; ++i) {
            double term = at_zero(laws.means[i], phi);
            double below = 0;
            for (double k = 0; k < y; ++k) {
              below += term;
              term *= up(k, phi, laws.factors[i]);
            }
            EXPECT_NEAR(densities[i], term, 1e-12 * term);
            right.below += weights.means[i] * below;
            right.at += weights.means[i] * term;
            right.weight += weights.means[i];
            right.most = std::max(right.most, laws.factors[i]);
          }
          EXPECT_EQ(densities.back(), -7);
          EXPECT_NEAR(sums.below, right.below, 1e-12 * right.below);
          EXPECT_NEAR(sums.at, right.at, 1e-12 * right.at);
          EXPECT_NEAR(sums.weight, right.weight, 1e-12 * right.weight);
          EXPECT_EQ(sums.least, 0);
          EXPECT_EQ(sums.most, right.most);
        }
      }
    }
    const std::vector<double> some = {1, -2, 3};
    std::vector<double> densities(3);
    EXPECT_EQ(mix_from_zero(1, 0, some, {}, some, densities).least, -2);
  });
}

}  // namespace
}  // namespace headwater
