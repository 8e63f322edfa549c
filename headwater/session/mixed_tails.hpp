#pragma once

#include "headwater/emission/count_tails.hpp"

namespace headwater {

// Tails of a count whose mean is uncertain: it is one of these, with these probabilities.
CountTails mixed_tails(const VarianceFunction& variance, double y, const Vector& means,
                       const Vector& weights);
// The mean has a gamma law of this mean and variance (`mixing`), or a log-normal one. With a gamma
// law a Poisson count is negative binomial. Otherwise the law is summed up on a grid.
CountTails mixed_tails(const VarianceFunction& variance, double y, double mean, double mixing,
                       bool is_log_normal);

// p(y) of a law that is known by its variance, up to a factor that does not depend on the mean.
double density_by_variance(const VarianceFunction& variance, double y, double mean,
                           const CountTails& tails);

}  // namespace headwater
