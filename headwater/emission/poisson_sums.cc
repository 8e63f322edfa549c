#include "headwater/emission/poisson_sums.hpp"

#include "headwater/emission.hpp"
#include "headwater/kernels/share_sums.hpp"
#include "headwater/parallel/ranks.hpp"

namespace headwater {

void PoissonSums::add(const Matrix& states, const Emission& emission,
                      const Eigen::Ref<const Matrix>& weights,
                      std::span<const Observation* const> observations, Statistics& out) {
  means_.noalias() = states.transpose() * weights;
  out.s1 += means_.rowwise().sum();
  for (std::size_t t = 0; t < observations.size(); ++t) {
    add_unexposed(*observations[t], means_.col(static_cast<Index>(t)), out);
  }
  masses_.sort(observations, emission.num_channels());
  const Matrix& basis = emission.basis();
  masses_.for_each(states, basis, weights,
                   [&](Index m, const auto& tile, auto& mass, const auto& intensity) {
                     add_shares(m, tile, basis, mass, intensity, out);
                   });
}

void PoissonSums::add_counts_of_one(const Eigen::Ref<const Matrix>& states,
                                    const Emission& emission,
                                    const Eigen::Ref<const Vector>& weights, const Observation& y,
                                    Statistics& out) {
  const Index columns = emission.num_columns();
  const Stretch own = own_part(y.channels());
  const std::span<const Index> channels = y.channels().subspan(own.first, own.size);
  rows_.clear();
  for (const Index m : channels) {
    const double* row = emission.rows().row(m);
    rows_.insert(rows_.end(), row, row + columns);
  }
  shares_.assign(rows_.size(), 0);
  add_share_sums(states, as_span(weights), rows_, y.counts().subspan(own.first, own.size), shares_);
  auto share = shares_.begin();
  const Index first = kept_rows(y.num_channels()).first;
  for (const Index m : channels) {
    for (Index k = 0; k < columns; ++k) out.s2(m - first, k) += *share++;
  }
}

}  // namespace headwater
