#include "headwater/core/log_weights.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

namespace headwater {

double normalise_log_weights(std::span<double> log_weights, std::span<double> weights) {
  assert(log_weights.size() == weights.size());
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  double largest = -kInfinity;
  for (double& log_weight : log_weights) {
    if (!(log_weight < kInfinity)) log_weight = -kInfinity;
    largest = std::max(largest, log_weight);
  }
  if (largest == -kInfinity) return largest;
  double sum = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    weights[i] = std::exp(log_weights[i] - largest);
    sum += weights[i];
  }
  const double log_sum = largest + std::log(sum);
  for (std::size_t i = 0; i < weights.size(); ++i) {
    weights[i] /= sum;
    log_weights[i] -= log_sum;
  }
  return log_sum;
}

}  // namespace headwater
