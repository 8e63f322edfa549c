#pragma once

#include <string_view>

#include "headwater/matrix.hpp"

// Shared by the priors with a scale.
namespace headwater {

// Throws UsageError, naming the prior, unless there are K positive and finite numbers.
void check_scale(std::string_view prior, const Vector& scale, Index num_components);

// Clamps a learned scale to [1e-100, 1e100], so that activations and their squares stay finite and
// positive even for a component without counts.
double learned_scale(double scale);

}  // namespace headwater
