#include "headwater/model.hpp"

#include <algorithm>

namespace headwater {

namespace {

constexpr std::int64_t kFewMSteps = 50;

}  // namespace

std::string version() { return HEADWATER_VERSION; }

bool Model::has_hardly_moved() const {
  return method == Method::kOnline && !keeps_its_start && iterations < kFewMSteps;
}

bool TraceTable::has_basis() const { return std::ranges::find(names, "basis_1_1") != names.end(); }

Matrix basis_of(const Estimate& estimate, bool background) {
  return estimate.basis.leftCols(estimate.basis.cols() - (background ? 1 : 0));
}

Vector background_of(const Estimate& estimate, bool background) {
  return background ? Vector(estimate.basis.rightCols(1)) : Vector();
}

}  // namespace headwater
