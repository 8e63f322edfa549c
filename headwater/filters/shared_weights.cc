#include "headwater/filters/shared_weights.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "headwater/core/infinity.hpp"
#include "headwater/kernels/log_weights.hpp"

namespace headwater {

namespace {

double sum_in_order(std::span<const double> numbers) {
  return std::accumulate(numbers.begin(), numbers.end(), 0.0);
}

}  // namespace

template <class F>
std::span<const double> SharedWeights::of_parts(const ThreadPool& pool, Index count, const F& f) {
  results_.resize(static_cast<std::size_t>((count + kWeightsInAPart - 1) / kWeightsInAPart));
  for_each_chunk(pool, count, kWeightsInAPart, [&](Index first, Index size, Index part) {
    results_[static_cast<std::size_t>(part)] =
        f(static_cast<std::size_t>(first), static_cast<std::size_t>(size));
  });
  return results_;
}

double SharedWeights::normalise(const ThreadPool& pool, std::span<double> log_weights,
                                std::span<double> weights) {
  const auto count = static_cast<Index>(weights.size());
  if (count <= kWeightsInAPart) return normalise_log_weights(log_weights, weights);
  const double largest =
      std::ranges::max(of_parts(pool, count, [&](std::size_t first, std::size_t size) {
        return make_log_weights_valid(log_weights.subspan(first, size));
      }));
  if (largest == kMinusInfinity) return largest;
  const double sum = sum_in_order(of_parts(pool, count, [&](std::size_t first, std::size_t size) {
    return exponentials_of(log_weights.subspan(first, size), largest, weights.subspan(first, size))
        .sum;
  }));
  const double log_sum = largest + std::log(sum);
  for_each_chunk(pool, count, kWeightsInAPart, [&](Index first, Index size, Index) {
    divide_weights(log_weights.subspan(first, size), log_sum, weights.subspan(first, size), sum);
  });
  return log_sum;
}

double SharedWeights::effective_size(const ThreadPool& pool, std::span<const double> weights) {
  const auto squares = [&](std::size_t first, std::size_t size) {
    return Eigen::Map<const Vector>(weights.data() + first, static_cast<Index>(size)).squaredNorm();
  };
  return 1 / sum_in_order(of_parts(pool, static_cast<Index>(weights.size()), squares));
}

}  // namespace headwater
