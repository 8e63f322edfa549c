#include "headwater/learning/initialise.hpp"

#include <cmath>

#include "headwater/learning/activation_law.hpp"

namespace headwater {

namespace {

constexpr double kBackgroundShare = 0.1;

// The mean of what was seen, with half a count and one observation more: positive for every
// channel.
Vector mean_counts(const Eigen::Ref<const Matrix>& observations) {
  Vector mean(observations.rows());
  for (Index m = 0; m < observations.rows(); ++m) {
    double sum = 0.5;
    double seen = 1;
    for (const double count : observations.row(m)) {
      if (std::isnan(count)) continue;
      sum += count;
      seen += 1;
    }
    mean[m] = sum / seen;
  }
  return mean;
}

}  // namespace

Matrix random_start(const Eigen::Ref<const Matrix>& observations, const AnyPrior& prior,
                    std::uint64_t seed) {
  const Vector scale = mean_counts(observations) / mean_activation(prior).sum();
  const RandomStream random(seed);
  Matrix basis(observations.rows(), prior.num_components());
  for (Index m = 0; m < basis.rows(); ++m) {
    Generator generator = random.at(0, static_cast<std::uint32_t>(m), Purpose::restart);
    for (Index k = 0; k < basis.cols(); ++k) basis(m, k) = scale[m] * 2 * generator.uniform();
  }
  return basis;
}

Vector background_start(const Eigen::Ref<const Matrix>& observations) {
  return kBackgroundShare * mean_counts(observations);
}

}  // namespace headwater
