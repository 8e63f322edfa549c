#include "headwater/learning/initialise.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "headwater/emission/negative_binomial_terms.hpp"
#include "headwater/learning/activation_law.hpp"
#include "headwater/parallel/ranks.hpp"

namespace headwater {

namespace {

constexpr double kBackgroundShare = 0.1;

// How far the columns of an even start are from each other.
constexpr double kSpread = 0.3;
// A dispersion that is usual for counts, and how many observations that is worth.
constexpr double kUsualDispersion = 0.5;
constexpr double kWorthOfUsual = 2;
constexpr std::array kDispersions = {0.01, 0.03, 0.1, 0.2, 0.4, 0.7, 1.0, 1.5, 2.0, 3.0, 5.0, 10.0};

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

// The same, without a number for each cell.
Vector mean_counts(const RecordView& observations) {
  Vector sums = Vector::Constant(observations.num_channels(), 0.5);
  Vector seen = Vector::Constant(sums.size(), 1 + static_cast<double>(observations.size()));
  for (Index t = 0; t < observations.size(); ++t) {
    const Observation& y = observations[t];
    for_each_count(y, [&](std::size_t j, double exposure) {
      sums[y.channels()[j]] += y.counts()[j] / exposure;
    });
    for (std::size_t j = 0; j < y.exposed().size(); ++j) {
      if (y.exposures()[j] == 0) seen[y.exposed()[j]] -= 1;
    }
  }
  return sums.cwiseQuotient(seen);
}

Matrix random_start_around(const Vector& mean_counts, const AnyPrior& prior, std::uint64_t seed) {
  const Vector scale = mean_counts / mean_activation(prior).sum();
  const RandomStream random(seed);
  const KeptRows kept = kept_rows(scale.size());
  Matrix basis(kept.size, prior.num_components());
  for (Index i = 0; i < basis.rows(); ++i) {
    const Index m = kept.first + i;
    Generator generator = random.at(0, static_cast<std::uint32_t>(m), Purpose::restart);
    for (Index k = 0; k < basis.cols(); ++k) basis(i, k) = scale[m] * 2 * generator.uniform();
  }
  return basis;
}

// The same of counts that are as large as those of other channels, by half a count of theirs, or by
// one observation where counts are few: a channel that has been silent may speak up.
Vector means_so_far(const RecordView& observations) {
  Vector counts = Vector::Zero(observations.num_channels());
  Vector exposures = counts;
  double whole = 0;  // observations of exposure 1 throughout, of which the counts are all there is
  for (Index t = 0; t < observations.size(); ++t) {
    const Observation& y = observations[t];
    if (y.exposed().empty()) {
      whole += 1;
      for_each_count(y, [&](std::size_t j, double) { counts[y.channels()[j]] += y.counts()[j]; });
      continue;
    }
    for_each_seen(y, [&](Index m, double count, double exposure) {
      counts[m] += count;
      exposures[m] += exposure;
    });
  }
  exposures.array() += whole;
  const double overall = (counts.sum() + 0.5) / std::max(exposures.sum(), 1e-6);
  const double worth = std::min(1.0, 0.5 / overall);
  return (counts.array() + 0.5) / (exposures.array() + worth);
}

}  // namespace

Matrix random_start(const Eigen::Ref<const Matrix>& observations, const AnyPrior& prior,
                    std::uint64_t seed) {
  return random_start_around(mean_counts(observations), prior, seed);
}

Matrix random_start(const RecordView& observations, const AnyPrior& prior, std::uint64_t seed) {
  return random_start_around(mean_counts(observations), prior, seed);
}

Matrix even_factors(Index num_channels, Index num_components, std::uint64_t seed) {
  const RandomStream random(seed);
  const KeptRows kept = kept_rows(num_channels);
  Matrix factors(kept.size, num_components);
  for (Index i = 0; i < kept.size; ++i) {
    Generator generator =
        random.at(0, static_cast<std::uint32_t>(kept.first + i), Purpose::restart);
    for (Index k = 0; k < num_components; ++k) {
      factors(i, k) = 1 + kSpread * (2 * generator.uniform() - 1);
    }
  }
  return factors;
}

Matrix even_start(const RecordView& observations, const Vector& mean_activation,
                  const Matrix& factors) {
  const Vector level = means_so_far(observations) / mean_activation.sum();
  const KeptRows kept = kept_rows(level.size());
  return level.segment(kept.first, kept.size).asDiagonal() * factors;
}

double dispersion_so_far(const RecordView& observations) {
  const Vector usual = means_so_far(observations);
  const auto num_levels = static_cast<Index>(kDispersions.size());
  Vector fits = Vector::Zero(num_levels);  // log-likelihoods
  Vector counts = Vector::Zero(usual.size());
  Vector cells = counts;  // those of exposure 1 are summed up by channel
  double seen = 0;
  double whole = 0;  // observations of exposure 1 throughout
  const auto add_cell = [&](Index m, double count, double exposure) {
    if (exposure == 1) counts[m] += count;
    if (exposure == 1 && count == 0) return;
    for (Index i = 0; i < num_levels; ++i) {
      const double phi = kDispersions[static_cast<std::size_t>(i)];
      fits[i] += negative_binomial::rising_logs(count, phi);
      if (exposure != 1) fits[i] -= (count + 1 / phi) * std::log1p(phi * exposure * usual[m]);
    }
  };
  for (Index t = 0; t < observations.size(); ++t) {
    const Observation& y = observations[t];
    seen += y.any_seen() ? 1 : 0;
    if (y.exposed().empty()) {
      whole += 1;
      for_each_count(y,
                     [&](std::size_t j, double) { add_cell(y.channels()[j], y.counts()[j], 1); });
      continue;
    }
    for_each_seen(y, [&](Index m, double count, double exposure) {
      if (exposure == 1) cells[m] += 1;
      add_cell(m, count, exposure);
    });
  }
  cells.array() += whole;
  for (Index i = 0; i < num_levels; ++i) {
    const double phi = kDispersions[static_cast<std::size_t>(i)];
    fits[i] -= ((counts.array() + cells.array() / phi) * (phi * usual.array()).log1p()).sum();
  }
  Index best = 0;
  fits.maxCoeff(&best);
  // As if some observations more had the usual dispersion: a geometric mean.
  const double weight = kWorthOfUsual / (kWorthOfUsual + std::max(seen - 1, 0.0));
  const double likely = std::pow(kUsualDispersion, weight) *
                        std::pow(kDispersions[static_cast<std::size_t>(best)], 1 - weight);
  // The entries of an even start are off by factors of this variance.
  return likely + kSpread * kSpread / 3;
}

Vector background_start(const Eigen::Ref<const Matrix>& observations) {
  return kBackgroundShare * mean_counts(observations);
}

Vector background_start(const RecordView& observations) {
  return kBackgroundShare * mean_counts(observations);
}

Matrix with_background(Matrix basis, const Vector& background) {
  basis.conservativeResize(Eigen::NoChange, basis.cols() + 1);
  basis.rightCols(1) = background;
  return basis;
}

}  // namespace headwater
