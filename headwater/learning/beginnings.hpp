#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "headwater/any_law.hpp"
#include "headwater/any_prior.hpp"
#include "headwater/parallel/thread_pool.hpp"

namespace headwater {

inline constexpr const char* kCumulants = "cumulants";

// A basis that a search for a start begins with.
struct Beginning {
  std::string name;  // kCumulants, "factorisation", "random 1", ...
  Matrix basis;
  bool is_factorised = false;
};

// From cumulants of the counts, from classical factorisation, and at random (at least one).
// observations: M x T
// rates, NaN where a cell is missing.
std::vector<Beginning> beginnings(const Eigen::Ref<const Matrix>& observations,
                                  const AnyPrior& prior, const AnyLaw& law, std::uint64_t seed,
                                  Index random_starts, const ThreadPool& pool);

}  // namespace headwater
