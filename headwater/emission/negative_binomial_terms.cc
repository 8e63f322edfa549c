#include "headwater/emission/negative_binomial_terms.hpp"

#include <algorithm>
#include <cmath>

#include "headwater/core/digamma.hpp"
#include "headwater/core/special.hpp"

namespace headwater::negative_binomial {

namespace {

// Up to this, whole counts are summed term by term.
constexpr double kFewTerms = 32;
// Below these the power series below have all digits that matter.
constexpr double kSmallSum = 1e-3;
constexpr double kSmallRatio = 0.02;
// Above this, r^2 trigamma(r) - r is its asymptotic series.
constexpr double kLargeSize = 1e3;

bool has_few_terms(double y) { return y <= kFewTerms && y == std::floor(y); }

}  // namespace

double rising_logs(double y, double phi) {
  if (y == 0 || phi == 0) return 0;
  if (has_few_terms(y)) {
    // The product stays below 1e233 for the largest dispersion.
    double product = 1;
    for (double j = 1; j < y; ++j) product *= 1 + j * phi;
    return std::log(product);
  }
  // By Stirling's formula, whose large terms are subtracted on paper.
  const double r = 1 / phi;
  if (r < 1) return log_gamma(y + r) - log_gamma(r) + y * std::log(phi);
  return (y + r - 0.5) * std::log1p(y * phi) - y + stirling_remainder(y + r) -
         stirling_remainder(r);
}

double rising_slope(double y, double phi) {
  if (y == 0) return 0;
  if (has_few_terms(y)) {
    // As one fraction, which needs one division.
    double over = 0;
    double under = 1;
    for (double j = 1; j < y; ++j) {
      over = over * (1 + j * phi) + j * under;
      under *= 1 + j * phi;
    }
    return over / under;
  }
  // sum j - phi sum j^2 + phi^2 sum j^3 - phi^3 sum j^4 ..., by the formulas for sums of powers.
  if (y * phi < kSmallSum) {
    const double n = y - 1;
    const double first = n * y / 2;
    const double second = n * y * (2 * n + 1) / 6;
    const double third = first * first;
    const double fourth = second * (3 * n * n + 3 * n - 1) / 5;
    return first - phi * (second - phi * (third - phi * fourth));
  }
  const double r = 1 / phi;
  return r * (y - r * (digamma(y + r) - digamma(r)));
}

double softened(double mu, double phi) { return phi == 0 ? mu : std::log1p(phi * mu) / phi; }

double softening(double z) {
  if (z > kSmallRatio) return (std::log1p(z) - z / (1 + z)) / (z * z);
  // sum over n >= 2 of (-1)^n (n - 1) / n z^(n - 2)
  double sum = 0;
  for (int n = 10; n >= 2; --n) sum = (n - 1.0) / n - z * sum;
  return sum;
}

double dispersion_score(double y, double mu, double phi) {
  const double z = phi * mu;
  return rising_slope(y, phi) + mu * mu * softening(z) - y * mu / (1 + z);
}

double dispersion_information(double mu, double phi, double limit) {
  const double z = phi * mu;
  return 0.5 * mu * mu / (1 + phi + 2 * z + z * z / limit);
}

double asked_information(double y, double mu, double phi) {
  if (y <= 1) return 0;  // rising_slope() is 0 for no count and for one
  return std::max(rising_slope(y, phi) - y * mu / (1 + phi * mu), 0.0) / (1 + phi);
}

double asked_information(double y, const Vector& means, const Eigen::Ref<const Vector>& weights,
                         double phi) {
  if (y <= 1) return 0;
  const auto scores = rising_slope(y, phi) - y * means.array() / (1 + phi * means.array());
  return (weights.array() * scores.max(0.0)).sum() / (1 + phi);
}

double information_limit(double phi) {
  if (phi * kLargeSize < 1) return 1 + phi / 3;
  const double r = 1 / phi;
  return 2 * (r * r * trigamma(r) - r);
}

}  // namespace headwater::negative_binomial
