#include "headwater/session/joint_p.hpp"

#include <algorithm>
#include <cmath>

namespace headwater {

namespace {

constexpr double kLeastJoined = 1e-150;  // smaller ones are all the same

}  // namespace

// With a uniform p, v = p^(-1/2) has P(v > x) = x^-2 and the mean 2. A weighted mean is far out if
// one v is, while the others have their mean: P(mean > x) is near the sum of w^2 / (x - 2 (1 -
// w))^2 then, over the weights w. With S = sum w^2 and c = sum 2 w^2 (1 - w) / S, that is S / (x -
// c)^2 but for terms of higher order. The formula below has the first two terms of it for large x,
// and is 1 for x = 1, the smallest mean there is.
double joint_p(const std::array<double, 4>& p, const std::array<double, 4>& weights) {
  double mean = 0;
  double squares = 0;
  double centre = 0;
  for (std::size_t i = 0; i < p.size(); ++i) {
    const double weight = weights[i];
    mean += weight / std::sqrt(std::max(p[i], kLeastJoined));
    squares += weight * weight;
    centre += 2 * weight * weight * (1 - weight);
  }
  centre /= squares;
  const double beyond = std::max(0.0, mean - 1);
  return 1 / (1 + beyond * beyond * beyond / (beyond + 2 * (centre - 1)) / squares);
}

}  // namespace headwater
