#include "headwater/emission.hpp"

namespace headwater {

void Emission::set_basis(const Matrix& basis) {
  basis_ = basis;
  rows_.set(basis);
  column_sums_ = headwater::column_sums(basis);
}

void Emission::exchange(StateArchive& archive) {
  Matrix basis = basis_;
  archive(basis, law_);
  if (!archive.is_reading()) return;
  archive.expect(is_basis(basis), "a basis with an entry that is negative or not finite");
  set_basis(basis);
}

}  // namespace headwater
