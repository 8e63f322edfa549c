#pragma once

#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>

#include "headwater/export.hpp"

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

// What a random number is used for. The values are part of a number's address, so a new purpose
// must be appended: anywhere else it would change all numbers of the purposes after it.
enum class Purpose : std::uint16_t {
  initial_state,
  transition,
  observation,
  basis,
  resampling,
  backward,
  restart,
  // A filter's particles need purposes different from the simulator's: otherwise particle 0 of a
  // filter with the seed of the data would follow the true states.
  first_particles,
  particle_moves,
  surprise,
  defence_choices,
  defences,
  bridges,
  bridge_choices,
  kept_columns,
  predictions,
  forecast_activations,
  forecast_counts,
  levels
};

// A number strictly inside (0, 1): (n + 1/2) 2^-52 for the upper 52 bits n, the midpoints of 2^52
// cells. All of these are doubles; with 53 bits the largest midpoint would round to 1.
constexpr double to_unit(std::uint64_t bits) {
  return (static_cast<double>(static_cast<std::int64_t>(bits >> 12)) + 0.5) * 0x1p-52;
}

// The sequence of random numbers at one address of a RandomStream: 2^34 words. A copy continues
// from the original's position.
class Generator {
 public:
  std::uint32_t word() {
    if (next_ == block_.size()) refill();
    return block_[next_++];
  }

  std::uint64_t bits() {
    const std::uint64_t low = word();
    const std::uint64_t high = word();
    return high << 32 | low;
  }

  // Strictly inside (0, 1).
  double uniform() { return to_unit(bits()); }

  // Skips `count` blocks of four words each, counted from the block of the last word.
  void skip_blocks(std::uint32_t count) {
    exhausted_ = exhausted_ || counter_[0] + count < counter_[0];
    counter_[0] += count;
    next_ = block_.size();
  }

 private:
  friend class RandomStream;

  Generator(const PhiloxKey& key, const PhiloxCounter& first) : key_(key), counter_(first) {}

  void refill() {
    assert(!exhausted_ && "more than 2^32 blocks at one address");
    block_ = philox4x32(counter_, key_);
    exhausted_ = ++counter_[0] == 0;
    next_ = 0;
  }

  PhiloxKey key_;
  PhiloxCounter counter_;  // of the next block
  PhiloxCounter block_{};
  std::size_t next_ = block_.size();
  bool exhausted_ = false;
};

// All random numbers of a run, each with its own address (time, particle, purpose). A number
// depends only on its address and the seed, never on the order of requests or on who asks: threads,
// processes and restarts change no bit. The seed is Philox's key. The words of the counter are the
// block number, the particle, the low 32 bits of the time, and a word with the next 16 bits of the
// time above the 16 bits of the purpose. No two addresses overlap.
class RandomStream {
 public:
  explicit RandomStream(std::uint64_t seed) : key_{low_word(seed), low_word(seed >> 32)} {}

  Generator at(std::uint64_t time, std::uint32_t particle, Purpose purpose) const {
    return Generator(key_, first_counter(time, particle, purpose));
  }

  // For kernels that draw for many particles at once.
  const PhiloxKey& key() const { return key_; }
  static PhiloxCounter first_counter(std::uint64_t time, std::uint32_t particle, Purpose purpose) {
    assert(time >> 48 == 0 && "a time must be below 2^48");
    const auto high = low_word(time >> 32) << 16 | static_cast<std::uint32_t>(purpose);
    return {0, particle, low_word(time), high};
  }

 private:
  static constexpr std::uint32_t low_word(std::uint64_t bits) {
    return static_cast<std::uint32_t>(bits);
  }

  PhiloxKey key_;
};

// Draws from the distributions that the models need. The results do not depend on the compiler (the
// C++ standard does not fix the algorithms of its own distributions). They do depend on the C
// library's log, log1p, exp and cos: if another library rounds these differently, a draw may differ
// in its last bit and, rarely, a rejection may be decided differently. A parameter outside its
// range throws UsageError.

// Rate 1. Uses one uniform number.
HEADWATER_EXPORT double exponential(Generator& generator);

// Mean 0, variance 1. Uses two uniform numbers.
HEADWATER_EXPORT double normal(Generator& generator);

// Unit rate, 0 < shape < infinity. A gamma variable of small shape is often below the smallest
// double and is then returned as 0, with probability near exp(-745 shape): 5e-17 at shape 0.05,
// 6e-4 at 0.01 and about a half at 0.001.
HEADWATER_EXPORT double gamma(Generator& generator, double shape);

// An integer as a double. 0 <= mean < infinity; the result is 0 for mean 0. Results above 2^53 are
// rounded to a double.
HEADWATER_EXPORT double poisson(Generator& generator, double mean);

// Draws index i with probability p_i / sum(p), where p_i >= 0 and 0 < sum(p) < infinity. Never
// draws an index with p_i = 0. Uses one uniform number.
HEADWATER_EXPORT std::size_t categorical(Generator& generator,
                                         std::span<const double> probabilities);

// -mean + k log(mean) - log k! for k >= 0 and mean > 0, accurate even if these terms cancel: for k
// within ten standard deviations of the mean, the absolute error is below 1e-12 + 1e-14 sqrt(mean).
HEADWATER_EXPORT double log_poisson_probability(double k, double mean);

// The quantile functions used above, for 0 <= uniform <= 1: the smallest integer whose cumulative
// probability is at least `uniform` (poisson) or exceeds it (categorical). If rounding leaves all
// cumulative probabilities below `uniform`, the last value of positive probability. The Poisson
// terms are summed from exp(-mean), for mean <= 700.
HEADWATER_EXPORT double poisson_quantile(double uniform, double mean);
HEADWATER_EXPORT std::size_t categorical_quantile(double uniform,
                                                  std::span<const double> probabilities);

}  // namespace headwater
