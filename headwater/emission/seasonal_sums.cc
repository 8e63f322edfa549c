#include "headwater/emission/seasonal_sums.hpp"

#include <algorithm>
#include <numeric>

#include "headwater/emission.hpp"
#include "headwater/emission/shared_rows.hpp"

namespace headwater {

void SeasonalSums::begin(const Statistics& like) {
  if (one_.s2.rows() != like.s2.rows() || one_.s2.cols() != like.s2.cols() ||
      one_.s4.size() != like.s4.size()) {
    one_ = Statistics(like.s2.rows(), like.s2.cols(), 0, like.s4.size());
  }
  one_.clear_sums();
}

void SeasonalSums::take_over(const Emission& emission, std::int64_t position, double weight,
                             Index visits, Statistics& out) {
  const Season& season = emission.season();
  const Index components = season.num_components();
  Vector counts = shared_column_sums(one_.s2).head(components) / weight;
  Vector expected = emission.column_sums().cwiseProduct(one_.s1).head(components);
  if (one_.unseen.size() > 0) {
    expected -= shared_column_sums(emission.basis().cwiseProduct(one_.unseen)).head(components);
  }
  expected /= weight;
  for (std::size_t p = 0; p < out.phases.size(); ++p) {
    const Matrix& profile = season.profiles()[p];
    const Index phase = position % profile.cols();
    // Without the gain of this profile. A gain of 0 leaves nothing to be learned.
    const Vector without =
        (profile.col(phase).array() > 0).select(expected.array() / profile.col(phase).array(), 0);
    out.phases[p].visit(phase, visits, counts, without);
  }
  out.s1 += one_.s1;
  out.s2 += one_.s2;
  out.s4 += one_.s4;
  if (one_.unseen.size() == 0) return;
  if (out.unseen.size() == 0) out.unseen.setZero(out.s2.rows(), out.s2.cols());
  out.unseen += one_.unseen;
}

void SeasonalSums::add(const Matrix& states, const Emission& emission,
                       const Eigen::Ref<const Matrix>& weights,
                       std::span<const Observation* const> observations, Statistics& out) {
  const Season& season = emission.season();
  const std::int64_t cycle = season.cycle();
  const auto phase_of = [&](Index t) {
    const std::int64_t position = observations[static_cast<std::size_t>(t)]->position();
    return cycle > 0 ? position % cycle : position;
  };
  std::vector<Index> order(observations.size());
  std::iota(order.begin(), order.end(), Index{0});
  std::ranges::stable_sort(order, {}, phase_of);
  std::vector<const Observation*> of_phase;
  std::vector<Index> columns;
  for (std::size_t i = 0; i < order.size();) {
    const std::int64_t phase = phase_of(order[i]);
    of_phase.clear();
    columns.clear();
    Index seen = 0;
    for (; i < order.size() && phase_of(order[i]) == phase; ++i) {
      of_phase.push_back(observations[static_cast<std::size_t>(order[i])]);
      columns.push_back(order[i]);
      seen += of_phase.back()->any_seen() ? 1 : 0;
    }
    const Matrix scaled = states * season.gains(phase, states.cols()).asDiagonal();
    const Matrix chosen = weights(Eigen::all, columns);
    begin(out);
    of_law_->add(scaled, emission, chosen, of_phase, one_);
    take_over(emission, phase, chosen.sum(), seen, out);
  }
}

void SeasonalSums::add_one(const Eigen::Ref<const Matrix>& states, const Emission& emission,
                           const Eigen::Ref<const Vector>& weights, const Observation& y,
                           Statistics& out) {
  const Matrix scaled = states * emission.season().gains(y.position(), states.cols()).asDiagonal();
  begin(out);
  of_law_->add_one(scaled, emission, weights, y, one_);
  of_law_->finish(emission, one_);
  take_over(emission, y.position(), weights.sum(), y.any_seen() ? 1 : 0, out);
}

void SeasonalSums::add_counts_of_one(const Eigen::Ref<const Matrix>& states,
                                     const Emission& emission,
                                     const Eigen::Ref<const Vector>& weights, const Observation& y,
                                     Statistics& out) {
  const Matrix scaled = states * emission.season().gains(y.position(), states.cols()).asDiagonal();
  of_law_->add_counts_of_one(scaled, emission, weights, y, out);
}

void SeasonalSums::finish(const Emission& emission, Statistics& out) {
  of_law_->finish(emission, out);
}

}  // namespace headwater
