#include "headwater/observations/stream_digest.hpp"

#include <bit>

namespace headwater {

namespace {

constexpr std::uint64_t kBeginsSequence = 0x5EC;
constexpr std::uint64_t kMultiplier = 0x9E3779B97F4A7C15;  // 2^64 over the golden ratio, odd

std::uint64_t mix(std::uint64_t hash, std::uint64_t word) {
  return std::rotl((hash ^ word) * kMultiplier, 29);
}

std::uint64_t mix_cells(std::uint64_t hash, std::span<const Index> channels,
                        std::span<const double> values) {
  hash = mix(hash, channels.size());
  for (std::size_t j = 0; j < channels.size(); ++j) {
    hash = mix(hash, static_cast<std::uint64_t>(channels[j]));
    hash = mix(hash, std::bit_cast<std::uint64_t>(values[j]));
  }
  return hash;
}

}  // namespace

void StreamDigest::add(const Observation& y) {
  ++observations_;
  hash_ = mix(hash_, static_cast<std::uint64_t>(y.num_channels()));
  hash_ = mix_cells(hash_, y.channels(), y.counts());
  hash_ = mix_cells(hash_, y.exposed(), y.exposures());
  if (y.begins_sequence()) hash_ = mix(hash_, kBeginsSequence);
}

}  // namespace headwater
