#include "headwater/core/bessel.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numbers>

#include "headwater/core/special.hpp"

namespace headwater {

namespace {

using Limits = std::numeric_limits<double>;

// If sqrt(order^2 + x^2) is at least this, the truncated uniform expansion has an error below
// 1e-12. Below it, the power series needs at most about sixty terms and cannot overflow.
constexpr double kUniformFrom = 30;
constexpr std::size_t kUniformTerms = 12;

// Row k holds the coefficients c(k, j) of U_k(p) = sum_j c(k, j) p^(k + 2j), by
//   U_(k+1)(p) = p^2 (1 - p^2) U_k'(p) / 2 + integral over (0, p) of (1 - 5 t^2) U_k(t) / 8
// [DLMF, 10.41.9].
using Coefficients = std::array<std::array<double, kUniformTerms>, kUniformTerms>;

constexpr Coefficients uniform_coefficients() {
  Coefficients c{};
  c[0][0] = 1;
  for (std::size_t k = 0; k + 1 < kUniformTerms; ++k) {
    for (std::size_t j = 0; j <= k; ++j) {
      const auto power = static_cast<double>(k + 2 * j);
      c[k + 1][j] += c[k][j] * (power / 2 + 1 / (8 * (power + 1)));
      c[k + 1][j + 1] -= c[k][j] * (power / 2 + 5 / (8 * (power + 3)));
    }
  }
  return c;
}

constexpr Coefficients kUniform = uniform_coefficients();

// sum over k of U_k(p) / order^k with p = order / s, s = sqrt(order^2 + x^2). The order cancels:
// U_k(p) / order^k = s^-k sum_j c(k, j) p^2j, so the sum is valid for small orders and for 0.
double uniform_sum(double p_squared, double s) {
  double sum = 0;
  for (std::size_t k = kUniformTerms; k-- > 0;) {
    double polynomial = 0;
    for (std::size_t j = k + 1; j-- > 0;) polynomial = polynomial * p_squared + kUniform[k][j];
    sum = sum / s + polynomial;
  }
  return sum;
}

// log(t + sqrt(t^2 + 1)) for t = order / x, valid even if t overflows.
double inverse_sinh(double order, double x) {
  const double t = order / x;
  return t < 1e100 ? std::asinh(t) : std::log(2 * order) - std::log(x);
}

// Debye's expansion, uniform in x / order [DLMF, 10.41.3]. As the order goes to 0 it becomes
// Hankel's expansion for large x [DLMF, 10.40.1]. It is even in the order, so it misses the
// difference between I_v and I_-v, which is of relative size exp(-2x) for |v| < 1.
double log_scaled_by_uniform_expansion(double order, double x, double s) {
  const double p = order / s;
  return order * (order / (s + x) - inverse_sinh(order, x)) -
         0.5 * std::log(2 * std::numbers::pi * s) + std::log(uniform_sum(p * p, s));
}

// I_v(x) = (x/2)^v / Γ(v + 1) sum_k (x^2/4)^k / (k! (v + 1) ... (v + k)) [DLMF, 10.25.2]. All
// terms are positive.
double log_by_power_series(double order, double x) {
  const double w = x * x / 4;
  double term = 1;
  double sum = 1;
  for (double k = 1; term > 1e-17 * sum; k += 1) {
    term *= w / (k * (order + k));
    sum += term;
  }
  return order * std::log(x / 2) - log_gamma(order + 1) + std::log(sum);
}

// I_(v+1) / I_v = x / (2(v + 1) + x^2 / (2(v + 2) + x^2 / (2(v + 3) + ...))) [DLMF, 10.33.1], all
// terms positive. Truncation at depth n leaves a relative error near exp(-2 sum over j <= n of
// asinh((v + j) / x)), below 1e-16 for x <= max(30, v).
double ratio_by_continued_fraction(double order, double x) {
  const int depth = 12 + static_cast<int>(std::sqrt(40 * std::min(x, 30.0)));
  double tail = 0;
  for (int j = depth; j > 1; --j) tail = x * x / (2 * (order + j) + tail);
  return x / (2 * (order + 1) + tail);
}

bool is_outside(double order, double x) {
  return !(order > -1 && order < Limits::infinity() && x >= 0 && x < Limits::infinity());
}

double log_at_zero(double order) {
  if (order == 0) return 0;
  return order > 0 ? -Limits::infinity() : Limits::infinity();
}

}  // namespace

double log_bessel_i(double order, double x) {
  if (is_outside(order, x)) return Limits::quiet_NaN();
  if (x == 0) return log_at_zero(order);
  const double s = std::hypot(order, x);
  if (s < kUniformFrom) return log_by_power_series(order, x);
  return x + log_scaled_by_uniform_expansion(order, x, s);
}

double log_scaled_bessel_i(double order, double x) {
  if (is_outside(order, x)) return Limits::quiet_NaN();
  if (x == 0) return log_at_zero(order);
  const double s = std::hypot(order, x);
  if (s < kUniformFrom) return log_by_power_series(order, x) - x;
  return log_scaled_by_uniform_expansion(order, x, s);
}

double bessel_i_ratio(double order, double x) {
  if (is_outside(order, x)) return Limits::quiet_NaN();
  if (x <= std::max(30.0, order)) return ratio_by_continued_fraction(order, x);
  return std::exp(log_scaled_bessel_i(order + 1, x) - log_scaled_bessel_i(order, x));
}

}  // namespace headwater
