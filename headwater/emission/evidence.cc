#include "headwater/evidence.hpp"

#include <algorithm>
#include <cassert>

#include "headwater/block_law.hpp"
#include "headwater/parallel/ranks.hpp"

namespace headwater {

LawNotes::~LawNotes() = default;
BasisNotes::~BasisNotes() = default;

void Evidence::begin(const BlockLaw& law, const Observation& y, const PaddedRows& basis) {
  assert(kept_rows(y.num_channels()).size == basis.rows());
  law_ = &law;
  observation_ = &y;
  basis_ = &basis;
  any_ = y.any_seen();
  channels_.clear();
  counts_.clear();
  exposures_.clear();
  has_rows_ = false;
}

void Evidence::gather_rows() const {
  if (has_rows_) return;
  const Index columns = basis_->cols();
  rows_.resize(channels_.size() * static_cast<std::size_t>(columns));
  double* to = rows_.data();
  // Rows that this process does not keep are no part of its sums.
  const KeptRows kept = kept_rows(observation_->num_channels());
  for (const Index m : channels_) {
    to = kept.has(m) ? std::copy_n(basis_->row(m), columns, to) : std::fill_n(to, columns, 0);
  }
  has_rows_ = true;
}

Eigen::Map<const RowMatrix> Evidence::rows() const {
  gather_rows();
  return {rows_.data(), static_cast<Index>(channels_.size()), basis_->cols()};
}

void Evidence::log_likelihoods(const Eigen::Ref<const Matrix>& activations,
                               std::span<double> out) const {
  assert(has_rows_ || !any_);
  log_likelihoods(activations, rows_, total_, out);
  if (any_) law_->add_rest(*this, activations, out);
}

void Evidence::log_likelihoods(const Eigen::Ref<const Matrix>& activations,
                               std::span<const double> rows, const Vector& total,
                               std::span<double> out) const {
  if (any_) {
    law_->log_likelihoods(*this, activations, rows, total, out);
  } else {
    std::ranges::fill(out, 0);  // exactly: nothing was said about the activations
  }
}

double Evidence::value(std::span<const double> intensities) const {
  return law_->value(*this, intensities);
}

void Evidence::forces(std::span<const double> intensities, Forces& out) const {
  law_->forces(*this, intensities, out);
}

}  // namespace headwater
