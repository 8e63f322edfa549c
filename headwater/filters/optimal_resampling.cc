#include "headwater/filters/optimal_resampling.hpp"

#include <algorithm>
#include <numeric>

namespace headwater {

namespace {

// The weight c below which a state is kept by chance. With the largest a weights kept as they are,
// c = (sum of the others) / (most - a), and a is the first for which the next weight is below c.
double threshold(std::span<const double> weights, Index most) {
  thread_local std::vector<double> descending;
  descending.assign(weights.begin(), weights.end());
  std::ranges::sort(descending, std::greater());
  double rest = std::reduce(descending.begin(), descending.end());
  for (Index a = 0; a < most; ++a) {
    const double c = rest / static_cast<double>(most - a);
    if (descending[static_cast<std::size_t>(a)] < c) return c;
    rest -= descending[static_cast<std::size_t>(a)];
  }
  return 0;
}

}  // namespace

void thin_out(std::span<double> weights, Index most, double uniform, std::vector<Index>& kept) {
  kept.resize(weights.size());
  std::iota(kept.begin(), kept.end(), Index{0});
  if (static_cast<Index>(weights.size()) <= most) return;
  const double c = threshold(weights, most);
  kept.clear();
  double sum = 0;
  double point = c * uniform;  // systematic: the weights below c cover points at distances of c
  double covered = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const bool is_large = weights[i] >= c;
    if (!is_large) {
      covered += weights[i];
      if (covered <= point) continue;
      point += c;
      weights[i] = c;
    }
    if (weights[i] == 0) continue;
    sum += weights[i];
    kept.push_back(static_cast<Index>(i));
  }
  for (const Index i : kept) weights[static_cast<std::size_t>(i)] /= sum;
}

}  // namespace headwater
