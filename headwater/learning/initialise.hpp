#pragma once

#include <cstdint>

#include "headwater/any_prior.hpp"

namespace headwater {

// A random start on the scale of the data. observations: M x n, NaN where a cell is missing.
// B(m, k) = mean count of channel m / sum_k E[x_k], times a uniform number on (0, 2). Every entry
// is positive, even for a channel with no counts so far, since a zero could never be left again.
Matrix random_start(const Eigen::Ref<const Matrix>& observations, const AnyPrior& prior,
                    std::uint64_t seed);

// A background column to start from: a tenth of the mean counts.
Vector background_start(const Eigen::Ref<const Matrix>& observations);

}  // namespace headwater
