#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>

#include "headwater/random/philox.hpp"

namespace headwater {

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
  predictions
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
// ranks and restarts change no bit. The seed is Philox's key. The words of the counter are the
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

}  // namespace headwater
