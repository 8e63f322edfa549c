#include "headwater/learning/revival.hpp"

#include "headwater/random.hpp"

namespace headwater {

namespace {

constexpr double kDeadShare = 1e-3;
constexpr double kSameCosine = 0.9999;

Vector expected_counts(const Statistics& statistics, const Matrix& basis, Index num_components) {
  return basis.leftCols(num_components)
      .colwise()
      .sum()
      .transpose()
      .cwiseProduct(statistics.s1.head(num_components));
}

}  // namespace

std::optional<IdleComponent> find_idle(const Statistics& statistics, const Matrix& basis,
                                       Index num_components) {
  const Vector counts = expected_counts(statistics, basis, num_components);
  const double least = kDeadShare * counts.mean();
  for (Index k = 0; k < num_components; ++k) {
    if (counts[k] < least) return IdleComponent{k};
  }
  for (Index k = 0; k < num_components; ++k) {
    for (Index j = 0; j < k; ++j) {
      const double product = basis.col(j).dot(basis.col(k));
      if (product <= kSameCosine * basis.col(j).norm() * basis.col(k).norm()) continue;
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
  for (Index m = 0; m < basis.rows(); ++m) {
    basis(m, component) = basis(m, busiest) * (0.5 + generator.uniform());
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
