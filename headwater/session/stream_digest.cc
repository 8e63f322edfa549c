#include "headwater/session/stream_digest.hpp"

#include <bit>
#include <cmath>

namespace headwater {

namespace {

constexpr std::uint64_t kMultiplier = 0x9E3779B97F4A7C15;  // 2^64 over the golden ratio, odd
constexpr std::uint64_t kMissing = 0x7FF8000000000000;     // every NaN, as one

std::uint64_t bits_of(double value) {
  return std::isnan(value) ? kMissing : std::bit_cast<std::uint64_t>(value + 0.0);  // -0 is 0
}

std::uint64_t mix(std::uint64_t hash, std::uint64_t word) {
  return std::rotl((hash ^ word) * kMultiplier, 29);
}

}  // namespace

void StreamDigest::add(Observation y) {
  ++observations_;
  hash_ = mix(hash_, y.size());
  for (const double count : y) hash_ = mix(hash_, bits_of(count));
  for (const double exposure : y.exposures()) hash_ = mix(hash_, bits_of(exposure));
}

}  // namespace headwater
