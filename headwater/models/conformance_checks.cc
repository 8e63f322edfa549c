#include "headwater/models/conformance_checks.hpp"

#include <algorithm>
#include <cmath>

namespace headwater::conformance {

Matrix draw_states(const AnyPrior& prior, const ConformanceOptions& options, int steps) {
  const RandomStream random(options.seed);
  Matrix now(options.num_draws, prior.state_size());
  Matrix next = now;
  prior.sample_initial({random, 1, 0, Purpose::initial_state}, now);
  for (int t = 0; t < steps; ++t) {
    const auto time = static_cast<std::uint64_t>(t) + 2;
    prior.sample_transition({random, time, 0, Purpose::transition}, now, next);
    now.swap(next);
  }
  return now;
}

Matrix activations_of(const AnyPrior& prior, const Matrix& states) {
  Matrix x(states.rows(), prior.num_components());
  prior.activations(states, x);
  return x;
}

double two_sample_distance(const Eigen::Ref<const Vector>& first,
                           const Eigen::Ref<const Vector>& second) {
  std::vector<double> a(first.begin(), first.end());
  std::vector<double> b(second.begin(), second.end());
  std::ranges::sort(a);
  std::ranges::sort(b);
  double largest = 0;
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < a.size() && j < b.size()) {
    const double at = std::min(a[i], b[j]);
    while (i < a.size() && a[i] == at) ++i;
    while (j < b.size() && b[j] == at) ++j;
    largest = std::max(largest, std::abs(static_cast<double>(i) / static_cast<double>(a.size()) -
                                         static_cast<double>(j) / static_cast<double>(b.size())));
  }
  return largest;
}

double largest_distance(Index n, double alarm_rate) {
  return 2 * std::sqrt(-std::log(alarm_rate / 4) / (2 * static_cast<double>(n)));
}

}  // namespace headwater::conformance
