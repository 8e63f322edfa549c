#pragma once

#include "headwater/models/observation.hpp"

namespace headwater {

// Observations one after another, all there at once: a view of two matrices, one column an
// observation.
class Record {
 public:
  // M x T, NaN where a cell is missing; columns that follow each other in memory, as those of a
  // Matrix and of its leftCols() do.
  template <class Counts>
  requires requires(const Counts& counts) { counts.outerStride(); }
  Record(const Counts& counts) : counts_(counts.data(), counts.rows(), counts.cols()) {}
  // Exposures: M x T, or 0 x 0 if all are 1.
  Record(Eigen::Map<const Matrix> counts, Eigen::Map<const Matrix> exposures)
      : counts_(counts), exposures_(exposures) {}

  Index size() const { return counts_.cols(); }
  Index num_channels() const { return counts_.rows(); }

  Observation operator[](Index t) const {
    if (exposures_.size() == 0) return as_span(counts_.col(t));
    return {as_span(counts_.col(t)), as_span(exposures_.col(t))};
  }

  Record first(Index size) const {
    const auto columns = [&](const Eigen::Map<const Matrix>& all) {
      return Eigen::Map<const Matrix>(all.data(), all.rows(), all.size() > 0 ? size : 0);
    };
    return {columns(counts_), columns(exposures_)};
  }

  // Counts for an exposure of 1: what somebody who knows of no exposures can work with.
  Matrix rates() const {
    if (exposures_.size() == 0) return counts_;
    return (exposures_.array() > 0).select(counts_.array() / exposures_.array(), counts_.array());
  }

 private:
  Eigen::Map<const Matrix> counts_;
  Eigen::Map<const Matrix> exposures_{nullptr, 0, 0};
};

}  // namespace headwater
