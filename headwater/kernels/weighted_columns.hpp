#pragma once

#include <span>

namespace headwater {

// out[i] += sum_j weights[j] * columns[j][i]: a matrix-vector product with chosen columns. Each
// column has out.size() numbers and does not overlap `out`.
void add_weighted_columns(std::span<const double* const> columns, std::span<const double> weights,
                          std::span<double> out);

}  // namespace headwater
