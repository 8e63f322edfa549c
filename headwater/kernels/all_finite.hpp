#pragma once

#include "headwater/matrix.hpp"

namespace headwater {

// Whether all elements of a matrix are finite.
bool all_finite(const Eigen::Ref<const Matrix>& values);

}  // namespace headwater
