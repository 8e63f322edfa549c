#pragma once

#include "headwater/emission/count_tails.hpp"

namespace headwater {

// Tails of a count whose mean is uncertain: it is one of these, with these probabilities.
// densities: p(y) of each mean, up to a factor that does not depend on the mean.
CountTails mixed_tails(const VarianceFunction& variance, double y,
                       const Eigen::Ref<const Vector>& means,
                       const Eigen::Ref<const Vector>& weights, Vector* densities = nullptr);
// The mean has a gamma law of this mean and variance (`mixing`), or a log-normal one. With a gamma
// law a Poisson count is negative binomial. Otherwise the law is summed up on a grid.
CountTails mixed_tails(const VarianceFunction& variance, double y, double mean, double mixing,
                       bool is_log_normal);

}  // namespace headwater
