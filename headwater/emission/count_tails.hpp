#pragma once

#include "headwater/block_law.hpp"

namespace headwater {

// The probabilities of smaller counts than y, of y, and of larger ones. They sum to 1; each is
// accurate by itself, also where it is tiny.
struct CountTails {
  double below = 0;
  double at = 1;
  double above = 0;

  // The count falls at random within its own probability, so that P(Y <= y) is uniform on (0, 1)
  // even if counts are few: `uniform` in (0, 1). The smaller side's probability; half of what a
  // two-sided test says.
  double smaller_side(double uniform) const;
  bool is_above(double uniform) const { return above + (1 - uniform) * at < below + uniform * at; }
  // The two-sided probability with half of the count's own on either side.
  double two_sided() const;

  CountTails& add(double weight, const CountTails& other);
};

// From sums of count and mean beyond this on, a gamma law stands for a law of counts.
inline constexpr double kLargeSum = 1e4;

// Of the negative binomial law; Poisson's for dispersion 0. A y between whole numbers has no
// probability of its own; it cuts that of the whole number below it in two. From kLargeSum on,
// a shifted gamma law of the same mean, variance and skewness stands for the law.
CountTails negative_binomial_tails(double y, double mean, double dispersion);

// Of the hurdle law, whose intensity has this mean and dispersion (see Hurdle).
CountTails hurdle_tails(double y, double mean, double dispersion, double excess);

// Of a law that is known by its variance: a hurdle law if it has a hurdle, negative binomial if a
// count of small mean has the variance of Poisson's law, otherwise normal.
CountTails tails_by_variance(const VarianceFunction& variance, double y, double mean);

}  // namespace headwater
