#include "headwater/smoothers/lineage_statistics.hpp"

#include <cmath>

namespace headwater {

LineageStatistics::LineageStatistics(Index num_channels, Index num_components,
                                     Index num_prior_statistics)
    : num_channels_(num_channels),
      num_components_(num_components),
      num_moves_(num_prior_statistics),
      table_(0, offset_unseen()) {}

void LineageStatistics::exchange(StateArchive& archive) {
  if (archive.is_reading()) table_.resize(0, 0);  // any number of paths, and of columns
  archive(table_);
}

void LineageStatistics::start(Index num_paths) { table_.setZero(num_paths, table_.cols()); }

void LineageStatistics::follow(const std::vector<Index>& parents, double factor) {
  gathered_.resize(static_cast<Index>(parents.size()), table_.cols());
  for (Index i = 0; i < gathered_.rows(); ++i) {
    gathered_.row(i) = factor * table_.row(parents[i]);
  }
  table_.swap(gathered_);
}

void LineageStatistics::add_activations(const Eigen::Ref<const Matrix>& activations, Observation y,
                                        double weight) {
  table_.leftCols(num_components_) += weight * activations;
  for (Index m = 0; m < num_channels_; ++m) {
    const double exposure = y.exposure(m);
    if (exposure == 1) continue;
    if (table_.cols() == offset_unseen()) {
      table_.conservativeResize(Eigen::NoChange, offset_unseen() + num_channels_ * num_components_);
      table_.rightCols(num_channels_ * num_components_).setZero();
    }
    table_.middleCols(offset_unseen() + m * num_components_, num_components_) +=
        weight * (1 - exposure) * activations;
  }
}

void LineageStatistics::add_counts(const Eigen::Ref<const Matrix>& activations, const Matrix& basis,
                                   Observation y, double weight) {
  for (Index i = 0; i < table_.rows(); ++i) {
    for (Index m = 0; m < num_channels_; ++m) {
      if (!(y[m] > 0)) continue;
      const double intensity = basis.row(m).dot(activations.row(i));
      if (!(intensity > 0)) continue;
      const double share = weight * y[m] / intensity;
      table_.row(i).segment(offset_s2() + m * num_components_, num_components_) +=
          share * basis.row(m).cwiseProduct(activations.row(i));
    }
  }
}

void LineageStatistics::add_moves(const AnyPrior& prior, const Eigen::Ref<const Matrix>& previous,
                                  const Eigen::Ref<const Matrix>& next, double weight) {
  if (num_moves_ == 0) return;
  const Vector weights = Vector::Constant(1, weight);
  for (Index i = 0; i < table_.rows(); ++i) {
    double* s3 = table_.data() + i * table_.cols() + offset_s3();
    prior.add_statistics(previous.middleRows(i, 1), next.middleRows(i, 1), weights,
                         {s3, static_cast<std::size_t>(num_moves_)});
  }
}

void LineageStatistics::add_to(Statistics& out, const Vector& weights) const {
  const RowMatrix sums = weights.transpose() * table_;
  const auto tables = [&](Index offset) {
    return Eigen::Map<const RowMatrix>(sums.data() + offset, num_channels_, num_components_);
  };
  out.s1 += sums.row(0).head(num_components_).transpose();
  out.s2 += tables(offset_s2());
  out.s3 += sums.row(0).segment(offset_s3(), num_moves_).transpose();
  if (table_.cols() == offset_unseen()) return;
  if (out.unseen.size() == 0) out.unseen.setZero(num_channels_, num_components_);
  out.unseen += tables(offset_unseen());
}

}  // namespace headwater
