#include "headwater/learning/long_run_covariance.hpp"

#include <algorithm>
#include <cmath>

namespace headwater {

namespace {

double taper(Index lag, Index lags) {
  return 1 - static_cast<double>(lag) / static_cast<double>(lags + 1);
}

}  // namespace

Index long_run_lags(const Matrix& series) {
  double product = 0;
  double square = 0;
  for (Index j = 0; j < series.cols(); ++j) {
    const auto column = series.col(j);
    const double variance = column.squaredNorm();
    if (!(variance > 0)) continue;
    product += column.head(column.size() - 1).dot(column.tail(column.size() - 1)) / variance;
    square += 1;
  }
  const double rho = square > 0 ? std::clamp(product / square, -0.9, 0.9) : 0;
  const double alpha = 4 * rho * rho / std::pow(1 - rho * rho, 2);
  const auto n = static_cast<double>(series.rows());
  const double lags = std::ceil(1.1447 * std::cbrt(alpha * n)) - 1;
  return static_cast<Index>(std::clamp(lags, 0.0, n / 4));
}

Matrix long_run_covariance(const Matrix& a, const Matrix& b, Index lags) {
  Matrix sum = a.transpose() * b;
  for (Index lag = 1; lag <= lags; ++lag) {
    const Index rows = a.rows() - lag;
    sum += taper(lag, lags) * (a.topRows(rows).transpose() * b.bottomRows(rows) +
                               a.bottomRows(rows).transpose() * b.topRows(rows));
  }
  return sum;
}

Vector long_run_variances(const Matrix& series, Index lags) {
  Vector sum = series.colwise().squaredNorm();
  for (Index lag = 1; lag <= lags; ++lag) {
    const Index rows = series.rows() - lag;
    sum += 2 * taper(lag, lags) *
           series.topRows(rows).cwiseProduct(series.bottomRows(rows)).colwise().sum().transpose();
  }
  return sum;
}

double long_run_degrees_of_freedom(Index count, Index lags) {
  double sum = 1;
  for (Index lag = 1; lag <= lags; ++lag) sum += 2 * taper(lag, lags) * taper(lag, lags);
  return static_cast<double>(count) / sum;
}

}  // namespace headwater
