#include "headwater/surprise.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "headwater/emission/negative_binomial.hpp"
#include "headwater/engines/exact_engine.hpp"
#include "headwater/engines/fast_engine.hpp"
#include "headwater/engines/particle_engine.hpp"
#include "headwater/models/basis_selection.hpp"
#include "headwater/models/gamma_prior.hpp"
#include "headwater/models/log_gaussian.hpp"
#include "headwater/reference/statistical_tests.hpp"
#include "headwater/session/mixed_tails.hpp"
#include "headwater/simulate.hpp"

namespace headwater {
namespace {

std::unique_ptr<Engine> exact_filter(const AnyPrior& prior, const Emission& emission) {
  ExactEngineOptions options;
  options.smoother = ExactEngineOptions::Smoother::kNone;
  return std::make_unique<ExactEngine>(prior, emission, options);
}

std::unique_ptr<Engine> fast_filter(const AnyPrior& prior, const Emission& emission) {
  FastEngineOptions options;
  options.smooths = false;
  return std::make_unique<FastEngine>(prior, emission, options);
}

std::unique_ptr<Engine> particle_filter(const AnyPrior& prior, const Emission& emission) {
  ParticleEngineOptions options;
  options.smoother = ParticleEngineOptions::Smoother::kNone;
  return std::make_unique<ParticleEngine>(prior, emission, options,
                                          std::make_shared<ThreadPool>(1));
}

Matrix simulated(const AnyPrior& prior, const Emission& emission, Index length) {
  Simulator simulator(prior, emission, 12);
  Matrix record(emission.num_channels(), length);
  for (Index t = 0; t < length; ++t) {
    simulator.next();
    record.col(t) = Eigen::Map<const Vector>(simulator.observation().data(), record.rows());
  }
  return record;
}

struct Found {
  std::vector<double> rows;
  std::vector<double> totals;
  std::vector<double> channels;
};

Found surprises(Engine& engine, const Matrix& record) {
  SurpriseMeter meter;
  Found found;
  for (Index t = 0; t < record.cols(); ++t) {
    const Observation y(as_span(record.col(t)));
    engine.step(y, 0);
    const RowSurprise& row = meter(engine, y, t + 1);
    found.rows.push_back(row.p_row);
    found.totals.push_back(row.p_total);
    found.channels.push_back(row.p_channels);
  }
  return found;
}

AnyLaw dispersed(double phi) { return NegativeBinomial(Vector::Constant(1, phi)); }

// Kolmogorov's test, and how many are below 1/1000: 1 expected in 1000, and more than 10 with
// probability 1e-8.
void expect_uniform(std::vector<double> found, double rate, const char* what) {
  EXPECT_LE(std::ranges::count_if(found, [](double p) { return p < 1e-3; }), 10) << what;
  std::ranges::sort(found);
  EXPECT_LT(reference::kolmogorov_statistic(found, [](double p) { return p; }),
            reference::kolmogorov_smirnov_critical(found.size(), rate))
      << what;
}

// Under the model that the data come from, the three probabilities are uniform: exactly so with
// finitely many activations, and nearly so otherwise. 15 numbers are tested, each at 4e-8 and 1e-8;
// a false alarm has probability 1e-6.
TEST(SurpriseMeter, IsUniformWhereTheModelIsRight) {
  const auto check = [](Engine& engine, const Matrix& record) {
    const Found found = surprises(engine, record);
    expect_uniform(found.rows, 4e-8, "rows");
    expect_uniform(found.totals, 4e-8, "totals");
    expect_uniform(found.channels, 4e-8, "channels");
  };
  const AnyPrior finite(BasisSelection(3, 0.9, 0.8));
  const AnyPrior logarithmic(LogGaussian(3, 0.8, 0.4));
  const AnyPrior gamma(GammaPrior(3, 2.0, 0.8));
  {
    const Emission few(random_basis(6, 3, 4, 5), dispersed(0.5));
    check(*exact_filter(finite, few), simulated(finite, few, 1000));
    check(*particle_filter(logarithmic, few), simulated(logarithmic, few, 1000));
  }
  {
    const Emission rare(random_basis(60, 3, 0.2, 5));
    check(*exact_filter(finite, rare), simulated(finite, rare, 1000));
  }
  {
    const Emission many(random_basis(60, 3, 8, 5), dispersed(0.2));
    check(*fast_filter(logarithmic, many), simulated(logarithmic, many, 1000));
    check(*fast_filter(gamma, many), simulated(gamma, many, 1000));
  }
}

// A Poisson law where counts are dispersed.
TEST(SurpriseMeter, IsNotUniformWhereTheLawIsWrong) {
  const AnyPrior prior(BasisSelection(3, 0.9, 0.8));
  const Matrix basis = random_basis(6, 3, 4, 5);
  std::vector<double> found = surprises(*exact_filter(prior, basis),
                                        simulated(prior, Emission(basis, dispersed(0.5)), 1000))
                                  .rows;
  std::ranges::sort(found);
  EXPECT_GT(reference::kolmogorov_statistic(found, [](double p) { return p; }), 0.2);
}

TEST(SurpriseMeter, FindsTheChannel) {
  const AnyPrior prior(GammaPrior(3, 2.0, 0.8));
  const Emission emission(random_basis(40, 3, 4, 5));
  Matrix record = simulated(prior, emission, 100);
  record(17, 70) += 60;
  record.col(90) *= 4;
  const std::unique_ptr<Engine> engine = fast_filter(prior, emission);
  SurpriseMeter meter;
  for (Index t = 0; t < 100; ++t) {
    const Observation y(as_span(record.col(t)));
    engine->step(y, 0);
    const RowSurprise& row = meter(*engine, y, t + 1);
    EXPECT_EQ(std::ssize(row.channels), SurpriseMeter::kListed);
    EXPECT_TRUE(std::ranges::is_sorted(row.channels, {}, &CellSurprise::p));
    if (t == 70) {
      EXPECT_LT(row.p_channels, 1e-6);
      EXPECT_EQ(row.channels[0].channel, 17);
      EXPECT_EQ(row.channels[0].seen, record(17, 70));
      EXPECT_LT(row.channels[0].expected, 30);
      EXPECT_LT(row.channels[0].p, 1e-6);
    }
    if (t == 90) {
      EXPECT_LT(row.p_total, 1e-3);
      EXPECT_EQ(row.seen_total, record.col(90).sum());
    }
  }
}

// The predicted law of a channel, by drawing it: activations of the engine's prediction, counts
// given them. The tail found lies within the standard error of a sample of 200,000.
TEST(SurpriseMeter, ATailIsThatOfDraws) {
  for (const bool is_logarithmic : {false, true}) {
    const AnyPrior prior =
        is_logarithmic ? AnyPrior(LogGaussian(2, 0.7, 0.5)) : AnyPrior(GammaPrior(2, 2.0, 0.7));
    const Emission emission(random_basis(5, 2, 6, 3), dispersed(0.3));
    Matrix record = simulated(prior, emission, 20);
    record(2, 19) = 40;
    const std::unique_ptr<Engine> engine = fast_filter(prior, emission);
    for (Index t = 0; t < 20; ++t) engine->step(Observation(as_span(record.col(t))), 0);
    SurpriseMeter meter;
    const RowSurprise& row = meter(*engine, Observation(as_span(record.col(19))), 20);
    const auto cell =
        std::ranges::find_if(row.channels, [](const auto& c) { return c.channel == 2; });
    ASSERT_NE(cell, row.channels.end());
    constexpr Index kDraws = 200000;
    Matrix draws(kDraws, 2);
    Generator generator = RandomStream(5).at(1, 0, Purpose::surprise);
    engine->sample_predicted(generator, draws);
    double beyond = 0;
    for (Index i = 0; i < kDraws; ++i) {
      const double count =
          emission.law()->draw(2, emission.basis().row(2).dot(draws.row(i)), generator);
      beyond += count > 40 ? 1 : count == 40 ? 0.5 : 0;
    }
    const double right = 2 * beyond / kDraws;
    EXPECT_GT(right, 1e-4);
    // Moments of sums of log-normal variables are matched, not their laws: a tenth is allowed.
    EXPECT_NEAR(cell->p / right, 1, 0.1 + reference::normal_critical(5e-7) / std::sqrt(beyond))
        << is_logarithmic;
  }
}

TEST(MixedTails, OfAGammaMeanAreNegativeBinomial) {
  const CountTails mixed = mixed_tails({0, 1, 0}, 7, 3, 1.8, false);
  const CountTails right = negative_binomial_tails(7, 3, 0.2);
  EXPECT_DOUBLE_EQ(mixed.above, right.above);
}

// All laws at a time and one after the other, also where counts or means are too large for the
// first, and where the upper tail is next to nothing.
TEST(MixedTails, AreSumsOverTheMeans) {
  Vector means(5);
  means << 0, 0.3, 4, 17.5, 90;
  Vector weights(5);
  weights << 0.1, 0.4, 0.25, 0.05, 0.2;
  for (const double phi : {0.0, 0.02, 1.5}) {
    for (const double scale : {1e-3, 0.05, 1.0, 20.0}) {
      for (const double y : {0.0, 1.0, 2.5, 30.0, 200.0, 500.0, 501.0, 3000.0}) {
        const VarianceFunction variance{0, 1, phi};
        CountTails right{0, 0, 0};
        Vector densities;
        const CountTails mixed = mixed_tails(variance, y, scale * means, weights, &densities);
        for (Index i = 0; i < means.size(); ++i) {
          const CountTails own = tails_by_variance(variance, y, scale * means[i]);
          right.add(weights[i], own);
          if (own.at == 0) continue;
          EXPECT_NEAR(densities[i] / own.at, 1, 1e-9);
        }
        const double tiny = 1e-250;
        EXPECT_NEAR((mixed.below + tiny) / (right.below + tiny), 1, 1e-9) << y << " " << scale;
        EXPECT_NEAR((mixed.at + tiny) / (right.at + tiny), 1, 1e-9) << y << " " << scale;
        EXPECT_NEAR((mixed.above + tiny) / (right.above + tiny), 1, 1e-9) << y << " " << scale;
      }
    }
  }
}

// Of hundreds of laws most are far from a large count, and are left out.
TEST(MixedTails, OfManyLawsAreSumsOverTheMeans) {
  const Index size = 300;
  const Vector means = Vector::LinSpaced(size, 50, 3000);
  Vector weights = Vector::LinSpaced(size, 1, 9);
  weights /= weights.sum();
  for (const double phi : {0.0, 0.02, 1.5}) {
    for (const double y : {501.0, 900.0, 2990.0, 5000.0}) {
      const VarianceFunction variance{0, 1, phi};
      CountTails right{0, 0, 0};
      for (Index i = 0; i < size; ++i) {
        right.add(weights[i], tails_by_variance(variance, y, means[i]));
      }
      const CountTails mixed = mixed_tails(variance, y, means, weights);
      EXPECT_NEAR(mixed.below / right.below, 1, 1e-9) << y << " " << phi;
      EXPECT_NEAR(mixed.at / right.at, 1, 1e-9) << y << " " << phi;
      EXPECT_NEAR(mixed.above / right.above, 1, 1e-9) << y << " " << phi;
    }
  }
}

// Against a fine grid.
TEST(MixedTails, OfALogNormalMeanAreAnIntegral) {
  const double spread = std::sqrt(std::log1p(1.8 / 9));
  double above = 0;
  double all = 0;
  for (double z = -9; z < 9; z += 1e-3) {
    const double weight = std::exp(-z * z / 2);
    all += weight;
    above +=
        weight * negative_binomial_tails(200, 30 * std::exp(spread * (z - spread / 2)), 0).above;
  }
  EXPECT_NEAR(mixed_tails({0, 1, 0}, 200, 30, 180, true).above / (above / all), 1, 1e-3);
}

TEST(SurpriseMeter, NothingSeenIsNoSurprise) {
  const AnyPrior prior(BasisSelection(3, 0.9, 0.8));
  const std::unique_ptr<Engine> engine = exact_filter(prior, random_basis(6, 3, 4, 5));
  Observation y;
  y.assign_missing(6);
  engine->step(y, 0);
  SurpriseMeter meter;
  EXPECT_EQ(meter(*engine, y, 1).p_row, 1);
  EXPECT_TRUE(meter(*engine, y, 1).channels.empty());
}

}  // namespace
}  // namespace headwater
