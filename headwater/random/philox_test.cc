#include "headwater/random.hpp"

#include <Random123/philox.h>
#include <gtest/gtest.h>

#undef philox4x32  // Random123's macro of the same name

namespace headwater {
namespace {

// The known answers published with Random123 [Salmon2011].
TEST(Philox, GivesTheKnownAnswers) {
  constexpr std::uint32_t kOnes = 0xffffffff;
  static_assert(philox4x32({0, 0, 0, 0}, {0, 0}) ==
                PhiloxCounter{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  static_assert(philox4x32({kOnes, kOnes, kOnes, kOnes}, {kOnes, kOnes}) ==
                PhiloxCounter{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  static_assert(
      philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}) ==
      PhiloxCounter{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

PhiloxCounter by_random123(const PhiloxCounter& counter, const PhiloxKey& key) {
  const r123::Philox4x32::ctr_type theirs = {{counter[0], counter[1], counter[2], counter[3]}};
  const r123::Philox4x32::key_type their_key = {{key[0], key[1]}};
  const auto words = r123::Philox4x32()(theirs, their_key);
  return {words[0], words[1], words[2], words[3]};
}

// Each output is the next counter and key, which gives a walk through arbitrary values.
TEST(Philox, EqualsRandom123) {
  PhiloxCounter counter = {1, 2, 3, 4};
  PhiloxKey key = {5, 6};
  for (int i = 0; i < 5000; ++i) {
    const PhiloxCounter answer = philox4x32(counter, key);
    ASSERT_EQ(answer, by_random123(counter, key)) << "step " << i;
    key = {answer[1] ^ key[0], answer[3] + key[1]};
    counter = answer;
  }
}

TEST(Philox, EqualsRandom123OnCountersWithASingleBit) {
  for (std::size_t bit = 0; bit < 192; ++bit) {
    PhiloxCounter counter{};
    PhiloxKey key{};
    (bit < 128 ? counter[bit / 32] : key[bit / 32 - 4]) = std::uint32_t{1} << bit % 32;
    EXPECT_EQ(philox4x32(counter, key), by_random123(counter, key)) << "bit " << bit;
  }
}

}  // namespace
}  // namespace headwater
