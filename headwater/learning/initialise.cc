#include "headwater/learning/initialise.hpp"

#include <algorithm>
#include <cmath>

#include "headwater/learning/activation_law.hpp"

namespace headwater {

namespace {

constexpr double kBackgroundShare = 0.1;

// How far the columns of an even start are from each other.
constexpr double kSpread = 0.3;
// A dispersion that is usual for counts, and how many observations that is worth.
constexpr double kUsualDispersion = 0.5;
constexpr double kWorthOfUsual = 2;
constexpr double kLeastDispersion = 0.01;
constexpr double kLargestDispersion = 10;

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

// The same of counts that are as large as those of other channels, by half a count of theirs, or by
// one observation where counts are few: a channel that has been silent may speak up.
Vector means_so_far(const RecordView& observations) {
  Vector counts = Vector::Zero(observations.num_channels());
  Vector exposures = counts;
  for (Index t = 0; t < observations.size(); ++t) {
    for_each_seen(observations[t], [&](Index m, double count, double exposure) {
      counts[m] += count;
      exposures[m] += exposure;
    });
  }
  const double overall = (counts.sum() + 0.5) / std::max(exposures.sum(), 1e-6);
  const double worth = std::min(1.0, 0.5 / overall);
  return (counts.array() + 0.5) / (exposures.array() + worth);
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

Matrix even_start(const RecordView& observations, const AnyPrior& prior, std::uint64_t seed) {
  const Vector level = means_so_far(observations) / mean_activation(prior).sum();
  const RandomStream random(seed);
  Matrix basis(level.size(), prior.num_components());
  for (Index m = 0; m < basis.rows(); ++m) {
    Generator generator = random.at(0, static_cast<std::uint32_t>(m), Purpose::restart);
    for (Index k = 0; k < basis.cols(); ++k) {
      basis(m, k) = level[m] * (1 + kSpread * (2 * generator.uniform() - 1));
    }
  }
  return basis;
}

double dispersion_so_far(const RecordView& observations) {
  const Vector usual = means_so_far(observations);
  double excess = 0;   // of the variance over the mean
  double squares = 0;  // of the means
  double seen = 0;
  for (Index t = 0; t < observations.size(); ++t) {
    seen += observations[t].any_seen() ? 1 : 0;
    for_each_seen(observations[t], [&](Index m, double count, double exposure) {
      const double mean = exposure * usual[m];
      excess += (count - mean) * (count - mean) - mean;
      squares += mean * mean;
    });
  }
  const double measured = squares > 0 ? excess / squares : kUsualDispersion;
  const double shared = (kWorthOfUsual * kUsualDispersion + std::max(seen - 1, 0.0) * measured) /
                        (kWorthOfUsual + std::max(seen - 1, 0.0));
  return std::clamp(shared, kLeastDispersion, kLargestDispersion);
}

Vector background_start(const Eigen::Ref<const Matrix>& observations) {
  return kBackgroundShare * mean_counts(observations);
}

Matrix with_background(Matrix basis, const Vector& background) {
  basis.conservativeResize(Eigen::NoChange, basis.cols() + 1);
  basis.rightCols(1) = background;
  return basis;
}

}  // namespace headwater
