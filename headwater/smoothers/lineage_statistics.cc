#include "headwater/smoothers/lineage_statistics.hpp"

#include <cmath>

#include "headwater/emission/plain_sums.hpp"

namespace headwater {

LineageStatistics::LineageStatistics(const Statistics& like)
    : num_channels_(like.s2.rows()),
      num_components_(like.s2.cols()),
      num_moves_(like.s3.size()),
      num_law_statistics_(like.s4.size()),
      table_(0, offset_unseen()) {}

void LineageStatistics::exchange(StateArchive& archive) {
  if (archive.is_reading()) table_.resize(0, 0);  // any number of paths, and of columns
  archive(table_);
  if (!archive.is_reading()) return;
  const Index with_unseen = offset_unseen() + num_channels_ * num_components_;
  archive.expect(table_.cols() == offset_unseen() || table_.cols() == with_unseen,
                 "paths with statistics of the wrong size");
  archive.expect(table_.allFinite(), "statistics that are not finite");
}

void LineageStatistics::start(Index num_paths) { table_.setZero(num_paths, table_.cols()); }

void LineageStatistics::follow(const Ancestors& parents, double factor) {
  gathered_.resize(static_cast<Index>(parents.size()), table_.cols());
  for (Index i = 0; i < gathered_.rows(); ++i) {
    gathered_.row(i) = factor * table_.row(parents[i]);
  }
  table_.swap(gathered_);
}

void LineageStatistics::follow_mean(const Vector& weights, Index num_paths, double factor) {
  const Eigen::RowVectorXd mean = factor * weights.transpose() * table_;
  table_.resize(num_paths, mean.size());
  table_.rowwise() = mean;
}

void LineageStatistics::make_room_for_unseen() {
  if (table_.cols() > offset_unseen()) return;
  table_.conservativeResize(Eigen::NoChange, offset_unseen() + num_channels_ * num_components_);
  table_.rightCols(num_channels_ * num_components_).setZero();
}

void LineageStatistics::add_activations(const Eigen::Ref<const Matrix>& activations,
                                        const Emission& emission, const Observation& y,
                                        double weight) {
  table_.leftCols(num_components_) += weight * activations;
  if (!emission.law()->has_plain_losses()) return;
  for (std::size_t j = 0; j < y.exposed().size(); ++j) {
    make_room_for_unseen();
    table_.middleCols(offset_unseen() + y.exposed()[j] * num_components_, num_components_) +=
        weight * (1 - y.exposures()[j]) * activations;
  }
}

void LineageStatistics::add_counts(const Eigen::Ref<const Matrix>& activations,
                                   const Emission& emission, const Observation& y, double weight) {
  const BlockLaw& law = *emission.law();
  const Matrix& basis = emission.basis();
  const bool has_losses = !law.has_plain_losses();
  if (has_losses) {
    make_room_for_unseen();
    for (std::size_t j = 0; j < y.exposed().size(); ++j) {
      if (y.exposures()[j] > 0) continue;
      table_.middleCols(offset_unseen() + y.exposed()[j] * num_components_, num_components_) +=
          weight * activations;
    }
  }
  for (Index i = 0; i < table_.rows(); ++i) {
    auto own = table_.row(i);
    const std::span<double> s4(own.data() + offset_s4(),
                               static_cast<std::size_t>(num_law_statistics_));
    for_each_cell_of(law, y, [&](Index m, double count, double exposure) {
      const double intensity = basis.row(m).dot(activations.row(i));
      const CellForces forces = law.forces_in(y, m, count, exposure, intensity);
      own.segment(offset_s2() + m * num_components_, num_components_) +=
          weight * forces.gain * basis.row(m).cwiseProduct(activations.row(i));
      law.add_statistics(m, count, exposure, intensity, weight, s4);
      if (!has_losses) return;
      own.segment(offset_unseen() + m * num_components_, num_components_) +=
          weight * (1 - forces.loss) * activations.row(i);
    });
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
  out.s4 += sums.row(0).segment(offset_s4(), num_law_statistics_).transpose();
  if (table_.cols() == offset_unseen()) return;
  if (out.unseen.size() == 0) out.unseen.setZero(num_channels_, num_components_);
  out.unseen += tables(offset_unseen());
}

}  // namespace headwater
