#pragma once

#include "headwater/any_law.hpp"
#include "headwater/export.hpp"

namespace headwater {

// Whether every entry is finite and 0 or more.
inline bool is_basis(const Matrix& values) {
  return (values.array().isFinite() && values.array() >= 0).all();
}

// How observations follow from activations: a basis, and the law of the counts around B x.
class HEADWATER_EXPORT Emission {
 public:
  template <class Derived>
  Emission(const Eigen::DenseBase<Derived>& basis, AnyLaw law = {}) : law_(std::move(law)) {
    set_basis(basis);
  }

  const Matrix& basis() const { return basis_; }
  const AnyLaw& law() const { return law_; }
  Index num_channels() const { return basis_.rows(); }
  Index num_columns() const { return basis_.cols(); }  // background included
  const PaddedRows& rows() const { return rows_; }
  const Vector& column_sums() const { return column_sums_; }

  void set_basis(const Matrix& basis);
  void set_law(const AnyLaw& law) { law_ = law; }

  // The observation and this object must outlive the evidence.
  void look_at(const Observation& y, Evidence& out) const {
    law_->look_at(y, rows_, column_sums_, out);
  }
  double log_base_measure(const Observation& y) const { return law_->log_base_measure(y); }

  void exchange(StateArchive& archive);

 private:
  Matrix basis_;
  AnyLaw law_;
  PaddedRows rows_;
  Vector column_sums_;
};

}  // namespace headwater
