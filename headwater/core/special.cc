#include "headwater/core/special.hpp"

#include <array>
#include <cmath>
#include <cstddef>
#include <limits>

namespace headwater {

namespace {

constexpr double kHalfLogTwoPi = 0.91893853320467274178;

// From this argument on, seven terms of Stirling's series leave an error below 3e-17.
constexpr double kStirlingFrom = 10;

// B(2j) / (2j (2j - 1)) for j = 1 ... 7, B being the Bernoulli numbers [DLMF, 5.11.1].
constexpr std::array kStirling = {1.0 / 12,   -1.0 / 360,      1.0 / 1260, -1.0 / 1680,
                                  5.0 / 5940, -691.0 / 360360, 7.0 / 1092};

// 1 - Euler's constant, then (-1)^k (zeta(k) - 1) / k for k = 2 ... 27 [DLMF, 5.7.3].
constexpr std::array kAboutTwo = {
    0.42278433509846713939,   0.3224670334241132182,    -0.06735230105319809513,
    0.02058080842778454788,   -0.007385551028673985266, 0.002890510330741523286,
    -0.001192753911703260977, 0.0005096695247430424223, -0.0002231547584535793798,
    9.945751278180853371e-5,  -4.49262367381331417e-5,  2.050721277567069155e-5,
    -9.439488275268395904e-6, 4.374866789907487804e-6,  -2.039215753801366237e-6,
    9.551412130407419833e-7,  -4.492469198764566043e-7, 2.120718480555466587e-7,
    -1.004322482396809961e-7, 4.769810169363980566e-8,  -2.271109460894316491e-8,
    1.083865921489695409e-8,  -5.183475041970046655e-9, 2.483674543802478317e-9,
    -1.192140140586091207e-9, 5.731367241678862013e-10, -2.759522885124233145e-10};

// Sums even and odd powers separately, so that the processor computes both in parallel.
template <std::size_t n>
double polynomial(const std::array<double, n>& coefficients, double z) {
  static_assert(n % 2 == 1);
  const double z2 = z * z;
  double even = coefficients[n - 1];
  double odd = 0;
  for (std::size_t i = n - 1; i > 0; i -= 2) {
    odd = odd * z2 + coefficients[i - 1];
    even = even * z2 + coefficients[i - 2];
  }
  return even + z * odd;
}

// log Γ(2 + z) for |z| <= 1/2. The factor z is exact, so the result stays accurate near its zero at
// z = 0.
double log_gamma_about_two(double z) { return z * polynomial(kAboutTwo, z); }

double stirling(double x) { return (x - 0.5) * (std::log(x) - 1) + (kHalfLogTwoPi - 0.5); }

// Γ(x + 1) = x Γ(x) moves each argument to within 1/2 of 2, in the direction in which the added
// terms have the same sign, or nearly so.
double log_gamma_small(double x) {
  if (x < 0.5) return log_gamma_about_two(x) - std::log(x * (1 + x));
  if (x < 1.5) return log_gamma_about_two(x - 1) - std::log1p(x - 1);
  double product = 1;
  while (x > 2.5) {
    x -= 1;
    product *= x;
  }
  return log_gamma_about_two(x - 2) + std::log(product);
}

using Table = std::array<double, 256>;

Table tabulate_log_factorials() {
  Table table;
  for (std::size_t k = 0; k < table.size(); ++k) table[k] = log_gamma(static_cast<double>(k) + 1);
  return table;
}

}  // namespace

double log_gamma(double x) {
  using Doubles = std::numeric_limits<double>;
  if (!(x > 0)) return x == 0 ? Doubles::infinity() : Doubles::quiet_NaN();
  return x < kStirlingFrom ? log_gamma_small(x) : stirling(x) + stirling_remainder(x);
}

double log_factorial(double y) {
  static const Table table = tabulate_log_factorials();
  if (y >= 0 && y < static_cast<double>(table.size())) {
    const auto k = static_cast<std::size_t>(y);
    if (static_cast<double>(k) == y) return table[k];
  }
  return log_gamma(y + 1);
}

double stirling_remainder(double x) {
  if (x < kStirlingFrom) return log_gamma(x) - stirling(x);
  const double inverse = 1 / x;
  return inverse * polynomial(kStirling, inverse * inverse);
}

}  // namespace headwater
