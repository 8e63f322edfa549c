#pragma once

#include "headwater/matrix.hpp"

// Covariances of sums over time: series whose neighbours are correlated, a column each.
namespace headwater {

// The lags that matter [Andrews1991], from what the series have in common: the correlation of
// neighbours.
Index long_run_lags(const Matrix& series);

// The sum over lags of the covariance of the columns of two series, tapered (Newey and West), in
// which lags up to `lags` count.
Matrix long_run_covariance(const Matrix& a, const Matrix& b, Index lags);

// The diagonal of long_run_covariance(series, series, lags).
Vector long_run_variances(const Matrix& series, Index lags);

// How many independent products the tapered ones of a series of this length are worth.
double long_run_degrees_of_freedom(Index count, Index lags);

}  // namespace headwater
