#pragma once

#include "headwater/core/matrix.hpp"

namespace headwater {

// Whether every number of a matrix is finite.
bool all_finite(const Eigen::Ref<const Matrix>& values);

}  // namespace headwater
