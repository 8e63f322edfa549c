#include "headwater/emission.hpp"

#include <algorithm>

#include "headwater/emission/seasonal_sums.hpp"
#include "headwater/parallel/ranks.hpp"

namespace headwater {

namespace {

// The numbers in all bases that at() keeps: 32 MB.
constexpr Index kMostKept = Index{1} << 22;

}  // namespace

void Emission::set_basis(const Matrix& basis) {
  basis_ = basis;
  num_channels_ = num_channels_of(basis.rows());
  rows_.set(basis, kept_rows(num_channels_).first);
  column_sums_ = headwater::column_sums(basis);
  has_basis_notes_ = false;
  moments_.clear();
}

void Emission::set_law(const AnyLaw& law) {
  law_ = law;
  has_basis_notes_ = false;
  moments_.clear();
}

const std::shared_ptr<const BasisNotes>& Emission::basis_notes() const {
  if (!has_basis_notes_) basis_notes_ = law_->notes_of(rows_);
  has_basis_notes_ = true;
  return basis_notes_;
}

void Emission::set_season(const Season& season) {
  season_ = season;
  moments_.clear();
}

const Emission& Emission::at(std::int64_t position) const {
  if (season_.empty()) return *this;
  const std::int64_t cycle = season_.cycle();
  if (cycle > 0) position %= cycle;
  if (moments_.empty()) {
    const std::int64_t most = std::max<std::int64_t>(1, kMostKept / basis_.size());
    moments_.resize(static_cast<std::size_t>(cycle > 0 ? std::min(cycle, most) : 1));
  }
  Moment& moment = moments_[static_cast<std::size_t>(position) % moments_.size()];
  if (!moment.emission || moment.position != position) {
    const Matrix basis = basis_ * season_.gains(position, num_columns()).asDiagonal();
    moment = {position, std::make_shared<const Emission>(basis, law_)};
  }
  return *moment.emission;
}

std::unique_ptr<EmissionSums> Emission::sums() const {
  if (season_.empty()) return law_->sums();
  return std::make_unique<SeasonalSums>(law_->sums());
}

void Emission::exchange(StateArchive& archive) {
  if (!archive.is_reading()) return archive(basis_, law_, season_);
  Matrix basis = basis_;
  archive(basis, law_, season_);
  archive.expect(is_basis(basis), "a basis with an entry that is negative or not finite");
  archive.expect(season_.num_components() <= basis.cols(), "a profile of the wrong size");
  set_basis(basis);
}

}  // namespace headwater
