#include "headwater/core/tails.hpp"

#include <array>
#include <cmath>
#include <limits>
#include <numbers>

#include "headwater/core/special.hpp"

namespace headwater {

namespace {

constexpr double kTailEpsilon = 1e-13;
constexpr double kNormalFrom = 1e6;  // shapes

// x^shape exp(-x) / Γ(shape + 1). With Stirling's formula, whose large terms are subtracted on
// paper, where the shape is not small.
double gamma_kernel(double shape, double x) {
  if (shape < 10) return std::exp(shape * std::log(x) - x - log_gamma(shape + 1));
  const double t = (x - shape) / shape;
  return std::exp(-shape * (t - std::log1p(t)) - stirling_remainder(shape)) /
         std::sqrt(2 * std::numbers::pi * shape);
}

// P(G <= x), by the power series [DLMF, 8.11.4]: for x < shape + 1.
double gamma_below_by_series(double shape, double x) {
  double term = 1;
  double sum = 1;
  for (double n = 1; term > sum * kTailEpsilon; ++n) {
    term *= x / (shape + n);
    sum += term;
  }
  return gamma_kernel(shape, x) * sum;
}

// P(G > x), by the continued fraction [DLMF, 8.9.2, contracted] and Lentz's method: for x >= shape
// + 1.
double gamma_tail_by_fraction(double shape, double x) {
  double b = x + 1 - shape;
  double c = std::numeric_limits<double>::max();
  double d = 1 / b;
  double fraction = d;
  double ratio = 0;
  for (double n = 1; std::abs(ratio - 1) > kTailEpsilon; ++n) {
    const double a = n * (shape - n);
    b += 2;
    d = 1 / (b + a * d);
    c = b + a / c;
    ratio = c * d;
    fraction *= ratio;
  }
  return shape * gamma_kernel(shape, x) * fraction;
}

constexpr std::array kMiddleAbove = {-39.69683028665376, 220.9460984245205,  -275.9285104469687,
                                     138.3577518672690,  -30.66479806614716, 2.506628277459239};
constexpr std::array kMiddleBelow = {-54.47609879822406, 161.5858368580409,  -155.6989798598866,
                                     66.80131188771972,  -13.28068155288572, 1.0};
constexpr std::array kEndAbove = {-0.007784894002430293, -0.3223964580411365, -2.400758277161838,
                                  -2.549732539343734,    4.374664141464968,   2.938163982698783};
constexpr std::array kEndBelow = {0.007784695709041462, 0.3224671290700398, 2.445134137142996,
                                  3.754408661907416, 1.0};
constexpr double kEndsFrom = 0.02425;

template <std::size_t n>
double horner(const std::array<double, n>& coefficients, double x) {
  double sum = 0;
  for (const double coefficient : coefficients) sum = sum * x + coefficient;
  return sum;
}

double low_normal_quantile(double p) {
  const double q = std::sqrt(-2 * std::log(p));
  return horner(kEndAbove, q) / horner(kEndBelow, q);
}

}  // namespace

double gamma_tail(double shape, double x) {
  if (!(x > 0)) return 1;
  if (shape >= kNormalFrom) {
    const double spread = 1 / (9 * shape);
    return normal_tail((std::cbrt(x / shape) - (1 - spread)) / std::sqrt(spread));
  }
  if (x < shape + 1) return 1 - gamma_below_by_series(shape, x);
  return gamma_tail_by_fraction(shape, x);
}

double normal_quantile(double p) {
  if (p < kEndsFrom) return low_normal_quantile(p);
  if (p > 1 - kEndsFrom) return -low_normal_quantile(1 - p);
  const double q = p - 0.5;
  const double r = q * q;
  return q * horner(kMiddleAbove, r) / horner(kMiddleBelow, r);
}

double normal_tail(double z) { return std::erfc(z / std::numbers::sqrt2) / 2; }

}  // namespace headwater
