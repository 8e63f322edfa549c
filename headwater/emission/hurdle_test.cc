#include "headwater/emission/hurdle.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "headwater/conformance.hpp"
#include "headwater/emission.hpp"
#include "headwater/emission/count_tails.hpp"
#include "headwater/emission/hurdle_terms.hpp"
#include "headwater/emission/plain_sums.hpp"
#include "headwater/emission/statistics.hpp"
#include "headwater/error.hpp"
#include "headwater/reference/streams.hpp"

namespace headwater {
namespace {

constexpr double kHurdleDispersions[] = {0, 1e-7, 1e-3, 0.4, 3, 50};
constexpr double kHurdleMeans[] = {1e-9, 1e-4, 0.3, 1, 5, 60};

Hurdle hurdle_with_levels(Vector excess, Vector dispersion) {
  return Hurdle(std::move(excess), NegativeBinomial(std::move(dispersion), 0.9));
}

// In quadruple the digits, where a difference loses half of them.
TEST(HurdleTerms, AreTheirFormulas) {
  for (const double phi : kHurdleDispersions) {
    for (const double mu : kHurdleMeans) {
      const auto wide = static_cast<long double>(mu);
      const long double away = phi == 0 ? wide : std::log1p(phi * wide) / phi;
      const long double silent = std::exp(-away);
      const long double present = -std::expm1(-away);
      const long double more = 1 + phi * wide;
      const auto near = [&](double found, long double expected) {
        EXPECT_NEAR(found, static_cast<double>(expected),
                    1e-12 * std::abs(static_cast<double>(expected)))
            << phi << " " << mu;
      };
      near(hurdle::presence(mu, phi), present);
      near(std::exp(hurdle::log_presence(mu, phi)), present);
      near(hurdle::level_if_silent(mu, phi), 1 / more);
      near(hurdle::information(mu, phi), silent / (more * more * present));
      if (mu < 1e-3) continue;  // where even these formulas lose digits
      const long double level = (1 - silent / more) / present;
      const long double square = (1 + phi) * (1 - silent / (more * more)) / present;
      near(hurdle::level_if_present(mu, phi), level);
      EXPECT_NEAR(hurdle::level_variance_if_present(mu, phi),
                  static_cast<double>(square - level * level), 1e-12 * static_cast<double>(square));
    }
  }
  EXPECT_NEAR(hurdle::level_if_present(1e-12, 2), 3, 1e-11);  // as if weighted by the level
}

TEST(Hurdle, ProbabilitiesAddUpToTheMeanAndTheVarianceThatItSays) {
  for (const double phi : {0.0, 0.7}) {
    for (const double excess : {1e-6, 0.2, 3.0}) {
      const Hurdle law = hurdle_with_levels(Vector::Constant(1, excess), Vector::Constant(1, phi));
      for (const double mu : {0.01, 0.8, 12.0}) {
        double sum = 0;
        double mean = 0;
        double square = 0;
        for (double y = 0; y < 400; ++y) {
          const double p = std::exp(law.log_density(0, y, mu));
          sum += p;
          mean += p * y;
          square += p * y * y;
        }
        EXPECT_NEAR(sum, 1, 1e-12);
        EXPECT_NEAR(law.variance(0).mean_count(mu), mean, 1e-9);
        EXPECT_NEAR(law.variance(0).variance_of_count(mu), square - mean * mean, 1e-9);
        const double step = 1e-5;
        const double slope =
            (law.variance(0).mean_count(mu + step) - law.variance(0).mean_count(mu - step)) /
            (2 * step);
        EXPECT_NEAR(law.variance(0).slope_of_mean(mu), slope, 1e-8);
      }
    }
  }
}

// A gamma law of the intensity is one more dispersion.
TEST(Hurdle, TheMeanOverUncertainIntensitiesIsTheirMixture) {
  const VarianceFunction law{.linear = 1, .quadratic = 0, .excess = 0.2};
  const double mean = 0.8;
  const double mixing = 0.5;
  Generator generator = RandomStream(3).at(1, 0, Purpose::observation);
  const int n = 200000;
  double sum = 0;
  double squares = 0;
  for (int i = 0; i < n; ++i) {
    const double count = law.mean_count(mean * mixing * gamma(generator, 1 / mixing));
    sum += count;
    squares += count * count;
  }
  const double error = std::sqrt((squares / n - sum / n * sum / n) / n);
  // 5 standard errors of a normal mean: once in 1.7 million times.
  EXPECT_NEAR(law.mean_count(mean, mixing), sum / n, 5 * error);
}

TEST(Hurdle, TailsAreSumsOfProbabilities) {
  for (const double phi : {0.0, 0.7}) {
    for (const double excess : {1e-6, 0.3, 4.0}) {
      const Hurdle law = hurdle_with_levels(Vector::Constant(1, excess), Vector::Constant(1, phi));
      for (const double mu : {0.01, 2.0}) {
        for (const double y : {0.0, 1.0, 2.0, 9.0}) {
          double below = 0;
          double above = 0;
          for (double k = 0; k < y; ++k) below += std::exp(law.log_density(0, k, mu));
          for (double k = y + 1; k < y + 400; ++k) above += std::exp(law.log_density(0, k, mu));
          const CountTails tails = tails_by_variance(law.variance(0), y, mu);
          EXPECT_NEAR(tails.below, below, 1e-12);
          EXPECT_NEAR(tails.at, std::exp(law.log_density(0, y, mu)), 1e-12 * tails.at);
          EXPECT_NEAR(tails.above, above, 1e-9 * above);
        }
      }
    }
  }
  const VarianceFunction law{.linear = 1, .excess = 0.3};
  const CountTails half = tails_by_variance(law, 1.5, 2);
  const CountTails whole = tails_by_variance(law, 1, 2);
  EXPECT_EQ(half.at, 0);
  EXPECT_DOUBLE_EQ(half.above, whole.above + whole.at / 2);
}

TEST(Hurdle, Conforms) {
  for (const double excess : {0.02, 0.1, 2.0}) {
    const Vector one = Vector::Constant(1, excess);
    const Vector each = excess * Vector{{1, 2, 0.5, 1}};
    for (const AnyLaw& law :
         {AnyLaw(Hurdle(one)), AnyLaw(Hurdle(each)), AnyLaw(hurdle_with_levels(one, one)),
          AnyLaw(hurdle_with_levels(each, Vector{{0.1, 0, 2, 0.4}}))}) {
      EXPECT_EQ(check_emission(law, {}, 4).findings, std::vector<std::string>())
          << law->name() << " " << excess;
    }
  }
}

TEST(Hurdle, RefusesWhatIsNoParameter) {
  Hurdle law(Vector::Constant(3, 0.1));
  EXPECT_THROW(law.set_parameter(scalar_parameter("dispersion", 1)), UsageError);
  EXPECT_THROW(law.set_parameter(scalar_parameter("excess", -1)), UsageError);
  EXPECT_THROW(law.set_parameter({"excess", Matrix::Ones(2, 1)}), UsageError);
  law.set_parameter(scalar_parameter("excess", 0.7));
  EXPECT_EQ(law.excess(2), 0.7);
  law.set_parameter(scalar_parameter("excess", 0));
  EXPECT_GT(law.excess(0), 0);  // a count of 2 stays possible
  Hurdle drifting = hurdle_with_levels(Vector::Constant(3, 0.1), Vector::Constant(3, 0.1));
  drifting.set_parameter(scalar_parameter("dispersion", 2));
  EXPECT_EQ(drifting.dispersion(1), 2);
  EXPECT_THROW(drifting.set_parameter(scalar_parameter("noise", 1)), UsageError);
}

// A geometric law of mean x has the standard error sqrt(x (1 + x) / n) of its mean; five of them
// fail once in 1.7 million times.
TEST(Hurdle, ExcessIsTheMeanOfCountsBeyondTheFirst) {
  const double truth = 0.3;
  const Hurdle drawn(Vector::Constant(1, truth));
  Generator generator = RandomStream(5).at(1, 0, Purpose::observation);
  std::vector<double> sums(2, 0);
  for (int t = 0; t < 20000; ++t) {
    const double mean = 0.1 + generator.uniform();
    drawn.add_statistics(0, drawn.draw(0, mean, generator), mean, 1, sums);
  }
  Hurdle law(Vector::Constant(1, 2.0));
  law.maximise(sums, 1, {});
  EXPECT_NEAR(law.excess(0), truth, 5 * std::sqrt(truth * (1 + truth) / sums[1]));
}

// Zeros and ones alone say that a count of 2 is rare, and not that there is none; channels that say
// little are given what the others have.
TEST(Hurdle, ExcessIsShrunk) {
  Hurdle law(Vector::Constant(3, 0.1));
  law.maximise(std::vector<double>{0, 40, 0, 60, 0, 0}, 10, {});
  for (Index m = 0; m < 3; ++m) {
    EXPECT_GT(law.excess(m), 1e-6);
    EXPECT_LT(law.excess(m), 1e-3);
  }
  law.maximise(std::vector<double>{20, 40, 30, 60, 0, 0}, 10, {});
  EXPECT_NEAR(law.excess(2), 0.5, 0.01);
  const double before = law.excess(0);
  law.maximise(std::vector<double>{20, 40, 30, 60, 0, 0}, 10, {{"excess"}, true});
  EXPECT_EQ(law.excess(0), before);
}

// Blocks of several observations, with missing cells, exposures and a state that explains no count.
TEST(HurdleSums, OfABlockAreThoseOfItsCells) {
  constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();
  Matrix states = (Matrix::Random(600, 3).array() + 0.5).max(0);
  states.row(7).setZero();
  const Matrix basis = Matrix::Random(4, 3).cwiseAbs();
  const Matrix weights = Matrix::Random(600, 3).cwiseAbs();
  const std::vector<double> exposures = {1, 0.5, 2, 1};
  const std::vector<Observation> observations = {
      Observation(std::vector<double>{1, 0, 3, 1}),
      Observation(std::vector<double>{0, 1, kMissing, 1}),
      Observation(std::vector<double>{2, 1, 1, 0}, exposures)};
  const Observation* const pointers[] = {&observations[0], &observations[1], &observations[2]};
  const Vector excess{{0.1, 0.2, 0.3, 0.4}};
  for (const AnyLaw& law :
       {AnyLaw(Hurdle(excess)), AnyLaw(hurdle_with_levels(excess, Vector{{0.5, 0, 2, 0.01}}))}) {
    const Emission emission(basis, law);
    Statistics found(4, 3, 0, law->num_statistics(4));
    Statistics expected = found;
    law->sums()->add(states, emission, weights, pointers, found);
    PlainSums().add(states, emission, weights, pointers, expected);
    using reference::largest_relative_difference;
    EXPECT_LT(largest_relative_difference(found.s1, expected.s1), 1e-12);
    EXPECT_LT(largest_relative_difference(found.s2, expected.s2), 1e-12);
    EXPECT_LT(largest_relative_difference(found.s4, expected.s4), 1e-12);
    EXPECT_LT((found.unseen - expected.unseen).cwiseAbs().maxCoeff(), 1e-10) << law->name();
  }
}

}  // namespace
}  // namespace headwater
