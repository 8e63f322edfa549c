#include "headwater/emission/quiet_sums.hpp"

#include <algorithm>

#include "headwater/emission/dispersion_estimates.hpp"
#include "headwater/emission/negative_binomial_blocks.hpp"
#include "headwater/kernels/polynomials.hpp"

namespace headwater {

bool QuietSums::empty() const {
  return std::ranges::all_of(moments_, [](const auto& moments) { return moments.empty(); });
}

void QuietSums::add(const Eigen::Ref<const Matrix>& states, const Eigen::Ref<const Vector>& weights,
                    const QuietChannels& quiet, std::vector<Index>& beyond) {
  const auto columns = static_cast<std::size_t>(states.cols());
  quiet.sort_by_nodes(states, quiet.limits_in_sums(), by_nodes_);
  beyond = by_nodes_[0];
  for (int nodes = 1; nodes <= QuietChannels::kMostNodes; ++nodes) {
    const auto at = static_cast<std::size_t>(nodes);
    if (by_nodes_[at].empty()) continue;
    quiet.gather(states, by_nodes_[at], points_);
    weights_.resize(points_.rows(), nodes + 2);
    for (Index i = 0; i < points_.rows(); ++i) {
      weights_.row(i).setConstant(weights[by_nodes_[at][static_cast<std::size_t>(i)]]);
    }
    moments_[at].resize(num_monomials(columns, nodes + 1));
    add_moments(points_, weights_, moments_[at]);
  }
}

void QuietSums::finish(const QuietChannels& quiet, const NegativeBinomialBlocks& law,
                       const Wanted& wanted, Statistics& out) {
  for (int nodes = 1; nodes <= QuietChannels::kMostNodes; ++nodes) {
    std::vector<double>& moments = moments_[static_cast<std::size_t>(nodes)];
    if (moments.empty()) continue;
    multiply_by_multinomials(static_cast<std::size_t>(out.s2.cols()), nodes + 1, moments);
    finish_with(nodes, quiet, law, wanted, out);
    moments.clear();
  }
}

// With b_j the coefficients for 1 / (1 + z) and P_d = sum_i w_i lambda(x_i)^d,
//   sum_i w_i x_ik z / (1 + z) = sum_j b_j phi^(j + 1) sum_i w_i x_ik lambda^(j + 1),
// and sum_i w_i x_ik lambda^(d - 1) is the slope of P_d / d in B_mk.
void QuietSums::finish_with(int nodes, const QuietChannels& quiet,
                            const NegativeBinomialBlocks& law, const Wanted& wanted,
                            Statistics& out) {
  const Matrix& shares = quiet.shares();
  const std::vector<double>& polynomial = moments_[static_cast<std::size_t>(nodes)];
  const bool has_law_statistics = wanted.law_statistics && out.s4.size() > 0;
  const Vector inverse_units = quiet.units().cwiseInverse();
  // A few channels at a time stay in the caches.
  constexpr Index kTogether = 256;
  for (Index first = 0; first < shares.rows(); first += kTogether) {
    const Index size = std::min(kTogether, shares.rows() - first);
    series_.clear();
    for (Index j = 0; j < size; ++j) {
      series_.push_back(&quiet.series(quiet.limits_in_sums(), nodes, first + j));
    }
    parts_.resize(size, nodes + 2);
    if (!wanted.losses) {
      take_parts(shares.middleRows(first, size), polynomial, parts_);
    } else {
      slope_weights_.setZero(size, nodes + 2);
      for (Index j = 0; j < size; ++j) {
        const double phi = quiet.scale(first + j);
        double power = phi;
        for (int i = 0; i < nodes; ++i, power *= phi) {
          const double inverse = series_[static_cast<std::size_t>(j)]->inverse[i];
          slope_weights_(j, i + 2) = inverse * power / (i + 2);
        }
      }
      slopes_.resize(size, shares.cols());
      take_parts(shares.middleRows(first, size), polynomial, slope_weights_, parts_, slopes_);
      out.unseen.middleRows(first, size) += slopes_ * inverse_units.asDiagonal();
    }
    if (has_law_statistics) add_law_statistics(nodes, first, quiet, law, out);
  }
}

// The statistics are of the form
//   sum_i w_i lambda^2 f(z) = sum_j f_j phi^j P_(j + 2).
// In dispersion_score(), f is g(z) = 1 / (1 + z) - k(z). In dispersion_information() it is half of
// 1 / (1 + phi + 2 z + z^2 / limit).
void QuietSums::add_law_statistics(int nodes, Index first, const QuietChannels& quiet,
                                   const NegativeBinomialBlocks& law, Statistics& out) const {
  for (Index j = 0; j < parts_.rows(); ++j) {
    const Index m = first + j;
    if (quiet.is_loud(m)) continue;
    const QuietSeries& series = *series_[static_cast<std::size_t>(j)];
    const double phi = quiet.scale(m);
    double bend = 0;
    QuietSeries::Coefficients at_nodes{};  // what the value of f at each node counts for
    double power = 1;
    for (int i = 0; i < nodes; ++i, power *= phi) {
      const double part = power * parts_(j, i + 2);
      bend += series.bend[i] * part;
      for (int l = 0; l < nodes; ++l) at_nodes[l] += series.transform[i][l] * part;
    }
    double known = 0;
    const double inverse_limit = 1 / law.limit(m);
    for (int l = 0; l < nodes; ++l) {
      const double z = series.nodes[l];
      known += at_nodes[l] / (1 + phi + z * (2 + z * inverse_limit));
    }
    double* const own = out.s4.data() + m * DispersionStatistics::kPerChannel;
    own[0] += phi * known / 2 + bend;
    own[1] += known / 2;
  }
}

}  // namespace headwater
