#include "headwater/session/joint_p.hpp"

#include <algorithm>
#include <cmath>

namespace headwater {

namespace {

constexpr double kLeastJoined = 1e-150;  // smaller ones are all the same

}  // namespace

// With a uniform p, v = p^(-1/2) has P(v > x) = x^-2 and the mean 2. The mean of four is far out if
// one is, while the others have their mean: P(mean > x) is near 4 / (4 x - 6)^2 then. The formula
// below has the first two terms of that for large x, and is 1 for x = 1, the smallest mean there
// is.
double joint_p(const std::array<double, 4>& p) {
  double mean = 0;
  for (const double one : p) mean += 0.25 / std::sqrt(std::max(one, kLeastJoined));
  const double beyond = std::max(0.0, mean - 1);
  return 1 / (1 + 4 * beyond * beyond * beyond / (beyond + 1));
}

}  // namespace headwater
