#include "headwater/session/model.hpp"

namespace headwater {

std::string version() { return HEADWATER_VERSION; }

Matrix basis_of(const Estimate& estimate, bool background) {
  return estimate.basis.leftCols(estimate.basis.cols() - (background ? 1 : 0));
}

Vector background_of(const Estimate& estimate, bool background) {
  return background ? Vector(estimate.basis.rightCols(1)) : Vector();
}

}  // namespace headwater
