#include "headwater/learning/batch_series.hpp"

#include <algorithm>

#include "headwater/emission/dispersion_estimates.hpp"
#include "headwater/emission/levels.hpp"
#include "headwater/learning/estimate_layout.hpp"

namespace headwater {

namespace {

// The scores of the gains of a season, from sums over the visits to each phase: counts over the
// gain, less what is expected with a gain of 1.
void write_scores_of_profiles(const Season& season, const Vector& of_phases,
                              Eigen::Ref<Vector> out) {
  Index at = 0;
  for (const Matrix& profile : season.profiles()) {
    const Index size = profile.size();
    const auto counts = of_phases.segment(2 * at, size).array();
    const auto expected = of_phases.segment(2 * at + size, size).array();
    const auto gains = profile.reshaped().array();
    out.segment(at, size) = (gains > 0).select(counts / gains - expected, 0);
    at += size;
  }
}

}  // namespace

Matrix moves_of(const MStepSlope& slope, const std::vector<BlockStatistics::Batch>& batches) {
  Vector sum = Vector::Zero(slope.point().size());
  Vector sum_of_phases = Vector::Zero(batches.front().phases.size());
  double observations = 0;
  for (const BlockStatistics::Batch& batch : batches) {
    sum.head(batch.sums.size()) += batch.sums;
    sum_of_phases += batch.phases;
    observations += static_cast<double>(batch.observations);
  }
  const Vector mean = sum / observations;
  const Vector mean_of_phases = sum_of_phases / observations;
  Matrix moves;
  for (std::size_t i = 0; i < batches.size(); ++i) {
    const auto count = static_cast<double>(batches[i].observations);
    Vector direction = -count * mean;
    direction.head(batches[i].sums.size()) += batches[i].sums;
    const Vector move = slope.along(direction, batches[i].phases - count * mean_of_phases);
    if (moves.size() == 0) moves.resize(std::ssize(batches), move.size());
    moves.row(static_cast<Index>(i)) = move;
  }
  return moves;
}

Matrix scores_of(const Estimate& estimate, const Statistics& shape,
                 const std::vector<BlockStatistics::Batch>& batches) {
  const EstimateLayout layout(estimate);
  Matrix scores = Matrix::Zero(std::ssize(batches), layout.size);
  Statistics sums = shape;
  const Parameters of_law = estimate.law.parameters();
  const Parameter* const dispersion = find_parameter(of_law, "dispersion");
  const bool has_dispersion = dispersion != nullptr && !drifts(estimate.law);
  for (Index i = 0; i < scores.rows(); ++i) {
    const BlockStatistics::Batch& batch = batches[static_cast<std::size_t>(i)];
    sums.set_sums(batch.sums);
    if (batch.phases.size() > 0) {
      Vector of_profiles(layout.size - layout.profiles);
      write_scores_of_profiles(estimate.season, batch.phases, of_profiles);
      scores.row(i).tail(of_profiles.size()) = of_profiles;
    }
    for (Index k = 0; k < layout.columns; ++k) {
      for (Index m = 0; m < layout.channels; ++m) {
        const double entry = estimate.basis(m, k);
        if (entry > 0) {
          scores(i, m + k * layout.channels) = sums.s2(m, k) / entry - sums.exposure(m, k);
        }
      }
    }
    if (!has_dispersion) continue;
    const bool is_shared = dispersion->value.size() == 1;
    for (Index m = 0; m < layout.channels; ++m) {
      const double* own = sums.s4.data() + m * DispersionStatistics::kPerChannel;
      const Index which = is_shared ? 0 : m;
      scores(i, layout.law + which) += own[0] - dispersion->value(which) * own[1];
    }
  }
  return scores;
}

Matrix wandering_of(const Vector& estimate, const std::vector<BlockStatistics::Batch>& batches) {
  Matrix rows = Matrix::Zero(std::ssize(batches), estimate.size());
  for (Index i = 0; i < rows.rows(); ++i) {
    const BlockStatistics::Batch& batch = batches[static_cast<std::size_t>(i)];
    if (batch.estimates.size() == 0) continue;
    rows.row(i) = batch.estimates - static_cast<double>(batch.observations) * estimate;
  }
  return rows;
}

void add_prior_scores(const PriorScores& scores, const EstimateLayout& layout,
                      const std::vector<BlockStatistics::Batch>& batches, Matrix& out) {
  Index begin = 0;
  for (std::size_t i = 0; i < batches.size(); ++i) {
    const Index size = std::min<Index>(batches[i].observations, scores.slopes.rows() - begin);
    for (std::size_t j = 0; j < scores.columns.size(); ++j) {
      out(static_cast<Index>(i), layout.prior + scores.columns[j]) =
          scores.slopes.col(static_cast<Index>(j)).segment(begin, size).sum();
    }
    begin += size;
  }
}

}  // namespace headwater
