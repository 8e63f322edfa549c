#include "headwater/core/digamma.hpp"

#include <array>
#include <cmath>
#include <cstddef>
#include <limits>

namespace headwater {

namespace {

using Limits = std::numeric_limits<double>;

// From this argument on, the truncated asymptotic series has an error below 1e-16.
constexpr double kAsymptoticFrom = 12;

// B(2j) for j = 1 ... 7, the Bernoulli numbers.
constexpr std::array kBernoulli = {1.0 / 6,  -1.0 / 30,     1.0 / 42, -1.0 / 30,
                                   5.0 / 66, -691.0 / 2730, 7.0 / 6};

// sum over j of B(2j) divisor(2j)^-1 x^(-2j)
template <class Divisor>
double bernoulli_sum(double x, Divisor divisor) {
  const double inverse_square = 1 / (x * x);
  double sum = 0;
  for (std::size_t j = kBernoulli.size(); j > 0; --j) {
    sum = (sum + kBernoulli[j - 1] / divisor(2 * static_cast<double>(j))) * inverse_square;
  }
  return sum;
}

}  // namespace

// Applies digamma(x) = digamma(x + 1) - 1/x until x is large enough for the asymptotic series
// digamma(x) ~ log x - 1/(2x) - sum of B(2j) / (2j x^2j) [DLMF, 5.5.2 and 5.11.2].
double digamma(double x) {
  if (!(x > 0)) return x == 0 ? -Limits::infinity() : Limits::quiet_NaN();
  double below = 0;
  for (; x < kAsymptoticFrom; x += 1) below += 1 / x;
  return std::log(x) - 0.5 / x - bernoulli_sum(x, [](double j2) { return j2; }) - below;
}

// The derivative of that series: 1/x + 1/(2x^2) + sum of B(2j) / x^(2j + 1).
double trigamma(double x) {
  if (!(x > 0)) return x == 0 ? Limits::infinity() : Limits::quiet_NaN();
  double below = 0;
  for (; x < kAsymptoticFrom; x += 1) below += 1 / (x * x);
  return (1 + 0.5 / x + bernoulli_sum(x, [](double) { return 1.0; })) / x + below;
}

}  // namespace headwater
