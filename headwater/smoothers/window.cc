#include "headwater/smoothers/window.hpp"

#include <algorithm>
#include <cmath>

#include "headwater/emission/levels.hpp"

namespace headwater {

namespace {

constexpr Index kLargestBlock = 64;
// A new block is small beside what came before it: at most one part in so many.
constexpr Index kBlocksSoFar = 32;

}  // namespace

WindowOptions window_under(const AnyLaw& law, WindowOptions options) {
  if (drifts(law)) options.smallest_block = 1;
  return options;
}

Index window_lag(const WindowOptions& options, double contraction) {
  if (options.lag > 0) return options.lag;
  if (contraction <= options.tolerance) return 1;
  if (contraction >= 1) return options.max_lag;
  const double steps = std::ceil(std::log(options.tolerance) / std::log(contraction));
  return static_cast<Index>(std::clamp(steps, 1.0, static_cast<double>(options.max_lag)));
}

Index window_block(const WindowOptions& options, std::int64_t observations) {
  if (options.block > 0) return options.block;
  return std::clamp<Index>(observations / kBlocksSoFar, options.smallest_block, kLargestBlock);
}

void enter_observations(std::span<const double> step_sizes, std::span<double> coefficients,
                        Statistics& statistics) {
  double kept = 1;
  for (std::size_t t = step_sizes.size(); t-- > 0;) {
    coefficients[t] = step_sizes[t] * kept;
    kept *= 1 - step_sizes[t];
  }
  statistics.discount(kept);
  for (const double coefficient : coefficients) statistics.count_observation(coefficient);
}

}  // namespace headwater
