#include "headwater/learning/revival.hpp"

#include <cmath>

#include "headwater/parallel/ranks.hpp"
#include "headwater/random.hpp"
#include "headwater/reducer.hpp"

namespace headwater {

namespace {

constexpr double kDeadShare = 1e-3;
constexpr double kSameCosine = 0.9999;

Vector expected_counts(const Statistics& statistics, const Matrix& basis, Index num_components) {
  return column_sums(basis).head(num_components).cwiseProduct(statistics.s1.head(num_components));
}

// Of each two columns of the basis.
Matrix products(const Matrix& basis) {
  Matrix products = Matrix::Zero(basis.cols(), basis.cols());
  sum_rows(basis.rows(), as_span(products), [&](const Stretch& stretch, std::span<double> to) {
    const auto rows =
        basis.middleRows(static_cast<Index>(stretch.first), static_cast<Index>(stretch.size));
    Eigen::Map<Matrix>(to.data(), basis.cols(), basis.cols()) += rows.transpose() * rows;
  });
  return products;
}

}  // namespace

std::optional<IdleComponent> find_idle(const Statistics& statistics, const Matrix& basis,
                                       Index num_components) {
  const Vector counts = expected_counts(statistics, basis, num_components);
  const double least = kDeadShare * counts.mean();
  for (Index k = 0; k < num_components; ++k) {
    if (counts[k] < least) return IdleComponent{k};
  }
  const Matrix product = products(basis);
  for (Index k = 0; k < num_components; ++k) {
    for (Index j = 0; j < k; ++j) {
      if (product(j, k) <= kSameCosine * std::sqrt(product(j, j) * product(k, k))) continue;
      return counts[k] <= counts[j] ? IdleComponent{k, j} : IdleComponent{j, k};
    }
  }
  return std::nullopt;
}

void revive(Index component, Index num_components, std::uint64_t seed, std::int64_t time,
            Statistics& statistics, Matrix& basis) {
  Vector counts = expected_counts(statistics, basis, num_components);
  counts[component] = -1;
  Index busiest = 0;
  counts.maxCoeff(&busiest);
  Generator generator = RandomStream(seed).at(
      static_cast<std::uint64_t>(time), static_cast<std::uint32_t>(component), Purpose::restart);
  const Index num_channels = num_channels_of(basis.rows());
  const KeptRows kept = kept_rows(num_channels);
  for (Index channel = 0; channel < num_channels; ++channel) {
    const double factor = 0.5 + generator.uniform();
    const Index m = channel - kept.first;
    if (kept.has(channel)) basis(m, component) = basis(m, busiest) * factor;
  }
  statistics.s1[component] = statistics.s1[busiest];
  if (statistics.unseen.size() > 0) {
    statistics.unseen.col(component) = statistics.unseen.col(busiest);
  }
  for (Index m = 0; m < basis.rows(); ++m) {
    statistics.s2(m, component) = basis(m, component) * statistics.exposure(m, component);
  }
}

void give_back_unit(Index component, double mean_activation, Statistics& statistics,
                    Matrix& basis) {
  if (!(mean_activation > 0)) return;
  const double larger = statistics.s1[component] / mean_activation;
  basis.col(component) *= larger;
  statistics.s1[component] = mean_activation;
  if (statistics.unseen.size() > 0) statistics.unseen.col(component) /= larger;
}

}  // namespace headwater
