#pragma once

#include <vector>

#include "headwater/export.hpp"
#include "headwater/matrix.hpp"

namespace headwater {

// The assignment of rows to columns of least total cost (square matrix): result[row] = column.
// O(n^3) by shortest augmenting paths (the Hungarian method) [JonkerVolgenant1987].
HEADWATER_EXPORT std::vector<Index> least_cost_assignment(const Matrix& cost);

// The order of estimated components is arbitrary. result[k] is the column of `estimate` that is
// matched to column k of `truth`; the matching has the least sum of squared differences.
HEADWATER_EXPORT std::vector<Index> match_columns(const Matrix& estimate, const Matrix& truth);

// `estimate` with its columns in the order of `truth`.
HEADWATER_EXPORT Matrix in_order_of(const Matrix& estimate, const Matrix& truth);

// For each column of `basis` the largest cosine between it and a column of `other`, which may have
// another number of columns. It is 1 if `other` has the column too, in any scale; 0 for a column of
// zeros.
HEADWATER_EXPORT Vector best_cosines(const Matrix& basis, const Matrix& other);
// The same where no two columns of `basis` may have the same partner in `other`: columns are paired
// so that the sum of all cosines is largest. 0 for a column without a partner.
HEADWATER_EXPORT Vector matched_cosines(const Matrix& basis, const Matrix& other);
// A column has been found again if the cosine is at least this.
inline constexpr double kFoundAgain = 0.95;

HEADWATER_EXPORT double root_mean_square_error(const Matrix& estimate, const Matrix& truth);
// |estimate - truth| / |truth|, Frobenius norms.
HEADWATER_EXPORT double relative_error(const Matrix& estimate, const Matrix& truth);

}  // namespace headwater
