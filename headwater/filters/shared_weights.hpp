#pragma once

#include <span>
#include <vector>

#include "headwater/matrix.hpp"
#include "headwater/parallel/thread_pool.hpp"

namespace headwater {

// Weights are summed in parts of this many, whatever the number of threads. Up to so many are one
// part, and nothing of it is shared.
inline constexpr Index kWeightsInAPart = 2048;

// What a filter does with the weights of all its particles, on the threads of a pool.
class SharedWeights {
 public:
  // As normalise_log_weights().
  double normalise(const ThreadPool& pool, std::span<double> log_weights,
                   std::span<double> weights);
  // 1 / sum w^2
  double effective_size(const ThreadPool& pool, std::span<const double> weights);

 private:
  // Calls f(part of the first, ...) for each part and keeps what it returns, in order.
  template <class F>
  std::span<const double> of_parts(const ThreadPool& pool, Index count, const F& f);

  std::vector<double> results_;
};

}  // namespace headwater
