#pragma once

#include <cstdint>

#include "headwater/any_prior.hpp"

namespace headwater::reference {

// A simulated record, M x T.
Matrix simulate_record(const AnyPrior& prior, const Matrix& basis, Index length,
                       std::uint64_t seed);

// A starting basis near `basis`: each entry is multiplied by exp(spread * normal).
Matrix perturbed(const Matrix& basis, double spread, std::uint64_t seed);

// The largest difference divided by the largest element, to compare whole matrices.
double largest_relative_difference(const Matrix& a, const Matrix& b);

}  // namespace headwater::reference
