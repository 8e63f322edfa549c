#include "headwater/emission/channel_gains.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "headwater/random.hpp"

namespace headwater {
namespace {

constexpr Index kPeriodHere = 4;
constexpr double kUnseenHere = std::numeric_limits<double>::quiet_NaN();

struct Row {
  Index phase;
  std::vector<double> counts;  // NaN: missing
  std::vector<double> exposures;
  Vector predicted;
  Vector filtered;
};

Observation observed(const Row& row, std::int64_t position) {
  Observation y(row.counts, row.exposures);
  y.set_position(position);
  return y;
}

// Rows of two channels with exposures, missing cells, and means that are not those of the counts.
std::vector<Row> random_rows(Index length, std::uint64_t seed) {
  const RandomStream random(seed);
  std::vector<Row> rows;
  for (Index t = 0; t < length; ++t) {
    Generator generator = random.at(static_cast<std::uint64_t>(t), 0, Purpose::observation);
    Row row{t % kPeriodHere, {}, {}, Vector(2), Vector(2)};
    for (Index m = 0; m < 2; ++m) {
      row.predicted[m] = 0.5 + 3 * generator.uniform();
      row.filtered[m] = 0.5 + 3 * generator.uniform();
      row.exposures.push_back(0.5 + generator.uniform());
      const bool is_missing = generator.uniform() < 0.1;
      row.counts.push_back(is_missing ? kUnseenHere : poisson(generator, 3));
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

// As the header defines it, from all rows before row `end`.
double plain_gain(const std::vector<Row>& rows, std::size_t end, Index m, Index phase,
                  double memory, double caution, double of_neighbours) {
  std::vector<double> counts(kPeriodHere, 0);
  std::vector<double> expected(kPeriodHere, 0);
  for (std::size_t t = 0; t < end; ++t) {
    if (std::isnan(rows[t].counts[m])) continue;
    double visits_since = 0;
    for (std::size_t s = t + 1; s < end; ++s) {
      if (rows[s].phase == rows[t].phase && !std::isnan(rows[s].counts[m])) visits_since += 1;
    }
    const double weight = std::pow(memory, visits_since);
    counts[rows[t].phase] += weight * rows[t].counts[m];
    expected[rows[t].phase] += weight * rows[t].exposures[m] * rows[t].filtered[m];
  }
  double all_counts = kPeriodHere * caution;
  double all_expected = all_counts;
  for (Index h = 0; h < kPeriodHere; ++h) {
    all_counts += counts[h];
    all_expected += expected[h];
  }
  double seen = 0;
  double foreseen = 0;
  for (const Index away : {-1, 0, 1}) {
    const double weight = away == 0 ? 1 : of_neighbours;
    seen += weight * counts[(phase + away + kPeriodHere) % kPeriodHere];
    foreseen += weight * expected[(phase + away + kPeriodHere) % kPeriodHere];
  }
  return (caution + seen) / (caution + foreseen) / (all_counts / all_expected);
}

double log_negative_binomial(double y, double mean, double phi) {
  if (phi == 0) return y * std::log(mean) - mean - std::lgamma(y + 1);
  const double size = 1 / phi;
  return std::lgamma(y + size) - std::lgamma(size) - std::lgamma(y + 1) +
         y * std::log(mean / (mean + size)) - size * std::log1p(phi * mean);
}

struct Way {
  double memory;
  double caution;
  double of_neighbours;
};

std::vector<Way> ways() {
  std::vector<Way> all;
  for (const double memory : PhaseGains::kMemories) {
    for (const double of_neighbours : {0.0, 0.5}) {
      for (const double caution : PhaseGains::kCautions) {
        all.push_back({memory, caution, of_neighbours});
      }
    }
  }
  return all;
}

// Gains by each way, their weights by Bayes's rule with the prior that channels share, and the
// mean.
TEST(PhaseGains, AreAsDefined) {
  const std::vector<Way> all = ways();
  ASSERT_EQ(std::ssize(all) + 1, PhaseGains::kWays);
  for (const Vector& dispersions : {Vector(), Vector{{0.4}}, Vector{{0.0, 1.5}}}) {
    const std::vector<Row> rows = random_rows(30, 3);
    PhaseGains gains(2, kPeriodHere);
    Matrix likelihoods = Matrix::Ones(2, PhaseGains::kWays);
    Matrix weights = Matrix::Constant(2, PhaseGains::kWays, 1.0 / PhaseGains::kWays);
    for (std::size_t t = 0; t < rows.size(); ++t) {
      const Row& row = rows[t];
      for (Index m = 0; m < 2; ++m) {
        const double mean = row.exposures[m] * row.predicted[m];
        const double phi =
            dispersions.size() == 0 ? 0 : dispersions[std::min(m, dispersions.size() - 1)];
        double mean_gain = weights(m, 0);
        for (Index i = 1; i < PhaseGains::kWays; ++i) {
          const Way& way = all[i - 1];
          const double gain =
              plain_gain(rows, t, m, row.phase, way.memory, way.caution, way.of_neighbours);
          EXPECT_NEAR(gains.gain_by(i, m, row.phase), gain, 1e-12 * gain);
          mean_gain += weights(m, i) * gain;
          if (std::isnan(row.counts[m])) continue;
          likelihoods(m, i) *= std::exp(log_negative_binomial(row.counts[m], gain * mean, phi) -
                                        log_negative_binomial(row.counts[m], mean, phi));
        }
        EXPECT_NEAR(gains.gain(m, row.phase), mean_gain, 1e-9 * mean_gain);
      }
      const Vector prior = (weights.colwise().sum().array() + 1.0 / PhaseGains::kWays) / 3;
      for (Index m = 0; m < 2; ++m) {
        weights.row(m) = likelihoods.row(m).cwiseProduct(prior.transpose());
        weights.row(m) /= weights.row(m).sum();
      }
      gains.learn(observed(row, static_cast<std::int64_t>(t)), row.predicted, row.filtered,
                  dispersions);
      for (Index i = 0; i < PhaseGains::kWays; ++i) {
        EXPECT_NEAR(gains.weight(1, i), weights(1, i), 1e-9);
      }
    }
  }
}

// Counts of mean 2 times the truth's gain at each phase.
PhaseGains learned(const Matrix& truth, Index length, std::uint64_t seed,
                   const Matrix& truth_later = Matrix()) {
  PhaseGains gains(truth.rows(), truth.cols());
  const Vector means = Vector::Constant(truth.rows(), 2);
  const RandomStream random(seed);
  std::vector<double> counts(static_cast<std::size_t>(truth.rows()));
  for (Index t = 0; t < length; ++t) {
    const Matrix& now = truth_later.size() > 0 && 2 * t >= length ? truth_later : truth;
    Generator generator = random.at(static_cast<std::uint64_t>(t), 0, Purpose::observation);
    for (Index m = 0; m < truth.rows(); ++m) {
      counts[static_cast<std::size_t>(m)] = poisson(generator, 2 * now(m, t % truth.cols()));
    }
    Observation y(counts);
    y.set_position(t);
    gains.learn(y, means, means, Vector());
  }
  return gains;
}

// By Ville's inequality with probability 1 - 1e-6 at least, for each of the ten streams.
TEST(PhaseGains, AreExactlyOneWithoutASeasonOfTheChannels) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    EXPECT_FALSE(learned(Matrix::Ones(5, 6), 600, seed).are_used()) << seed;
  }
}

Matrix timetables() {
  Matrix truth(3, 6);
  truth << 2, 0.5, 0.5, 2, 0.5, 0.5, 0.2, 1.8, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1;
  return truth;
}

// After n visits, a phase of mean 2 c has the standard error sqrt(c / (2 n)); the mean over the
// channel's phases, which gains are relative to, adds less than half of that. Of the 18 gains none
// is off by 5.8 standard errors with probability 1 - 18 x 6.6e-9. Ways that forget, or look at
// neighbours, keep next to no weight; a hundredth is left for caution.
TEST(PhaseGains, FindTheTimetables) {
  const Matrix truth = timetables();
  const Index visits = 1000;
  const PhaseGains gains = learned(truth, 6 * visits, 7);
  ASSERT_TRUE(gains.are_used());
  for (Index m = 0; m < 3; ++m) {
    for (Index h = 0; h < 6; ++h) {
      const double error = std::sqrt(truth(m, h) / (2 * visits));
      EXPECT_NEAR(gains.gain(m, h), truth(m, h), 5.8 * error + 0.01);
    }
  }
}

// Half-way the first channel's hours move. The way that forgets has the last 1 / .07 visits, and is
// the one that predicts the channel.
TEST(PhaseGains, ForgetATimetableThatHasChanged) {
  const Matrix before = timetables();
  Matrix after = before;
  after.row(0) << 0.5, 2, 0.5, 0.5, 2, 0.5;
  const PhaseGains gains = learned(before, 6 * 1000, 8, after);
  ASSERT_TRUE(gains.are_used());
  for (Index h = 0; h < 6; ++h) {
    // The visits of a discounted mean are worth (2 - .07) / .07 of equal weight.
    const double error = std::sqrt(after(0, h) / (2 * 27));
    EXPECT_NEAR(gains.gain(0, h), after(0, h), 5.8 * error);
  }
}

// Two periods: what one of them explains is left to it.
TEST(ChannelGains, PeriodsMultiply) {
  Matrix two(2, 2);
  two << 1.6, 0.4, 0.7, 1.3;
  Matrix three(2, 3);
  three << 0.3, 1.2, 1.5, 1, 1, 1;
  ChannelGains gains(2, {2, 3});
  const Vector means = Vector::Constant(2, 3);
  const RandomStream random(9);
  for (Index t = 0; t < 6000; ++t) {
    Generator generator = random.at(static_cast<std::uint64_t>(t), 0, Purpose::observation);
    Observation y(std::vector<double>{poisson(generator, 3 * two(0, t % 2) * three(0, t % 3)),
                                      poisson(generator, 3 * two(1, t % 2) * three(1, t % 3))});
    y.set_position(t);
    gains.learn(y, means, means, Vector());
  }
  Vector now;
  // The smallest product of gains is seen 1000 times with the mean 3 x .12: standard error .011.
  for (Index t = 0; t < 6; ++t) {
    ASSERT_TRUE(gains.write(t, 2, now));
    for (Index m = 0; m < 2; ++m) {
      const double truth = two(m, t % 2) * three(m, t % 3);
      EXPECT_NEAR(now[m], truth, 0.1 * truth + 0.05);
    }
  }
  ASSERT_EQ(gains.tables().size(), 2U);
  EXPECT_EQ(gains.tables()[1].cols(), 3);
}

TEST(ChannelGains, AreTheSameAfterTheyWereSaved) {
  const std::vector<Row> rows = random_rows(300, 5);
  ChannelGains whole(2, {kPeriodHere, 3});
  ChannelGains resumed(2, {kPeriodHere, 3});
  for (std::size_t t = 0; t < rows.size(); ++t) {
    const Observation y = observed(rows[t], static_cast<std::int64_t>(t));
    whole.learn(y, rows[t].predicted, rows[t].filtered, Vector());
    if (t < 150) continue;
    if (t == 150) {
      StateArchive saved;
      whole.exchange(saved);
      StateArchive read(saved.bytes());
      resumed.exchange(read);
      read.expect_end();
      continue;
    }
    resumed.learn(y, rows[t].predicted, rows[t].filtered, Vector());
  }
  StateArchive one;
  StateArchive other;
  whole.exchange(one);
  resumed.exchange(other);
  EXPECT_EQ(one.bytes(), other.bytes());
}

TEST(ChannelGains, WithoutRoomThereAreNone) {
  EXPECT_TRUE(ChannelGains::are_affordable(1000, {24, 168}));
  EXPECT_FALSE(ChannelGains::are_affordable(1000000, {24}));
}

}  // namespace
}  // namespace headwater
