#pragma once

#include <array>
#include <cstddef>

namespace headwater {

inline constexpr std::size_t kNumJoined = 4;

// One p-value of four, which have weights. Values that are small together count more than each by
// itself, and one that is small alone is not lost among the others: the weighted mean of p^(-1/2)
// [VovkWang2020]. The result is uniform, nearly, if the four are uniform and independent.
double joint_p(const std::array<double, kNumJoined>& p,
               const std::array<double, kNumJoined>& weights);

}  // namespace headwater
