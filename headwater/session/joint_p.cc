#include "headwater/session/joint_p.hpp"

#include <algorithm>
#include <cmath>

namespace headwater {

namespace {

constexpr double kLeastJoined = 1e-150;  // smaller ones are all the same

}  // namespace

// With uniform p, v = p^(-1/2) has P(v > x) = x^-2 and the mean 2. The mean of several is far out
// if one is, while the others have their mean: P(mean > x) is about the sum of (w / (x - 2 (1 -
// w)))^2 then, with weights of sum 1. The formula below has the first two terms of that for large
// x, and is 1 for x = 1, the smallest mean there is.
double joint_p(const std::array<double, kNumJoined>& p,
               const std::array<double, kNumJoined>& weights) {
  double all = 0;
  double squares = 0;
  double cubes = 0;
  double mean = 0;
  for (std::size_t i = 0; i < kNumJoined; ++i) {
    const double w = weights[i];
    all += w;
    squares += w * w;
    cubes += w * w * w;
    mean += w / std::sqrt(std::max(p[i], kLeastJoined));
  }
  const double beyond = std::max(0.0, mean / all - 1);
  const double s = squares / (all * all);
  const double d = 2 - 4 * cubes / (squares * all);
  return s / (s + beyond * beyond * beyond / (beyond + d));
}

}  // namespace headwater
