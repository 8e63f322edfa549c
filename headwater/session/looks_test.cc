#include <gtest/gtest.h>

#include "headwater/models/log_gaussian.hpp"
#include "headwater/reference/streams.hpp"
#include "headwater/session/checkpoint.hpp"
#include "headwater/session/contender.hpp"

namespace headwater {
namespace {

constexpr Index kStart = 1000;
constexpr Index kLook = 2 * kStart;
constexpr Index kEnd = 2300;

Config looking_config() {
  Config config;
  config.num_components = 2;
  config.prior.name = "log-gaussian";
  config.counts.law = "poisson";
  config.start_on = kStart;
  config.engine.num_particles = 50;
  return config;
}

const Matrix& looked_at_counts() {
  static const Matrix basis = (Matrix(5, 2) << 40, 10, 30, 20, 10, 50, 20, 40, 25, 25).finished();
  static const Matrix counts =
      reference::simulate_record(AnyPrior(LogGaussian(2, 0.9, 0.3)), basis, kEnd, 6);
  return counts;
}

void feed_rows(Restarts& restarts, Index first, Index last) {
  std::vector<double> counts(5);
  for (Index t = first; t < last; ++t) {
    for (Index m = 0; m < 5; ++m) counts[static_cast<std::size_t>(m)] = looked_at_counts()(m, t);
    restarts.update(Observation(counts));
  }
}

TEST(Looks, AreDueEachTimeThatTheObservationsHaveDoubled) {
  std::vector<std::int64_t> due;
  for (std::int64_t n = 1; n <= 5000; ++n) {
    if (is_look_due(n, 300)) due.push_back(n);
  }
  EXPECT_EQ(due, (std::vector<std::int64_t>{600, 1200, 2400, 4800}));
  EXPECT_FALSE(is_look_due(0, 0));
  EXPECT_FALSE(is_look_due(1, 0));
}

// Before the start; with rows kept; at the look; while the fit as it was runs beside the new one.
TEST(Looks, AFitThatWasPutAwayEndsInTheSameBits) {
  Restarts whole(looking_config(), 1);
  feed_rows(whole, 0, kEnd);
  whole.finish();
  const std::string expected = put_away(whole);
  for (const Index cut : {kStart - 10, kStart + 100, kLook, kLook + 20}) {
    Restarts first(looking_config(), 1);
    feed_rows(first, 0, cut);
    const Checkpoint checkpoint{fit_options(first), {}, {}, put_away(first)};
    Restarts second(looking_config(), 1);
    take_up(checkpoint, "test", second);
    feed_rows(second, cut, kEnd);
    second.finish();
    EXPECT_TRUE(put_away(second) == expected) << "cut at " << cut;
  }
}

// What a stop in the middle of a look leaves, and where it goes on from.
std::string put_away_before_the_look() {
  std::string state;
  Restarts restarts(looking_config(), 1);
  restarts.session(0).on_start([&] {
    if (restarts.session(0).observations() == kLook) state = put_away(restarts);
  });
  feed_rows(restarts, 0, kLook);
  return state;
}

TEST(Looks, AFitThatWasPutAwayInTheMiddleOfALookEndsInTheSameBits) {
  const std::string state = put_away_before_the_look();
  ASSERT_FALSE(state.empty());
  for (const Index end : {kLook, kEnd}) {
    Restarts whole(looking_config(), 1);
    feed_rows(whole, 0, end);
    whole.finish();
    Restarts resumed(looking_config(), 1);
    take_up({fit_options(resumed), {}, {}, state}, "test", resumed);
    feed_rows(resumed, kLook, end);
    resumed.finish();
    EXPECT_TRUE(put_away(resumed) == put_away(whole)) << "up to " << end;
  }
}

// A look that was interrupted is taken before the next observation is counted. Nobody is told of
// it: a state that was put away then would lack that observation, which was given already.
TEST(Looks, ThatWereInterruptedAreTakenWithoutAWord) {
  Restarts resumed(looking_config(), 1);
  take_up({fit_options(resumed), {}, {}, put_away_before_the_look()}, "test", resumed);
  int told = 0;
  resumed.session(0).on_start([&] { ++told; });
  feed_rows(resumed, kLook, kLook + 1);
  EXPECT_EQ(told, 0);
}

std::size_t size_of_state(const Config& config, Index rows) {
  Restarts restarts(config, 1);
  feed_rows(restarts, 0, rows);
  return put_away(restarts).size();
}

// A fit that takes looks keeps all rows, five counts of eight bytes at least, and has a second fit
// beside it after a look. With a burn-in that was asked for there is none of this.
TEST(Looks, AreTakenUnlessABurnInWasAskedFor) {
  Config without = looking_config();
  without.burn_in = 100;
  constexpr Index kRow = 5 * 8;
  for (const Index rows : {kLook - 1, kLook + 1}) {
    EXPECT_GT(size_of_state(looking_config(), rows), size_of_state(without, rows) + rows * kRow);
  }
}

}  // namespace
}  // namespace headwater
