#include "headwater/learning/outlier_guard.hpp"

#include <gtest/gtest.h>

#include "headwater/emission/negative_binomial.hpp"

namespace headwater {
namespace {

Observation counts_of(double a, double b) { return Observation(std::vector<double>{a, b}); }

// Whether the guard keeps an observation out, as a fit asks it.
class Guarded {
 public:
  explicit Guarded(AnyLaw law) : emission_(Matrix{{5, 1}, {1, 5}}, std::move(law)) {}
  bool refuses(const Observation& y) {
    ++t_;
    return guard_.suspects(y) && guard_.refuses(y, emission_, Vector::Ones(2), t_);
  }

 private:
  Emission emission_;
  OutlierGuard guard_;
  std::int64_t t_ = 0;
};

TEST(OutlierGuard, KeepsOutOneGlitch) {
  Guarded guard((AnyLaw()));
  for (int t = 0; t < 20; ++t) EXPECT_FALSE(guard.refuses(counts_of(t, 7)));
  EXPECT_TRUE(guard.refuses(counts_of(4294967295.0, 3)));
  EXPECT_FALSE(guard.refuses(counts_of(19, 9)));
  EXPECT_TRUE(guard.refuses(counts_of(3, 1e9)));
}

// Nothing is known of a stream's usual counts in its first observation, nor of a channel's as long
// as it was silent.
TEST(OutlierGuard, LetsThroughTheFirstCounts) {
  Guarded guard((AnyLaw()));
  EXPECT_FALSE(guard.refuses(counts_of(0, 0)));
  EXPECT_FALSE(guard.refuses(counts_of(0, 1500)));
  EXPECT_FALSE(guard.refuses(counts_of(1800, 1500)));
  Guarded other((AnyLaw()));
  EXPECT_FALSE(other.refuses(counts_of(4000, 30)));
  EXPECT_FALSE(other.refuses(counts_of(5000, 40)));
}

TEST(OutlierGuard, KeepsOutAGlitchAmongTheFirstCounts) {
  Guarded first((AnyLaw()));
  EXPECT_TRUE(first.refuses(counts_of(1e9, 2)));
  EXPECT_FALSE(first.refuses(counts_of(3, 2)));
  EXPECT_TRUE(first.refuses(counts_of(1e9, 2)));
  Guarded silent((AnyLaw()));
  for (int t = 0; t < 20; ++t) EXPECT_FALSE(silent.refuses(counts_of(0, 7)));
  EXPECT_TRUE(silent.refuses(counts_of(1e9, 3)));
}

TEST(OutlierGuard, LetsThroughWhatTheLawAllows) {
  // Ten times the usual activations have a mean of 60: a count of 200 is beyond 10 times the counts
  // before and improbable under the Poisson law, but not under one of dispersion 3.
  Guarded poisson((AnyLaw()));
  Guarded dispersed(NegativeBinomial(Vector::Constant(2, 3.0)));
  for (int t = 0; t < 20; ++t) {
    poisson.refuses(counts_of(3, 7));
    dispersed.refuses(counts_of(3, 7));
  }
  EXPECT_TRUE(poisson.refuses(counts_of(200, 3)));
  EXPECT_FALSE(dispersed.refuses(counts_of(200, 3)));
  // Nine times the largest before is never asked about.
  EXPECT_FALSE(poisson.refuses(counts_of(90, 3)));
}

TEST(OutlierGuard, LetsThroughAChangeOfLevel) {
  Guarded guard((AnyLaw()));
  for (int t = 0; t < 20; ++t) guard.refuses(counts_of(3, 7));
  int refused = 0;
  for (int t = 0; t < 20; ++t) refused += guard.refuses(counts_of(5000, 7)) ? 1 : 0;
  EXPECT_EQ(refused, 4);
}

TEST(OutlierGuard, ARecordWithoutItsGiants) {
  Record record;
  for (int t = 0; t < 10; ++t) record.add(counts_of(t == 4 ? 1e9 : 5 + t, t == 7 ? 99 : 9));
  const Record kept = without_lone_giants(record);
  for (Index t = 0; t < 10; ++t) EXPECT_EQ(kept[t].any_seen(), t != 4) << t;
  // Two of them are a level, not a glitch.
  record.add(counts_of(9e8, 9));
  const Record both = without_lone_giants(record);
  for (Index t = 0; t < both.size(); ++t) EXPECT_TRUE(both[t].any_seen());
}

}  // namespace
}  // namespace headwater
