#include <gtest/gtest.h>

#include <cmath>

#include "headwater/emission/negative_binomial.hpp"
#include "headwater/learning/batch_em.hpp"
#include "headwater/learning/period_search.hpp"
#include "headwater/learning/profile.hpp"
#include "headwater/learning/seasonal_start.hpp"
#include "headwater/models/basis_selection.hpp"
#include "headwater/random.hpp"
#include "headwater/reference/streams.hpp"
#include "headwater/simulate.hpp"

// Profiles of a season: estimates from sums, batch EM, starts, and the search for a period.

namespace headwater {
namespace {

Matrix waves(Index components, Index period) {
  Matrix profile(components, period);
  for (Index k = 0; k < components; ++k) {
    for (Index h = 0; h < period; ++h) {
      const double angle =
          2 * 3.14159265358979 *
          (static_cast<double>(h) / static_cast<double>(period) + static_cast<double>(k) / 3);
      profile(k, h) = 1 + 0.8 * std::sin(angle);
    }
  }
  return profile;
}

Record simulated(const Season& season, const AnyLaw& law, Index length, std::uint64_t seed,
                 const BasisSelection& prior = BasisSelection(3, 0.9, 0.7)) {
  Simulator simulator(AnyPrior(prior), Emission(random_basis(6, 3, 8, seed), law, season), seed);
  Record record;
  for (Index t = 0; t < length; ++t) {
    simulator.next();
    Observation y(simulator.observation());
    y.set_position(t);
    record.add(y);
  }
  return record;
}

TEST(Profile, RatesOfManyCountsStayAsTheyAre) {
  Vector counts(6);
  counts << 5e6, 1e6, 3e6, 8e6, 1e5, 2e6;
  const Vector expected = Vector::Constant(6, 1e6);
  const Vector rates = shrunk_rates(counts, expected);
  for (Index h = 0; h < 6; ++h) EXPECT_NEAR(rates[h], counts[h] / 1e6, 1e-3);
}

// Poisson noise alone: most of the distance to the common rate is taken back. Over all phases the
// squared error is less than a fifth of that of the raw rates, whose mean is 1 / 50 each.
TEST(Profile, NoiseIsDrawnToTheCommonRate) {
  const Index period = 96;
  const RandomStream random(4);
  double raw = 0;
  double shrunk = 0;
  for (std::uint32_t i = 0; i < 20; ++i) {
    Vector counts(period);
    Generator generator = random.at(i, 0, Purpose::observation);
    for (double& count : counts) count = poisson(generator, 50);
    const Vector expected = Vector::Constant(period, 50);
    raw += (counts.array() / 50 - 1).square().sum();
    shrunk += (shrunk_rates(counts, expected).array() - 1).square().sum();
  }
  EXPECT_LT(shrunk, raw / 5);
}

// A smooth season with few counts: closer to the truth than the raw rates.
TEST(Profile, NeighboursHelpEachOther) {
  const Index period = 48;
  const Matrix truth = waves(1, period);
  const RandomStream random(5);
  double raw = 0;
  double shrunk = 0;
  for (std::uint32_t i = 0; i < 20; ++i) {
    Vector counts(period);
    Generator generator = random.at(i, 0, Purpose::observation);
    for (Index h = 0; h < period; ++h) counts[h] = poisson(generator, 10 * truth(0, h));
    const Vector expected = Vector::Constant(period, 10);
    raw += (counts.transpose() / 10 - truth.row(0)).squaredNorm();
    shrunk += (shrunk_rates(counts, expected).transpose() - truth.row(0)).squaredNorm();
  }
  EXPECT_LT(shrunk, raw / 2);
}

TEST(Profile, APhaseThatWasNotSeenTakesItsNeighboursRate) {
  Vector counts(8);
  counts << 4e6, 4e6, 0, 4e6, 1e6, 1e6, 1e6, 1e6;
  Vector expected = Vector::Constant(8, 2e6);
  expected[2] = 0;
  const Vector rates = shrunk_rates(counts, expected);
  EXPECT_NEAR(rates[2], 2, 0.01);
  EXPECT_EQ(shrunk_rates(Vector::Zero(8), expected), Vector::Ones(8));
  EXPECT_EQ(shrunk_rates(counts, Vector::Zero(8)), Vector::Ones(8));
}

void expect_seasonal_never_falls(const std::vector<double>& log_likelihood) {
  for (std::size_t i = 1; i < log_likelihood.size(); ++i) {
    ASSERT_GE(log_likelihood[i], log_likelihood[i - 1] - 1e-10 * std::abs(log_likelihood[i - 1]))
        << "iteration " << i;
  }
}

BatchEmOptions plain_batch(std::int64_t iterations) {
  BatchEmOptions options;
  options.max_iterations = iterations;
  options.tolerance = 0;
  options.m_step.drop_weak_priors();
  return options;
}

TEST(SeasonalBatchEm, NeverFalls) {
  const Season truth({waves(3, 12), waves(3, 5)});
  for (const double dispersion : {0.0, 0.3}) {
    const AnyLaw law =
        dispersion == 0 ? AnyLaw() : AnyLaw(NegativeBinomial(Vector::Constant(1, dispersion)));
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      const Record record = simulated(truth, law, 300, seed);
      const Estimate start{reference::perturbed(random_basis(6, 3, 8, seed), 0.4, seed),
                           AnyPrior(BasisSelection(3, 0.8, 0.8)), law, Season::flat(3, {12, 5})};
      const BatchEmResult result = batch_em(record, start, plain_batch(60));
      expect_seasonal_never_falls(result.log_likelihood);
      EXPECT_GT(result.log_likelihood.back(), result.log_likelihood.front());
    }
  }
}

// Poisson counts under one component that is always on have a closed form: the M-step's profile is
// that of the phase means, and the basis that of the channel means, at once and exactly.
TEST(SeasonalBatchEm, OneComponentThatIsAlwaysOnHasPhaseMeans) {
  const Index period = 4;
  Matrix counts(2, 12);
  counts << 3, 0, 5, 1, 2, 1, 4, 2, 6, 1, 7, 0, 1, 4, 0, 2, 0, 3, 2, 2, 1, 1, 4, 5;
  const Record plain(counts);
  Record record;
  for (Index t = 0; t < 12; ++t) {
    Observation y = plain[t];
    y.set_position(t);
    record.add(y);
  }
  const Estimate start{Matrix::Constant(2, 1, 0.7),
                       AnyPrior(BasisSelection(1, 1e-12, 1 - 1e-12)),
                       {},
                       Season::flat(1, {period})};
  BatchEmOptions options = plain_batch(200);
  options.m_step.held_parameters = {"stay_off", "stay_on"};
  const BatchEmResult result = batch_em(record, start, options);
  expect_seasonal_never_falls(result.log_likelihood);
  const Vector channel_means = counts.rowwise().mean();
  for (Index h = 0; h < period; ++h) {
    double sum = 0;
    for (Index t = h; t < 12; t += period) sum += counts.col(t).sum() / 3;
    EXPECT_NEAR(result.estimate.season.profiles()[0](0, h), sum / channel_means.sum(), 1e-6);
  }
  for (Index m = 0; m < 2; ++m) EXPECT_NEAR(result.estimate.basis(m, 0), channel_means[m], 1e-6);
}

// The largest value of two profiles and a basis: entries of a profile are known to some 3 %.
TEST(SeasonalBatchEm, FindsTwoPeriodsAtOnce) {
  const Season truth({waves(3, 12), waves(3, 5)});
  const Record record = simulated(truth, {}, 6000, 2);
  const Estimate start = with_season({reference::perturbed(random_basis(6, 3, 8, 2), 0.2, 1),
                                      AnyPrior(BasisSelection(3, 0.8, 0.8))},
                                     channel_profiles(record, {12, 5}));
  const BatchEmResult result = batch_em(record, start, plain_batch(150));
  for (std::size_t p = 0; p < 2; ++p) {
    const Matrix difference = result.estimate.season.profiles()[p] - truth.profiles()[p];
    EXPECT_LT(difference.cwiseAbs().maxCoeff(), 0.15) << p;
  }
}

TEST(SeasonalStart, ChannelProfilesAreTakenOutAndSplitAgain) {
  const Season truth({waves(3, 12)});
  const Record record = simulated(truth, {}, 4000, 3);
  const std::vector<Matrix> profiles = channel_profiles(record, {12});
  const Matrix basis = random_basis(6, 3, 8, 3);
  Matrix expected = basis * truth.profiles()[0];  // all components are on for the same time
  for (Index m = 0; m < 6; ++m) expected.row(m) /= expected.row(m).mean();
  EXPECT_LT((profiles[0] - expected).cwiseAbs().maxCoeff(), 0.2);
  const Estimate found =
      with_season({basis, AnyPrior(BasisSelection(3, 0.9, 0.7))}, {expected}, Columns::kStay);
  EXPECT_EQ(found.basis, basis);
  Matrix fitted = basis * found.season.profiles()[0];
  for (Index m = 0; m < 6; ++m) fitted.row(m) /= fitted.row(m).mean();
  EXPECT_LT((fitted - expected).cwiseAbs().maxCoeff(), 0.02);
}

TEST(PeriodSearch, FindsThePeriodOrNone) {
  const auto found =
      find_periods(simulated(Season({waves(3, 24)}), {}, 1000, 1, BasisSelection(3, 0.2, 0.99)));
  ASSERT_EQ(found.size(), 1);
  EXPECT_EQ(found[0].period, 24);
  EXPECT_GT(found[0].gain, 5 * found[0].standard_error);
  // A gain of five standard errors of sixteen stretches has a chance of one in ten thousand for
  // each of some hundred candidates: of one in ten for all ten streams, if profiles of noise
  // predicted as well as none. They predict worse.
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    EXPECT_TRUE(find_periods(simulated({}, {}, 1000, seed)).empty()) << seed;
  }
}

}  // namespace
}  // namespace headwater
