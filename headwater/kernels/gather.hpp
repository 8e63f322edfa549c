#pragma once

#include <cstdint>
#include <span>

#include "headwater/matrix.hpp"

namespace headwater {

// out(i, k) = in(rows[i], k) for every column k: copies the rows of the chosen particles. `out` has
// rows.size() rows and does not overlap `in`.
void gather_rows(const Eigen::Ref<const Matrix>& in, std::span<const std::int32_t> rows,
                 Eigen::Ref<Matrix> out);

}  // namespace headwater
