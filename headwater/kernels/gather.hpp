#pragma once

#include <cstdint>
#include <span>

#include "headwater/core/matrix.hpp"

namespace headwater {

// out(i, k) = in(rows[i], k) for every column k: the rows of particles that were chosen. `out` has
// as many rows as are chosen and does not overlap `in`.
void gather_rows(const Eigen::Ref<const Matrix>& in, std::span<const std::int32_t> rows,
                 Eigen::Ref<Matrix> out);

}  // namespace headwater
