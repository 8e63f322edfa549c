#pragma once

#include <string_view>

#include "headwater/core/matrix.hpp"

// What the priors with a scale share.
namespace headwater {

// Throws UsageError, naming the prior, unless there are K positive and finite numbers.
void check_scale(std::string_view prior, const Vector& scale, Index num_components);

// A scale as it is learned, kept inside [1e-100, 1e100], so that activations and their squares are
// numbers whatever becomes of a component without counts.
double learned_scale(double scale);

}  // namespace headwater
