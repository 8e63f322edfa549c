#include "headwater/emission/negative_binomial.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "headwater/conformance.hpp"
#include "headwater/core/special.hpp"
#include "headwater/emission.hpp"
#include "headwater/emission/dispersion_estimates.hpp"
#include "headwater/emission/negative_binomial_terms.hpp"
#include "headwater/emission/plain_sums.hpp"
#include "headwater/emission/poisson.hpp"

namespace headwater {
namespace {

namespace terms = negative_binomial;

constexpr double kDispersions[] = {1e-8, 1e-5, 1e-3, 0.03, 0.4, 1, 7, 300};

TEST(NegativeBinomialTerms, RisingLogsAreTheSum) {
  for (const double phi : kDispersions) {
    for (const double y : {1, 2, 5, 31, 33, 200, 5000}) {
      long double sum = 0;
      long double slope = 0;
      for (int j = 1; j < y; ++j) {
        sum += std::log1p(static_cast<long double>(j) * phi);
        slope += j / (1 + static_cast<long double>(j) * phi);
      }
      const double expected = static_cast<double>(sum);
      EXPECT_NEAR(terms::rising_logs(y, phi), expected, 1e-12 * (y + expected)) << y << " " << phi;
      EXPECT_NEAR(terms::rising_slope(y, phi), static_cast<double>(slope),
                  1e-8 * static_cast<double>(slope))
          << y << " " << phi;
    }
  }
}

TEST(NegativeBinomialTerms, SofteningIsContinuous) {
  EXPECT_EQ(terms::softening(0), 0.5);
  for (const double z : {1e-12, 1e-6, 1e-3, 0.0199, 0.0201, 0.5, 3.0, 1e6}) {
    const auto wide = static_cast<long double>(z);
    long double series = 0;
    for (int n = 60; n >= 2; --n) series = (n - 1.0L) / n - wide * series;
    const long double exact =
        z < 0.5 ? series : (std::log1p(wide) - wide / (1 + wide)) / (wide * wide);
    EXPECT_NEAR(terms::softening(z), static_cast<double>(exact), 1e-12 * static_cast<double>(exact))
        << z;
  }
}

// The score is the derivative of the log-density in the dispersion.
TEST(NegativeBinomialTerms, ScoreIsTheDerivative) {
  for (const double phi : {0.01, 0.3, 2.0, 40.0}) {
    for (const double mu : {0.01, 1.0, 30.0}) {
      for (const double y : {0.0, 1.0, 4.0, 60.0}) {
        const double step = 1e-5 * phi;
        const auto at = [&](double dispersion) {
          return NegativeBinomial(Vector::Constant(1, dispersion)).log_density(0, y, mu);
        };
        const double slope = (at(phi + step) - at(phi - step)) / (2 * step);
        EXPECT_NEAR(terms::dispersion_score(y, mu, phi), slope,
                    1e-6 * (1 + std::abs(slope) + std::abs(at(phi)) / phi));
      }
    }
  }
}

// Against the sum over all counts.
TEST(NegativeBinomialTerms, InformationIsNearTheVarianceOfTheScore) {
  for (const double phi : {0.01, 0.3, 2.0, 10.0}) {
    for (const double mu : {0.05, 1.0, 30.0}) {
      const NegativeBinomial law(Vector::Constant(1, phi));
      double exact = 0;
      for (double y = 0; y < 20000; ++y) {
        const double score = terms::dispersion_score(y, mu, phi);
        exact += std::exp(law.log_density(0, y, mu)) * score * score;
      }
      const double found = terms::dispersion_information(mu, phi, terms::information_limit(phi));
      EXPECT_GT(found, exact / 1.6) << phi << " " << mu;
      EXPECT_LT(found, exact * 5) << phi << " " << mu;
    }
  }
}

// What a cell asks for lies between what its count asks for, phi + 1 + phi at most, and what the
// rest of its score asks for, phi + 2 g(z) (1 + phi + 2 z + z^2 / limit).
TEST(NegativeBinomialTerms, ACellAsksForLittleMoreDispersionThanThereIs) {
  for (const double phi : {0.0, 0.01, 0.3, 2.0, 40.0}) {
    const NegativeBinomial law(Vector::Constant(1, phi));
    const double limit = terms::information_limit(phi);
    for (const double mu : {1e-9, 1e-4, 0.1, 3.0, 100.0}) {
      const double z = phi * mu;
      const double of_rest = 2 * terms::softening(z) * (1 + phi + 2 * z + z * z / limit);
      for (const double y : {0.0, 1.0, 2.0, 50.0, 1000.0, 1e5}) {
        std::vector<double> sums(2, 0);
        law.add_statistics(0, y, mu, 1, sums);
        EXPECT_LE(sums[0], sums[1] * (phi + std::max(1 + phi, of_rest)) * (1 + 1e-9))
            << phi << " " << mu << " " << y;
        // Where the sums of a channel are 0, its dispersion is that of the likelihood all the same.
        EXPECT_NEAR(sums[0] - phi * sums[1], terms::dispersion_score(y, mu, phi),
                    1e-12 * (1 + sums[0] + phi * sums[1]));
      }
    }
  }
}

// Steps are never less than half as long for it, and hardly shorter where means are 1 and more.
TEST(NegativeBinomialTerms, WhatCountsAddToTheInformationIsLittle) {
  for (const double phi : {0.01, 0.3, 2.0, 10.0}) {
    const NegativeBinomial law(Vector::Constant(1, phi));
    for (const double mu : {1e-3, 0.05, 1.0, 30.0}) {
      double added = 0;
      for (double y = 0; y < 20000; ++y) {
        added += std::exp(law.log_density(0, y, mu)) * terms::asked_information(y, mu, phi);
      }
      const double there = terms::dispersion_information(mu, phi, terms::information_limit(phi));
      EXPECT_LE(added, there * (mu < 1 ? 1.0 : 0.15)) << phi << " " << mu;
    }
  }
}

TEST(NegativeBinomial, ProbabilitiesAddUp) {
  for (const double phi : {1e-7, 0.2, 1.0, 3.0}) {
    const NegativeBinomial law(Vector::Constant(1, phi));
    double sum = 0;
    double mean = 0;
    for (double y = 0; y < 3000; ++y) {
      const double p = std::exp(law.log_density(0, y, 8));
      sum += p;
      mean += p * y;
    }
    EXPECT_NEAR(sum, 1, 1e-9);
    EXPECT_NEAR(mean, 8, 1e-7);
  }
}

TEST(NegativeBinomial, GoesToPoisson) {
  const Poisson poisson;
  for (const double phi : {0.0, 1e-9, 1e-7}) {
    const NegativeBinomial law(Vector::Constant(1, phi));
    for (const double y : {0.0, 1.0, 3.0, 40.0}) {
      const double limit = poisson.log_density(0, y, 9);
      EXPECT_NEAR(law.log_density(0, y, 9), limit, phi * 1000 + 1e-12) << phi << " " << y;
      EXPECT_NEAR(law.loss(0, y, 9), 1, 40 * phi);
    }
  }
  EXPECT_EQ(NegativeBinomial(Vector::Zero(1)).log_density(0, 2, 0),
            -std::numeric_limits<double>::infinity());
}

TEST(NegativeBinomial, Conforms) {
  for (const double phi : {0.0, 0.02, 0.5}) {
    const auto shared = check_emission(NegativeBinomial(Vector::Constant(1, phi)), {}, 4);
    EXPECT_EQ(shared.findings, std::vector<std::string>()) << phi;
  }
  const Vector own{{0.1, 0.0, 2.0, 0.4}};
  EXPECT_EQ(check_emission(NegativeBinomial(own), {}, 4).findings, std::vector<std::string>());
}

TEST(NegativeBinomial, RefusesWhatIsNoDispersion) {
  NegativeBinomial law(Vector::Constant(3, 0.1));
  EXPECT_THROW(law.set_parameter(scalar_parameter("noise", 1)), std::exception);
  EXPECT_THROW(law.set_parameter(scalar_parameter("dispersion", -1)), std::exception);
  EXPECT_THROW(law.set_parameter({"dispersion", Matrix::Ones(2, 1)}), std::exception);
  law.set_parameter(scalar_parameter("dispersion", 0.7));
  EXPECT_EQ(law.dispersion(2), 0.7);
}

// Counts of given means: scoring finds the dispersion that they were drawn with. The standard error
// of one dispersion from n cells is 1 / sqrt(n I); five of them fail once in 1.7 million times.
TEST(DispersionEstimates, FindTheSharedOne) {
  const double truth = 0.3;
  const NegativeBinomial drawn(Vector::Constant(1, truth));
  Generator generator = RandomStream(5).at(1, 0, Purpose::observation);
  const Index n = 20000;
  std::vector<double> counts;
  std::vector<double> means;
  for (Index t = 0; t < n; ++t) {
    means.push_back(0.2 + 5 * generator.uniform());
    counts.push_back(drawn.draw(0, means.back(), generator));
  }
  NegativeBinomial law(Vector::Constant(1, 0.01));
  double information = 0;
  for (int step = 0; step < 20; ++step) {
    std::vector<double> sums(2, 0);
    for (std::size_t t = 0; t < counts.size(); ++t) {
      law.add_statistics(0, counts[t], means[t], 1, sums);
    }
    information = sums[1];
    law.maximise(sums, 1, {});
  }
  EXPECT_NEAR(law.dispersion(0), truth, 5 / std::sqrt(information));
}

// Channels that say little are given the dispersion of the others; those that say much keep theirs.
TEST(DispersionEstimates, ShrinkWhatIsNotKnown) {
  const Vector now = Vector::Constant(4, 0.2);
  // Three well known channels at .2, .2 and .25, and one that knows nothing.
  std::vector<double> sums;
  for (const double phi : {0.2, 0.2, 0.25}) {
    sums.push_back(phi * 50);
    sums.push_back(50);
  }
  sums.push_back(3 * 1e-9);
  sums.push_back(1e-9);
  const Vector found = channel_dispersions(sums, 1000, now);
  EXPECT_NEAR(found[0], 0.2, 0.01);
  EXPECT_NEAR(found[2], 0.25, 0.02);
  EXPECT_NEAR(found[3], 0.215, 0.01);
  // Without any information nothing moves.
  EXPECT_EQ(channel_dispersions(std::vector<double>(8, 0.0), 1000, now), now);
}

// 40 busy channels, of dispersions .05 to .3, and 500 that have hardly a count. These say nothing,
// and must not hide that the busy ones differ. Busy ones that are the same are still drawn
// together. The standard error of a busy channel's logarithm is .2 to .32.
TEST(DispersionEstimates, QuietChannelsDoNotHideThatOthersDiffer) {
  const Index busy = 40;
  const auto logarithms_for = [&](const Vector& truth) {
    const NegativeBinomial drawn(truth);
    Generator generator = RandomStream(11).at(1, 0, Purpose::observation);
    const Index n = 150;
    const auto mean = [&](Index m) { return m < busy ? 12.0 : 0.05; };
    Matrix counts(truth.size(), n);
    for (Index i = 0; i < counts.size(); ++i) {
      const Index m = i % truth.size();
      counts(i) = drawn.draw(m, mean(m), generator);
    }
    NegativeBinomial law(Vector::Constant(truth.size(), 0.1));
    for (int step = 0; step < 12; ++step) {
      std::vector<double> sums(static_cast<std::size_t>(2 * truth.size()), 0);
      for (Index i = 0; i < counts.size(); ++i) {
        const Index m = i % truth.size();
        law.add_statistics(m, counts(i), mean(m), 1 / static_cast<double>(n), sums);
      }
      law.maximise(sums, static_cast<double>(n), {});
    }
    Vector logarithms(busy);
    for (Index m = 0; m < busy; ++m) logarithms[m] = std::log(law.dispersion(m));
    return logarithms;
  };
  Vector truth = Vector::Constant(540, 0.1);
  const Vector same = logarithms_for(truth);
  const double spread = std::sqrt((same.array() - same.mean()).square().mean());
  EXPECT_LT(spread, 0.15);
  const Vector logarithms = Vector::LinSpaced(busy, std::log(0.05), std::log(0.3));
  truth.head(busy) = logarithms.array().exp();
  const Vector errors = (logarithms_for(truth) - logarithms).cwiseAbs();
  EXPECT_LT(errors.maxCoeff(), 5 * 0.32);
  EXPECT_LT(errors.mean(), 0.32);  // with all of them at the mean it is .45
}

}  // namespace
}  // namespace headwater
