#pragma once

#include <array>

namespace headwater {

// One p-value of four, whose weights sum to 1. Values that are small together count more than each
// by itself, and one that is small alone is not lost among the others: the mean of p^(-1/2), a
// generalised mean of p-values [VovkWang2020]. The result is uniform, nearly, if the four are
// uniform and independent. A tiny p of weight w alone becomes p (sum of the squared weights) / w^2.
double joint_p(const std::array<double, 4>& p, const std::array<double, 4>& weights);

}  // namespace headwater
