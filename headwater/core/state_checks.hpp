#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>

#include "headwater/matrix.hpp"

// Checks of numbers that were read from a file, for StateArchive::expect().
namespace headwater {

// Numbers of observations, steps and the like. No stream is that long; they can be doubled and
// added, and random numbers have an address for each (see RandomStream).
inline bool is_count(std::int64_t value) { return value >= 0 && value < std::int64_t{1} << 47; }

inline bool is_step_size(double value) { return value >= 0 && value <= 1; }

// Whether the numbers are probabilities that sum to 1, but for rounding.
template <class Numbers>
bool is_law(const Numbers& values) {
  constexpr double kRoundingOfLaw = 1e-6;
  double sum = 0;
  for (const double value : values) {
    if (!(value >= 0)) return false;
    sum += value;
  }
  return std::abs(sum - 1) <= kRoundingOfLaw;
}

// Whether each of them is an index into a list of `size` elements.
template <class Integer>
bool are_indices(std::span<const Integer> values, Index size) {
  return std::ranges::all_of(values, [&](Integer i) { return i >= 0 && i < size; });
}

}  // namespace headwater
