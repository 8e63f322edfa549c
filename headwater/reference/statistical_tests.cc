#include "headwater/reference/statistical_tests.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <numbers>

namespace headwater::reference {

namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

// x^shape exp(-x) / Γ(shape). Uses std::lgamma, to be independent of the library under test.
double gamma_kernel(double shape, double x) {
  return std::exp(shape * std::log(x) - x - std::lgamma(shape));
}

// P by its power series: the kernel times sum of x^n / (shape (shape + 1) ... (shape + n)) [DLMF,
// 8.11.4]. Converges fast for x < shape + 1.
double gamma_cdf_by_series(double shape, double x) {
  double term = 1 / shape;
  double sum = term;
  for (double n = 1; term > sum * kEpsilon / 4; ++n) {
    term *= x / (shape + n);
    sum += term;
  }
  return gamma_kernel(shape, x) * sum;
}

// 1 - P by its continued fraction, kernel / (x + 1 - shape - 1 (1 - shape) / (x + 3 - shape - ...))
// [DLMF, 8.9.2, contracted], evaluated by Lentz's method. Converges fast for x > shape + 1.
double gamma_tail_by_fraction(double shape, double x) {
  double b = x + 1 - shape;
  double c = std::numeric_limits<double>::max();
  double d = 1 / b;
  double fraction = d;
  double ratio = 0;
  for (double n = 1; std::abs(ratio - 1) > 4 * kEpsilon; ++n) {
    const double a = n * (shape - n);
    b += 2;
    d = 1 / (b + a * d);
    c = b + a / c;
    ratio = c * d;
    fraction *= ratio;
  }
  return gamma_kernel(shape, x) * fraction;
}

// The x >= 0 at which a decreasing function reaches `level`, by bisection to the last bit.
double solve_falling(const std::function<double(double)>& function, double level) {
  double low = 0;
  double high = 1;
  while (function(high) > level) high *= 2;
  for (double middle = high / 2; low < middle && middle < high; middle = (low + high) / 2) {
    (function(middle) > level ? low : high) = middle;
  }
  return high;
}

// P(|t| > x) = I_z(degrees / 2, 1 / 2) with z = degrees / (degrees + x^2), by the incomplete beta
// function's power series [DLMF, 8.17.8].
double student_tail(double degrees, double x) {
  const double a = degrees / 2;
  const double z = degrees / (degrees + x * x);
  double term = 1;
  double sum = 1;
  for (double n = 0; term > sum * kEpsilon / 4; ++n) {
    term *= z * (a + 0.5 + n) / (a + 1 + n);
    sum += term;
  }
  const double log_beta = std::lgamma(a) + std::lgamma(0.5) - std::lgamma(a + 0.5);
  return std::exp(a * std::log(z) + std::log1p(-z) / 2 - log_beta) / a * sum;
}

}  // namespace

double normal_cdf(double x) { return std::erfc(-x / std::numbers::sqrt2) / 2; }

double gamma_cdf(double shape, double x) {
  if (x <= 0) return 0;
  return x < shape + 1 ? gamma_cdf_by_series(shape, x) : 1 - gamma_tail_by_fraction(shape, x);
}

double gamma_tail(double shape, double x) {
  if (x <= 0) return 1;
  return x < shape + 1 ? 1 - gamma_cdf_by_series(shape, x) : gamma_tail_by_fraction(shape, x);
}

double normal_critical(double alpha) {
  return solve_falling([](double z) { return std::erfc(z / std::numbers::sqrt2); }, alpha);
}

double student_critical(double degrees, double alpha) {
  return solve_falling([&](double x) { return student_tail(degrees, x); }, alpha);
}

double chi_square_critical(double degrees, double alpha) {
  return solve_falling([&](double x) { return gamma_tail(degrees / 2, x / 2); }, alpha);
}

double chi_square_statistic(std::span<const double> observed, std::span<const double> expected) {
  assert(observed.size() == expected.size());
  double sum = 0;
  for (std::size_t i = 0; i < observed.size(); ++i) {
    const double difference = observed[i] - expected[i];
    sum += difference * difference / expected[i];
  }
  return sum;
}

double chi_square_statistic(std::span<const double> sample, std::span<const double> edges,
                            const std::function<double(double)>& cdf) {
  const auto size = static_cast<double>(sample.size());
  std::vector<double> observed, expected;
  double counted = 0;
  double cumulated = 0;
  for (std::size_t cell = 0; cell <= edges.size(); ++cell) {
    const bool is_last = cell == edges.size();
    const auto below = is_last ? sample.end() : std::ranges::lower_bound(sample, edges[cell]);
    const auto count = static_cast<double>(below - sample.begin());
    const double mass = is_last ? 1 : cdf(edges[cell]);
    observed.push_back(count - counted);
    expected.push_back(size * (mass - cumulated));
    counted = count;
    cumulated = mass;
  }
  return chi_square_statistic(observed, expected);
}

std::vector<double> cell_edges(std::span<const double> sample, std::size_t num_cells) {
  std::vector<double> edges;
  for (std::size_t i = 1; i < num_cells; ++i)
    edges.push_back(sample[i * sample.size() / num_cells]);
  return edges;
}

double kolmogorov_smirnov_critical(std::size_t n, double alpha) {
  return std::sqrt(-std::log(alpha / 2) / (2 * static_cast<double>(n)));
}

double kolmogorov_statistic(std::span<const double> sorted_sample,
                            const std::function<double(double)>& cdf) {
  assert(std::is_sorted(sorted_sample.begin(), sorted_sample.end()));
  const auto n = static_cast<double>(sorted_sample.size());
  double largest = 0;
  for (std::size_t i = 0; i < sorted_sample.size(); ++i) {
    const double probability = cdf(sorted_sample[i]);
    const auto below = static_cast<double>(i);
    largest = std::max({largest, probability - below / n, (below + 1) / n - probability});
  }
  return largest;
}

}  // namespace headwater::reference
