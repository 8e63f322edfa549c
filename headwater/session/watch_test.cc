#include "headwater/watch.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <vector>

#include "headwater/engines/exact_engine.hpp"
#include "headwater/error.hpp"
#include "headwater/models/basis_selection.hpp"
#include "headwater/random.hpp"
#include "headwater/reference/streams.hpp"
#include "headwater/session/joint_p.hpp"
#include "headwater/simulate.hpp"

namespace headwater {
namespace {

TEST(AlarmRate, IsReadAsItIsWritten) {
  const AlarmRate rate = AlarmRate::parse("1000:2.5");
  EXPECT_EQ(rate.rows, 1000);
  EXPECT_EQ(rate.alarms, 2.5);
  EXPECT_EQ(rate.text(), "1000:2.5");
  for (const char* wrong : {"", "1000", "1000:", ":1", "1:2", "1000:0", "-5:1", "1000:1x"}) {
    EXPECT_THROW(AlarmRate::parse(wrong), UsageError) << wrong;
  }
}

TEST(PValueRanks, BeginAsExpectedOfARightModel) {
  const PValueRanks ranks;
  for (const double p : {0.9, 0.5, 0.15}) EXPECT_NEAR(ranks.rank(p), p, 0.01);
  // Beyond a tenth, the tail that 20 excesses give: heavier than the exponential one.
  for (const double p : {0.05, 1e-2}) EXPECT_NEAR(ranks.rank(p) / p, 1, 0.3);
  EXPECT_LT(ranks.rank(1e-12), 1e-5);
}

// p-values of a model that is wrong: the square of uniform numbers. 2,000 of them say what the next
// are worth.
TEST(PValueRanks, LearnWhatPValuesAreWorth) {
  PValueRanks ranks;
  Generator generator = RandomStream(3).at(0, 0, Purpose::observation);
  for (int i = 0; i < 6000; ++i) ranks.add(std::pow(generator.uniform(), 2));
  for (const double p : {0.5, 0.1, 1e-2, 1e-3}) {
    EXPECT_NEAR(ranks.rank(p * p) / p, 1, 0.35) << p;  // 200 excesses, seven times their scale away
  }
}

// No p-value below .2 was seen. Nobody knows how much rarer smaller ones are: they are taken to be
// as rare as those of a right model.
TEST(PValueRanks, DoNotTakeATailForLighterThanThatOfARightModel) {
  PValueRanks ranks;
  Generator generator = RandomStream(4).at(0, 0, Purpose::observation);
  for (int i = 0; i < 2000; ++i) ranks.add(0.2 + 0.8 * generator.uniform());
  const double border = 0.28;  // a tenth is smaller
  for (const double p : {0.1, 1e-2, 1e-3}) EXPECT_NEAR(ranks.rank(p) / (0.1 * p / border), 1, 0.2);
}

constexpr std::array<double, 4> kEven = {0.25, 0.25, 0.25, 0.25};
constexpr std::array<double, 4> kOneOfHalf = {0.5, 1.0 / 6, 1.0 / 6, 1.0 / 6};

// 200,000 draws: a share of .001 has the standard error 7 %, and one of .01 has 2 %. The formula
// itself is within 5 % for shares up to .1, and within 15 % for larger ones. Three standard errors
// and 15 % are the bound.
TEST(JointP, IsNearlyUniformIfTheFourAre) {
  for (const auto& weights : {kEven, kOneOfHalf}) {
    Generator generator = RandomStream(5).at(0, 0, Purpose::observation);
    const std::vector<double> levels = {0.001, 0.01, 0.03, 0.1, 0.3, 0.6};
    std::vector<int> below(levels.size());
    constexpr int kDraws = 200000;
    for (int i = 0; i < kDraws; ++i) {
      std::array<double, 4> p{};
      for (double& one : p) one = generator.uniform();
      const double joint = joint_p(p, weights);
      for (std::size_t l = 0; l < levels.size(); ++l) below[l] += joint <= levels[l] ? 1 : 0;
    }
    for (std::size_t l = 0; l < levels.size(); ++l) {
      const double expected = kDraws * levels[l];
      EXPECT_NEAR(below[l] / expected, 1, 0.15 + 3 / std::sqrt(expected)) << levels[l];
    }
  }
}

TEST(JointP, CountsWhatIsSmallAloneAndMoreWhatIsSmallTogether) {
  const auto joint = [](double a, double b, double c, double d) {
    return joint_p({a, b, c, d}, kEven);
  };
  EXPECT_NEAR(joint(1e-10, 0.5, 0.5, 0.5) / 4e-10, 1, 1e-3);
  EXPECT_LT(joint(1e-3, 1e-3, 0.5, 0.5), joint(1e-3, 0.5, 0.5, 0.5) / 2);
  EXPECT_LT(joint(0.5, 0.5, 0.5, 1e-3), joint(0.01, 0.5, 0.5, 0.5));
  EXPECT_EQ(joint(1, 1, 1, 1), 1);
  EXPECT_GT(joint(0, 0, 0, 0), 0);
}

// Sum of the squared weights 1/3, over 1/4 and over 1/36.
TEST(JointP, HasWeights) {
  EXPECT_NEAR(joint_p({1e-10, 0.5, 0.5, 0.5}, kOneOfHalf) / (4e-10 / 3), 1, 1e-3);
  EXPECT_NEAR(joint_p({0.5, 1e-10, 0.5, 0.5}, kOneOfHalf) / 12e-10, 1, 1e-3);
  EXPECT_EQ(joint_p({1, 1, 1, 1}, kOneOfHalf), 1);
}

ExactEngine filter(const AnyPrior& prior, const Matrix& basis) {
  ExactEngineOptions options;
  options.smoother = ExactEngineOptions::Smoother::kNone;
  return {prior, basis, options};
}

// Where the model is right, alarms are as rare as asked: 30 expected in 3000, and more than 66 or
// fewer than 6 with probability 1e-7 each if they were independent; ranks make them so, nearly.
TEST(Watch, RaisesAsManyFalseAlarmsAsAsked) {
  const AnyPrior prior(BasisSelection(3, 0.9, 0.8));
  const Matrix basis = random_basis(6, 3, 4, 5);
  ExactEngine engine = filter(prior, basis);
  const Matrix record = reference::simulate_record(prior, basis, 3000, 11);
  Watch watch({100, 1});
  int alarms = 0;
  for (Index t = 0; t < record.cols(); ++t) {
    const Observation y(as_span(record.col(t)));
    engine.step(y, 0);
    alarms += watch(engine, y, t + 1).is_alarm;
  }
  EXPECT_GE(alarms, 6);
  EXPECT_LE(alarms, 66);
}

// Of a hundred rows, a few raise an alarm: other things are unusual in them, too.
TEST(Watch, ASilenceDoesNotRaiseAnAlarmInEachRow) {
  const AnyPrior prior(BasisSelection(3, 0.9, 0.8));
  const Matrix basis = random_basis(6, 3, 4, 5);
  ExactEngine engine = filter(prior, basis);
  Matrix record = reference::simulate_record(prior, basis, 1000, 11);
  record.row(4).tail(100).setZero();
  Watch watch({1000, 1});
  int alarms = 0;
  for (Index t = 0; t < record.cols(); ++t) {
    const Observation y(as_span(record.col(t)));
    engine.step(y, 0);
    const Alarm& alarm = watch(engine, y, t + 1);
    if (t < 900 || !alarm.is_alarm || alarm.channels[0].rows < 2) continue;
    ++alarms;
    EXPECT_EQ(alarm.channels[0].cell.channel, 4);
    EXPECT_EQ(alarm.channels[0].cell.seen, 0);
    EXPECT_GT(alarm.channels[0].cell.expected, 5);
    EXPECT_LT(alarm.p_channels, 1e-3);
  }
  EXPECT_GE(alarms, 1);
  EXPECT_LE(alarms, 5);
}

// A channel that has been silent so long before, many times, is no surprise when it is so again. In
// the other stream it has never been: there the same last rows are.
TEST(Watch, WeighsASilenceByWhatItsChannelHasShown) {
  const AnyPrior prior(BasisSelection(3, 0.9, 0.8));
  const Matrix basis = random_basis(6, 3, 4, 5);
  const auto p_at_end = [&](bool often) {
    ExactEngine engine = filter(prior, basis);
    Matrix record = reference::simulate_record(prior, basis, 1000, 11);
    for (Index t = often ? 40 : 960; t < 1000; ++t) {
      if (t % 80 >= 40 || t >= 960) record(4, t) = 0;
    }
    Watch watch;
    double p = 1;
    for (Index t = 0; t < record.cols(); ++t) {
      const Observation y(as_span(record.col(t)));
      engine.step(y, 0);
      p = watch(engine, y, t + 1).p_channels;
    }
    return p;
  };
  EXPECT_LT(p_at_end(false), 1e-3);
  EXPECT_GT(p_at_end(true), 20 * p_at_end(false));
}

}  // namespace
}  // namespace headwater
