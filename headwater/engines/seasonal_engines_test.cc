#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "headwater/core/special.hpp"
#include "headwater/emission/negative_binomial.hpp"
#include "headwater/engines/beam_engine.hpp"
#include "headwater/engines/exact_batch.hpp"
#include "headwater/engines/exact_engine.hpp"
#include "headwater/engines/fast_engine.hpp"
#include "headwater/engines/forecast.hpp"
#include "headwater/engines/particle_engine.hpp"
#include "headwater/models/basis_selection.hpp"
#include "headwater/models/gamma_prior.hpp"
#include "headwater/reference/path_sums.hpp"
#include "headwater/reference/streams.hpp"

// Engines under a season, beside sums over all paths of the hidden states.

namespace headwater {
namespace {

constexpr Index kPeriod = 4;
constexpr Index kLength = 6;
constexpr double kDispersion = 0.4;

AnyPrior prior_of_two() { return AnyPrior(BasisSelection(2, 0.8, 0.7)); }

Matrix basis_of_three() {
  Matrix basis(3, 3);
  basis << 2, 0.5, 0.3, 0.2, 3, 0.1, 1, 1, 0.4;  // the last column is a background
  return basis;
}

Season two_periods() {
  Matrix four(2, kPeriod);
  four << 0.5, 2, 1, 0.5, 1.5, 0.2, 1.3, 1;
  Matrix three(2, 3);
  three << 1.2, 0.6, 1.2, 0.4, 1.6, 1;
  return Season({four, three});
}

// Positions from 2 on, a missing cell, a missing observation, exposures and zeros.
Record short_record() {
  Matrix counts(3, kLength);
  counts << 3, 0, 5, 1, 2, 0, 1, 4, 0, 2, 0, 3, 0, 2, 2, 1, 1, 4;
  counts(1, 2) = std::numeric_limits<double>::quiet_NaN();
  counts.col(4).setConstant(std::numeric_limits<double>::quiet_NaN());
  Matrix exposures = Matrix::Ones(3, kLength);
  exposures(0, 1) = 0.5;
  exposures(2, 3) = 2.5;
  const Record plain(counts, exposures);
  Record record;
  for (Index t = 0; t < kLength; ++t) {
    Observation y = plain[t];
    y.set_position(t + 2);
    record.add(y);
  }
  return record;
}

// The gain of component k (the background's is 1) at a position, by the definition.
double gain(const Season& season, Index k, std::int64_t position) {
  double product = 1;
  for (const Matrix& profile : season.profiles()) {
    if (k < profile.rows()) product *= profile(k, position % profile.cols());
  }
  return product;
}

struct SeasonTruth {
  double log_likelihood = 0;
  Vector s1 = Vector::Zero(3);
  Matrix s2 = Matrix::Zero(3, 3);
  std::vector<PhaseSums> phases;
};

// The law of the counts: Poisson's for dispersion 0. loss: E[epsilon] times the exposure.
double log_density(double y, double mean, double dispersion) {
  if (dispersion == 0) return y * std::log(mean) - mean - std::lgamma(y + 1);
  const double size = 1 / dispersion;
  return std::lgamma(y + size) - std::lgamma(size) - std::lgamma(y + 1) +
         y * std::log(mean / (mean + size)) - size * std::log1p(dispersion * mean);
}

// E[s1], E[s2] as means over the observations, and the sums of the phases as means over visits.
SeasonTruth truth_of(const Record& record, const Season& season, double dispersion) {
  const FiniteChain chain = prior_of_two().finite_chain();
  Matrix states(4, 3);
  states << chain.joint_states(), Vector::Ones(4);
  const Matrix basis = basis_of_three();
  const Vector initial = chain.joint_initial();
  const Matrix transition = reference::dense_transition(chain);
  SeasonTruth truth;
  for (const Matrix& profile : season.profiles()) truth.phases.emplace_back(2, profile.cols());
  std::vector<Matrix> counts(static_cast<std::size_t>(kLength), Matrix::Zero(2, 2));
  double total = 0;
  reference::for_each_path(4, kLength, [&](const std::vector<Index>& path) {
    double log_weight = std::log(initial[path[0]]);
    for (Index t = 1; t < kLength; ++t) log_weight += std::log(transition(path[t - 1], path[t]));
    for (Index t = 0; t < kLength; ++t) {
      for_each_seen(record[t], [&](Index m, double count, double exposure) {
        double intensity = 0;
        for (Index k = 0; k < 3; ++k) {
          intensity += basis(m, k) * gain(season, k, t + 2) * states(path[t], k);
        }
        log_weight += log_density(count, exposure * intensity, dispersion);
      });
    }
    const double weight = std::exp(log_weight);
    total += weight;
    for (Index t = 0; t < kLength; ++t) {
      for (Index k = 0; k < 3; ++k) {
        truth.s1[k] += weight * gain(season, k, t + 2) * states(path[t], k) / kLength;
      }
      for_each_seen(record[t], [&](Index m, double count, double exposure) {
        Vector parts(3);
        for (Index k = 0; k < 3; ++k) {
          parts[k] = basis(m, k) * gain(season, k, t + 2) * states(path[t], k);
        }
        const double intensity = parts.sum();
        const double loss =
            exposure * (1 + dispersion * count) / (1 + dispersion * exposure * intensity);
        for (Index k = 0; k < 3; ++k) {
          truth.s2(m, k) += weight * count * parts[k] / intensity / kLength;
          if (k == 2) continue;
          counts[t](k, 0) += weight * count * parts[k] / intensity;
          counts[t](k, 1) += weight * loss * parts[k];
        }
      });
    }
  });
  truth.log_likelihood = std::log(total);
  truth.s1 /= total;
  truth.s2 /= total;
  for (std::size_t p = 0; p < truth.phases.size(); ++p) {
    PhaseSums& sums = truth.phases[p];
    for (Index t = 0; t < kLength; ++t) {
      if (!record[t].any_seen()) continue;
      const Index phase = (t + 2) % sums.visits.size();
      sums.visits[phase] += 1;
      sums.counts.col(phase) += counts[t].col(0) / total;
      sums.expected.col(phase) +=
          counts[t].col(1).cwiseQuotient(season.profiles()[p].col(phase)) / total;
    }
    for (Index h = 0; h < sums.visits.size(); ++h) {
      if (sums.visits[h] == 0) continue;
      sums.counts.col(h) /= sums.visits[h];
      sums.expected.col(h) /= sums.visits[h];
    }
  }
  return truth;
}

AnyLaw law_of(double dispersion) {
  return dispersion == 0 ? AnyLaw() : AnyLaw(NegativeBinomial(Vector::Constant(1, dispersion)));
}

double run(Engine& engine, const Record& record) {
  double log_likelihood = 0;
  for (Index t = 0; t < record.size(); ++t) {
    log_likelihood += engine.step(record[t], 1.0 / static_cast<double>(t + 1)).log_predictive;
  }
  engine.finish();
  return log_likelihood;
}

void expect_close(const Matrix& found, const Matrix& truth, const std::string& what) {
  EXPECT_LT((found - truth).cwiseAbs().maxCoeff(), 1e-12 * (1 + truth.cwiseAbs().maxCoeff()))
      << what;
}

TEST(Season, ExactBatchEqualsTheSumOverPaths) {
  const Record record = short_record();
  for (const double dispersion : {0.0, kDispersion}) {
    const SeasonTruth truth = truth_of(record, two_periods(), dispersion);
    ExactBatch batch(prior_of_two().finite_chain(),
                     Emission(basis_of_three(), law_of(dispersion), two_periods()), record);
    EXPECT_NEAR(batch.log_likelihood(), truth.log_likelihood, 1e-12);
    const Statistics found = batch.statistics(true, 0);
    expect_close(found.s1, truth.s1, "s1");
    expect_close(found.s2, truth.s2, "s2");
    ASSERT_EQ(found.phases.size(), 2);
    for (std::size_t p = 0; p < 2; ++p) {
      expect_close(found.phases[p].visits, truth.phases[p].visits, "visits");
      expect_close(found.phases[p].counts, truth.phases[p].counts, "counts");
      expect_close(found.phases[p].expected, truth.phases[p].expected, "expected");
    }
  }
}

// The window takes in all at the end, and the beam keeps all states.
TEST(Season, OnlineEnginesEqualTheSumOverPaths) {
  const Record record = short_record();
  for (const double dispersion : {0.0, kDispersion}) {
    const SeasonTruth truth = truth_of(record, two_periods(), dispersion);
    const Emission emission(basis_of_three(), law_of(dispersion), two_periods());
    ExactEngineOptions exact_options;
    exact_options.window.lag = 1000;
    BeamEngineOptions beam_options;
    beam_options.window.lag = 1000;
    std::vector<std::unique_ptr<Engine>> engines;
    engines.push_back(std::make_unique<ExactEngine>(prior_of_two(), emission, exact_options));
    engines.push_back(std::make_unique<BeamEngine>(prior_of_two(), emission, beam_options));
    for (const auto& engine : engines) {
      EXPECT_NEAR(run(*engine, record), truth.log_likelihood, 1e-11);
      expect_close(engine->statistics().s1, truth.s1, "s1");
      expect_close(engine->statistics().s2, truth.s2, "s2");
      EXPECT_EQ(engine->position(), kLength + 1);
      for (std::size_t p = 0; p < 2; ++p) {
        // The ratio of the two is the same for one visit, whatever the clock.
        const PhaseSums& sums = engine->statistics().phases[p];
        for (Index h = 0; h < sums.visits.size(); ++h) {
          ASSERT_EQ(sums.visits[h], truth.phases[p].visits[h]);
          if (sums.visits[h] != 1) continue;
          expect_close(sums.counts.col(h), truth.phases[p].counts.col(h), "counts");
          expect_close(sums.expected.col(h), truth.phases[p].expected.col(h), "expected");
        }
      }
    }
  }
}

// The likelihood by particles is unbiased: its mean over 200 seeds lies within four standard errors
// of the truth, which it leaves once in 16,000 times.
TEST(Season, ParticlesAreUnbiased) {
  const Record record = short_record();
  const double truth = truth_of(record, two_periods(), kDispersion).log_likelihood;
  const Emission emission(basis_of_three(), law_of(kDispersion), two_periods());
  for (const bool guided : {false, true}) {
    Vector ratios(200);
    for (Index i = 0; i < ratios.size(); ++i) {
      ParticleEngineOptions options;
      options.filter.num_particles = 200;
      options.filter.guided = guided;
      options.filter.seed = static_cast<std::uint64_t>(i) + 1;
      ParticleEngine engine(prior_of_two(), emission, options, std::make_shared<ThreadPool>(1));
      ratios[i] = std::exp(run(engine, record) - truth);
    }
    const double error = std::sqrt((ratios.array() - ratios.mean()).square().mean() / 199);
    EXPECT_NEAR(ratios.mean(), 1, 4 * error) << (guided ? "guided" : "by the prior");
  }
}

// A season is nothing but another basis at each position: filters give the same bits.
TEST(Season, FastAndParticleFiltersSeeTheBasisOfThePosition) {
  const AnyPrior prior(GammaPrior(2, 1, 0.8));
  const Matrix basis = basis_of_three().leftCols(2);
  const Record record = short_record();
  FastEngine fast(prior, Emission(basis, {}, two_periods()), {});
  FastEngine by_hand(prior, Emission(basis), {});
  for (Index t = 0; t < record.size(); ++t) {
    Matrix now = basis;
    for (Index k = 0; k < 2; ++k) now.col(k) *= gain(two_periods(), k, t + 2);
    by_hand.set_basis(now);
    EXPECT_EQ(fast.step(record[t], 0.1).log_predictive, by_hand.step(record[t], 0.1).log_predictive)
        << t;
  }
}

TEST(Season, ForecastsKnowWhatIsToCome) {
  const Record record = short_record();
  ExactEngine engine(prior_of_two(), Emission(basis_of_three(), {}, two_periods()), {});
  run(engine, record);
  const Matrix means = forecast_means(engine, 100);
  // Before any observation the activations are those of the prior.
  const double on = (1 - 0.8) / (2 - 0.8 - 0.7);
  ExactEngine fresh(prior_of_two(), Emission(basis_of_three(), {}, two_periods()), {});
  const Matrix unseen = forecast_means(fresh, 5);
  for (Index h = 0; h < 5; ++h) {
    Vector expected = basis_of_three().col(2);
    for (Index k = 0; k < 2; ++k) {
      expected += on * gain(two_periods(), k, h + 1) * basis_of_three().col(k);
    }
    expect_close(unseen.col(h), expected, "forecast");
  }
  // After a hundred steps the observations are forgotten: .5^100 of them is left.
  Vector far = basis_of_three().col(2);
  for (Index k = 0; k < 2; ++k) {
    far += on * gain(two_periods(), k, kLength + 1 + 100) * basis_of_three().col(k);
  }
  expect_close(means.col(99), far, "forecast far ahead");
}

}  // namespace
}  // namespace headwater
