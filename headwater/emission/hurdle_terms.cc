#include "headwater/emission/hurdle_terms.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "headwater/emission/negative_binomial_terms.hpp"

namespace headwater::hurdle {

using negative_binomial::softened;

double presence(double mu, double phi) { return -std::expm1(-softened(mu, phi)); }

double log_presence(double mu, double phi) {
  if (!(mu > 0)) return -std::numeric_limits<double>::infinity();
  const double away = softened(mu, phi);
  return away > std::numbers::ln2 ? std::log1p(-std::exp(-away)) : std::log(-std::expm1(-away));
}

double level_if_silent(double mu, double phi) { return 1 / (1 + phi * mu); }

double level_if_present(double mu, double phi) {
  if (phi == 0) return 1;
  if (!(mu > 0)) return 1 + phi;
  const double away = softened(mu, phi);
  return std::expm1(-away - std::log1p(phi * mu)) / std::expm1(-away);
}

double level_variance_if_present(double mu, double phi) {
  if (phi == 0) return 0;
  const double mean = level_if_present(mu, phi);
  if (!(mu > 0)) return (1 + phi) * phi;
  const double away = softened(mu, phi);
  const double square =
      (1 + phi) * std::expm1(-away - 2 * std::log1p(phi * mu)) / std::expm1(-away);
  return std::max(0.0, square - mean * mean);
}

double information(double mu, double phi) {
  if (!(mu > 0)) return 0;
  const double away = softened(mu, phi);
  const double more = 1 + phi * mu;
  return std::exp(-away) / (more * more * -std::expm1(-away));
}

double log_beyond(double y, double excess) {
  const double more = std::max(0.0, y - 1);
  return more * std::log(excess) - (more + 1) * std::log1p(excess);
}

}  // namespace headwater::hurdle
