#pragma once

#include "headwater/any_prior.hpp"

namespace headwater {

// What activations are like under the law that a prior starts in.

// So many of them, one a row; the same ones each time.
Matrix draw_activations(const AnyPrior& prior, Index count);

// E[x], exactly for a finite prior, by simulation elsewhere.
Vector mean_activation(const AnyPrior& prior);

// The variance of each component, by simulation.
Vector activation_variances(const AnyPrior& prior);

}  // namespace headwater
