#include "headwater/random.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include "headwater/reference/statistical_tests.hpp"

namespace headwater {
namespace {

// The probability that an assertion about a sample fails by chance, over random seeds.
constexpr double kStreamAlarmRate = 1e-6;

constexpr std::uint32_t kLastWord = std::numeric_limits<std::uint32_t>::max();

TEST(ToUnit, NeverReachesTheEnds) {
  EXPECT_EQ(to_unit(0), 0x1p-53);
  EXPECT_EQ(to_unit(0xfff), 0x1p-53);
  EXPECT_EQ(to_unit(std::numeric_limits<std::uint64_t>::max()), 1 - 0x1p-53);
  EXPECT_GT(to_unit(0), 0);
  EXPECT_LT(to_unit(std::numeric_limits<std::uint64_t>::max()), 1);
}

TEST(ToUnit, IsSymmetricAboutOneHalf) {
  for (std::uint64_t bits = 1; bits != 0; bits <<= 1) {
    EXPECT_EQ(to_unit(bits) + to_unit(~bits), 1) << "bits " << bits;
  }
}

TEST(RandomStream, LaysTheAddressOutInTheCounter) {
  Generator generator = RandomStream(0x0123456789abcdef).at(0x9abc'1234'5678, 7, Purpose::backward);
  const PhiloxKey key = {0x89abcdef, 0x01234567};
  for (std::uint32_t block = 0; block < 3; ++block) {
    for (const std::uint32_t word : philox4x32({block, 7, 0x12345678, 0x9abc0005}, key)) {
      EXPECT_EQ(generator.word(), word);
    }
  }
}

TEST(RandomStream, SkipsBlocks) {
  for (const int words : {0, 1, 4, 5}) {  // words read before
    Generator all = RandomStream(3).at(1, 2, Purpose::backward);
    for (int i = 0; i < words; ++i) all.word();
    Generator skips = all;
    for (int i = (words + 3) / 4 * 4; i > words; --i) all.word();
    for (int i = 0; i < 4 * 3; ++i) all.word();
    skips.skip_blocks(3);
    EXPECT_EQ(skips.bits(), all.bits()) << words;
  }
}

TEST(RandomStream, ReachesTheLastAddress) {
  Generator generator =
      RandomStream(~std::uint64_t{0}).at((std::uint64_t{1} << 48) - 1, kLastWord, Purpose::restart);
  const auto block = philox4x32({0, kLastWord, kLastWord, 0xffff0006}, {kLastWord, kLastWord});
  EXPECT_EQ(generator.word(), block[0]);
}

TEST(RandomStream, GivesTheSameNumbersInAnyOrder) {
  const RandomStream stream(5);
  Generator first = stream.at(1, 2, Purpose::transition);
  const std::uint64_t bits = first.bits();
  Generator other = stream.at(9, 2, Purpose::transition);
  other.bits();
  Generator again = RandomStream(5).at(1, 2, Purpose::transition);
  EXPECT_EQ(again.bits(), bits);
}

TEST(Generator, MakesBitsOfTwoWordsAndUniformsOfBits) {
  const RandomStream stream(5);
  Generator words = stream.at(1, 2, Purpose::basis);
  Generator bits = words;
  Generator uniforms = words;
  for (int i = 0; i < 9; ++i) {
    const std::uint64_t low = words.word();
    const std::uint64_t high = words.word();
    EXPECT_EQ(bits.bits(), high << 32 | low);
    EXPECT_EQ(uniforms.uniform(), to_unit(high << 32 | low));
  }
}

TEST(Generator, CopiesGoOnFromTheSamePlace) {
  Generator original = RandomStream(5).at(1, 2, Purpose::basis);
  for (int i = 0; i < 6; ++i) original.word();
  Generator copy = original;
  for (int i = 0; i < 9; ++i) EXPECT_EQ(copy.word(), original.word());
}

// Pairs that should be independent, as a function of their index.
using Pair = std::pair<double, double>;
using PairAt = std::function<Pair(std::uint32_t)>;
constexpr std::uint32_t kPairs = 100'000;

// Independent uniform pairs are uniform over the cells of a square grid: a chi-square test with one
// degree of freedom less than there are cells, because nothing is fitted.
void expect_even_on_a_grid(const PairAt& pair_at) {
  constexpr std::size_t kSide = 16;
  std::vector<double> observed(kSide * kSide);
  const std::vector<double> expected(kSide * kSide, double{kPairs} / (kSide * kSide));
  for (std::uint32_t i = 0; i < kPairs; ++i) {
    const auto [x, y] = pair_at(i);
    ++observed[static_cast<std::size_t>(x * kSide) * kSide + static_cast<std::size_t>(y * kSide)];
  }
  EXPECT_LT(reference::chi_square_statistic(observed, expected),
            reference::chi_square_critical(kSide * kSide - 1, kStreamAlarmRate));
}

// A uniform number minus 1/2 has variance 1/12, so the product of two independent ones has standard
// deviation 1/12. The mean of n products is normal, with standard deviation 1 / (12 sqrt(n)).
void expect_uncorrelated(const PairAt& pair_at) {
  double sum = 0;
  for (std::uint32_t i = 0; i < kPairs; ++i) {
    const auto [x, y] = pair_at(i);
    sum += (x - 0.5) * (y - 0.5);
  }
  EXPECT_LT(std::abs(sum / kPairs),
            reference::normal_critical(kStreamAlarmRate) / 12 / std::sqrt(kPairs));
}

void expect_independent(const PairAt& pair_at) {
  expect_even_on_a_grid(pair_at);
  expect_uncorrelated(pair_at);
}

TEST(RandomStream, HasIndependentNeighboursInParticle) {
  const RandomStream stream(11);
  expect_independent([&](std::uint32_t i) {
    Generator one = stream.at(3, 2 * i, Purpose::transition);
    Generator other = stream.at(3, 2 * i + 1, Purpose::transition);
    return Pair(one.uniform(), other.uniform());
  });
}

TEST(RandomStream, HasIndependentNeighboursInTime) {
  const RandomStream stream(12);
  expect_independent([&](std::uint32_t i) {
    Generator one = stream.at(2 * i, 3, Purpose::transition);
    Generator other = stream.at(2 * i + 1, 3, Purpose::transition);
    return Pair(one.uniform(), other.uniform());
  });
}

TEST(RandomStream, HasIndependentPurposes) {
  const RandomStream stream(13);
  expect_independent([&](std::uint32_t i) {
    Generator one = stream.at(i, 3, Purpose::transition);
    Generator other = stream.at(i, 3, Purpose::observation);
    return Pair(one.uniform(), other.uniform());
  });
}

TEST(RandomStream, HasIndependentSeeds) {
  expect_independent([](std::uint32_t i) {
    Generator one = RandomStream(2 * i).at(3, 4, Purpose::basis);
    Generator other = RandomStream(2 * i + 1).at(3, 4, Purpose::basis);
    return Pair(one.uniform(), other.uniform());
  });
}

TEST(Generator, HasIndependentNeighboursWithinABlock) {
  Generator generator = RandomStream(14).at(3, 4, Purpose::basis);
  expect_independent([generator](std::uint32_t) mutable {
    const double one = generator.uniform();
    const double other = generator.uniform();
    return Pair(one, other);
  });
}

TEST(Generator, HasIndependentNeighboursAcrossBlocks) {
  Generator generator = RandomStream(15).at(3, 4, Purpose::basis);
  expect_independent([generator](std::uint32_t) mutable {
    generator.uniform();
    const double one = generator.uniform();
    const double other = generator.uniform();
    generator.uniform();
    return Pair(one, other);
  });
}

// The low bits of the words too: each of the 32 bits is set in half of the words. The number of
// times is binomial, with standard deviation sqrt(n) / 2.
TEST(Generator, SetsEachBitHalfTheTime) {
  constexpr int kWords = 100'000;
  Generator generator = RandomStream(16).at(3, 4, Purpose::basis);
  std::vector<double> times(32);
  for (int i = 0; i < kWords; ++i) {
    const std::uint32_t word = generator.word();
    for (std::size_t bit = 0; bit < 32; ++bit) times[bit] += word >> bit & 1;
  }
  const double critical = reference::normal_critical(kStreamAlarmRate) * std::sqrt(kWords) / 2;
  for (const double count : times) EXPECT_LT(std::abs(count - kWords / 2), critical);
}

}  // namespace
}  // namespace headwater
