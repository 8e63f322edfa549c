#pragma once

#include "headwater/any_law.hpp"
#include "headwater/export.hpp"
#include "headwater/season.hpp"

namespace headwater {

// Whether every entry is finite and 0 or more.
inline bool is_basis(const Matrix& values) {
  return (values.array().isFinite() && values.array() >= 0).all();
}

// How observations follow from activations: a basis, the law of the counts around B x, and the
// season, which multiplies the activations.
class HEADWATER_EXPORT Emission {
 public:
  template <class Derived>
  Emission(const Eigen::DenseBase<Derived>& basis, AnyLaw law = {}, Season season = {})
      : law_(std::move(law)), season_(std::move(season)) {
    set_basis(basis);
  }

  // The rows of the channels, or of those that this process keeps (parallel/ranks.hpp).
  const Matrix& basis() const { return basis_; }
  const AnyLaw& law() const { return law_; }
  const Season& season() const { return season_; }
  Index num_channels() const { return num_channels_; }
  Index num_columns() const { return basis_.cols(); }  // background included
  const PaddedRows& rows() const { return rows_; }
  const Vector& column_sums() const { return column_sums_; }
  // What the law computes once for this basis; null if nothing. When first asked for.
  const std::shared_ptr<const BasisNotes>& basis_notes() const;

  void set_basis(const Matrix& basis);
  void set_law(const AnyLaw& law);
  void set_season(const Season& season);

  // The emission at one position of the stream: its basis is multiplied by the gains of the season,
  // and it has no season. Valid until the next call, and as long as this object is not changed.
  const Emission& at(std::int64_t position) const;

  // The observation and this object must outlive the evidence, which the next look at an
  // observation of another phase makes invalid.
  void look_at(const Observation& y, Evidence& out) const {
    const Emission& now = at(y.position());
    out.set_basis_notes(now.basis_notes());
    now.law_->look_at(y, now.rows_, now.column_sums_, out);
  }
  // Adds up statistics for this emission: see EmissionSums.
  std::unique_ptr<EmissionSums> sums() const;
  double log_base_measure(const Observation& y) const { return law_->log_base_measure(y); }

  void exchange(StateArchive& archive);

 private:
  Matrix basis_;
  Index num_channels_ = 0;
  AnyLaw law_;
  Season season_;
  PaddedRows rows_;
  Vector column_sums_;
  mutable std::shared_ptr<const BasisNotes> basis_notes_;
  mutable bool has_basis_notes_ = false;

  // What at() has made so far.
  struct Moment {
    std::int64_t position = 0;
    std::shared_ptr<const Emission> emission;
  };
  mutable std::vector<Moment> moments_;
};

}  // namespace headwater
