#pragma once

#include <array>
#include <cstdint>

namespace headwater {

using PhiloxCounter = std::array<std::uint32_t, 4>;
using PhiloxKey = std::array<std::uint32_t, 2>;

// Philox4x32-10 [Salmon2011]: a keyed bijection of 128-bit counters whose outputs are statistically
// indistinguishable from independent random words. It has no state, so any thread can compute any
// number at any time from its address alone.
constexpr std::array<std::uint32_t, 4> philox4x32(PhiloxCounter counter, PhiloxKey key) {
  constexpr std::uint64_t kMultiplier0 = 0xD2511F53;
  constexpr std::uint64_t kMultiplier1 = 0xCD9E8D57;
  constexpr std::uint32_t kGoldenRatio = 0x9E3779B9;
  constexpr std::uint32_t kSqrtThreeMinusOne = 0xBB67AE85;
  constexpr int kRounds = 10;
  for (int round = 0; round < kRounds; ++round) {
    const std::uint64_t product0 = kMultiplier0 * counter[0];
    const std::uint64_t product1 = kMultiplier1 * counter[2];
    const auto high0 = static_cast<std::uint32_t>(product0 >> 32);
    const auto high1 = static_cast<std::uint32_t>(product1 >> 32);
    counter = {high1 ^ counter[1] ^ key[0], static_cast<std::uint32_t>(product1),
               high0 ^ counter[3] ^ key[1], static_cast<std::uint32_t>(product0)};
    key[0] += kGoldenRatio;
    key[1] += kSqrtThreeMinusOne;
  }
  return counter;
}

}  // namespace headwater
