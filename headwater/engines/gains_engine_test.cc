#include "headwater/engines/gains_engine.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "headwater/emission/negative_binomial.hpp"
#include "headwater/engines/drifting_engine.hpp"
#include "headwater/engines/exact_engine.hpp"
#include "headwater/engines/fast_engine.hpp"
#include "headwater/engines/forecast.hpp"
#include "headwater/engines/particle_engine.hpp"
#include "headwater/models/basis_selection.hpp"
#include "headwater/models/gamma_prior.hpp"
#include "headwater/simulate.hpp"

namespace headwater {
namespace {

const Matrix kPlainBasis = (Matrix(3, 2) << 4, 0.5, 1, 5, 3, 2).finished();
const Matrix kHeldGains = (Matrix(3, 2) << 0.5, 1.5, 1, 1, 3, 0.2).finished();

std::vector<std::vector<double>> rows_with_gaps() {
  const double missing = std::nan("");
  return {{5, 4, 0}, {0, 6, missing}, {0, 0, 0}, {3, missing, 11}, {6, 0, 37}, {1, 3, 2}};
}

// Engines of every kind, with the same seeds each time.
std::vector<std::unique_ptr<Engine>> all_kinds(const Emission& emission) {
  const AnyPrior finite(BasisSelection(2, 0.8, 0.7));
  const AnyPrior gamma(GammaPrior(2, 1, 0.8));
  std::vector<std::unique_ptr<Engine>> engines;
  engines.push_back(std::make_unique<ExactEngine>(finite, emission, ExactEngineOptions()));
  engines.push_back(std::make_unique<FastEngine>(gamma, emission, FastEngineOptions()));
  ParticleEngineOptions options;
  options.filter.num_particles = 50;
  engines.push_back(
      std::make_unique<ParticleEngine>(gamma, emission, options, std::make_shared<ThreadPool>(1)));
  return engines;
}

// With gains that are held, predictions are those of an engine whose basis is multiplied by hand
// before each step.
TEST(GainsEngine, IsAsIfTheBasisWereMultiplied) {
  const Season season = Season::flat(2, {2});
  for (const AnyLaw& law : {AnyLaw(), AnyLaw(NegativeBinomial(Vector{{0.3, 0.0, 1.2}}))}) {
    const Emission emission(kPlainBasis, law, season);
    const auto plain = all_kinds(emission);
    auto inside = all_kinds(emission);
    for (std::size_t i = 0; i < plain.size(); ++i) {
      GainsEngine with(std::move(inside[i]), ChannelGains({kHeldGains}), GainsEngine::Gains::kHeld);
      std::int64_t position = 1;
      for (const std::vector<double>& counts : rows_with_gaps()) {
        Observation y(counts);
        y.set_position(position);
        plain[i]->set_basis(kHeldGains.col(position % 2).asDiagonal() * kPlainBasis);
        const FilterStep by_hand = plain[i]->step(y, 0);
        const FilterStep step = with.step(y, 0);
        EXPECT_NEAR(step.log_predictive, by_hand.log_predictive, 1e-9) << i;
        const Vector means = predicted_observation(*plain[i]);
        EXPECT_TRUE(predicted_observation(with).isApprox(means, 1e-9)) << i;
        EXPECT_TRUE(with.emission_now().basis().isApprox(plain[i]->basis(), 1e-12)) << i;
        ++position;
      }
      EXPECT_EQ(with.channel_profiles().front(), kHeldGains);
    }
  }
}

TEST(GainsEngine, ForecastsKnowTheGains) {
  const Emission emission(kPlainBasis, AnyLaw(), Season::flat(2, {2}));
  const AnyPrior prior(BasisSelection(2, 0.8, 0.7));
  GainsEngine with(std::make_unique<ExactEngine>(prior, emission, ExactEngineOptions()),
                   ChannelGains({kHeldGains}), GainsEngine::Gains::kHeld);
  const ExactEngine plain(prior, emission, ExactEngineOptions());
  const Matrix ahead = forecast_means(with, 4);
  const Matrix without = forecast_means(plain, 4);
  // Nothing is seen yet: the first step ahead is at position 1.
  for (Index h = 0; h < 4; ++h) {
    const Vector expected = without.col(h).cwiseProduct(kHeldGains.col((h + 1) % 2));
    EXPECT_TRUE(ahead.col(h).isApprox(expected, 1e-12)) << h;
  }
}

// A stream whose channels have timetables of their own.
Record with_timetables(Index length, std::uint64_t seed) {
  Simulator simulator(AnyPrior(BasisSelection(2, 0.8, 0.7)), Emission(kPlainBasis), seed);
  Record record;
  const RandomStream random(seed);
  for (Index t = 0; t < length; ++t) {
    simulator.next();
    Generator generator = random.at(static_cast<std::uint64_t>(t), 7, Purpose::observation);
    std::vector<double> counts(3);
    const Vector x = Eigen::Map<const Vector>(simulator.activation().data(), 2);
    for (Index m = 0; m < 3; ++m) {
      const double mean = kPlainBasis.row(m).dot(x);
      counts[static_cast<std::size_t>(m)] = poisson(generator, kHeldGains(m, t % 2) * mean);
    }
    Observation y(counts);
    y.set_position(t);
    record.add(y);
  }
  return record;
}

TEST(GainsEngine, LearnsTimetablesAndIsTheSameAfterItWasSaved) {
  const Emission emission(kPlainBasis, AnyLaw(), Season::flat(2, {2}));
  const AnyPrior prior(BasisSelection(2, 0.8, 0.7));
  const Record record = with_timetables(3000, 4);
  const auto made = [&] {
    return with_channel_gains(
        with_levels(std::make_unique<ExactEngine>(prior, emission, ExactEngineOptions()), AnyLaw()),
        emission.season(), true);
  };
  const auto whole = made();
  const auto resumed = made();
  for (Index t = 0; t < record.size(); ++t) {
    const double log_predictive = whole->step(record[t], 0.01).log_predictive;
    if (t == 1500) {
      StateArchive saved;
      whole->exchange(saved);
      StateArchive read(saved.bytes());
      resumed->exchange(read);
    }
    if (t <= 1500) continue;
    EXPECT_EQ(resumed->step(record[t], 0.01).log_predictive, log_predictive);
  }
  const std::vector<Matrix> found = whole->channel_profiles();
  ASSERT_EQ(found.size(), 1U);
  // The weighted mean of the two gains of a channel is 1, so gains are known up to a factor.
  for (Index m = 0; m < 3; ++m) {
    const double ratio = found[0](m, 0) / found[0](m, 1);
    const double truth = kHeldGains(m, 0) / kHeldGains(m, 1);
    // Some 1,500 visits of 2 counts or more each: standard errors of 4 % at most. Filtered
    // activations follow the counts of three channels, and draw the gains towards 1.
    EXPECT_NEAR(std::log(ratio), std::log(truth), 0.1 + 0.25 * std::abs(std::log(truth))) << m;
  }
}

TEST(GainsEngine, OnlyFiltersWhereNothingIsLearned) {
  const Emission emission(kPlainBasis, AnyLaw(), Season::flat(2, {2}));
  const AnyPrior prior(BasisSelection(2, 0.8, 0.7));
  const auto engine =
      with_channel_gains(std::make_unique<ExactEngine>(prior, emission, ExactEngineOptions()),
                         emission.season(), true);
  const Record record = with_timetables(1000, 4);
  for (Index t = 0; t < record.size(); ++t) engine->step(record[t], 0);
  EXPECT_TRUE(engine->channel_profiles().empty());
}

}  // namespace
}  // namespace headwater
