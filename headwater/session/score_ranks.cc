#include "headwater/session/score_ranks.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>

namespace headwater {

namespace {

constexpr double kLeastRanked = 1e-300;
constexpr double kFarthest = 5;  // times the scale

}  // namespace

double score_of_p(double p) { return -std::log(std::clamp(p, kLeastRanked, 1.0)); }

double rank_among(std::span<const double> sorted, double score) {
  const auto all = static_cast<double>(sorted.size() + 1);
  const std::size_t border = sorted.size() / 10;  // so many scores lie above sorted[border]
  // What is far beyond the scale of most scores counts as what is not quite so far.
  const double scale = (sorted[border] - sorted[sorted.size() / 2]) / std::log(5.0);
  const double farthest = kFarthest * std::max(1.0, scale);
  double excesses = 0;
  for (std::size_t i = 0; i < border; ++i) {
    excesses += std::min(sorted[i] - sorted[border], farthest);
  }
  const double excess = score - sorted[border];
  if (excess > 0) {
    const auto k = static_cast<double>(border);
    excesses = std::max(excesses, k);
    return (k + 1) / all * std::pow(1 + excess / excesses, -k);
  }
  // Not std::ranges::equal_range, which clang 14 does not compile.
  const auto [first, last] = std::equal_range(sorted.begin(), sorted.end(), score, std::greater{});
  return (static_cast<double>(first - sorted.begin()) +
          0.5 * (1 + static_cast<double>(last - first))) /
         all;
}

}  // namespace headwater
