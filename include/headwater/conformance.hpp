#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "headwater/export.hpp"
#include "headwater/matrix.hpp"

namespace headwater {

class AnyLaw;
class AnyPrior;

// How a conformance check is made, of a prior or of a law of the counts.
struct ConformanceOptions {
  std::uint64_t seed = 1;
  // The probability of a false finding, over all checks by simulation of one call together.
  double alarm_rate = 1e-6;
  int num_draws = 20000;
};

// What is wrong, one sentence each; nothing if it conforms.
struct ConformanceReport {
  std::vector<std::string> findings;
  bool passed() const { return findings.empty(); }
};

// Checks that the functions of a prior are consistent with each other. The project's own priors are
// tested by this function; call it for yours in a test.
//
//   every prior      sizes fit; activations are finite and nonnegative; parameters can be read and
//                    set again, a copy does not share them, an unknown name is refused
//   every prior      activations have the same distribution at the start and 20 steps later
//                    (Kolmogorov-Smirnov, see alarm_rate)
//   with a density   densities of its own draws are finite and within the bound, if there is one
//   learnable        the M-step on statistics of its own draws does not decrease their likelihood,
//                    except for 50 nats that a consistent estimate other than the maximum may lose;
//                    a held parameter does not change
//   with a scale     activations are distributed as those of the unit prior times the scale
//                    (Kolmogorov-Smirnov, see alarm_rate); the density depends on the scale
//                    accordingly; the M-step learns a free scale without decreasing the likelihood
//                    and does not change a held one
//   guided           the guide's integrals and draws agree with the prior's own draws, weighted by
//                    the guide's function; its local moves are reversible (within six standard
//                    errors each)
//   finite           probabilities sum to one; the initial distribution is stationary; draws follow
//                    the transition matrix (chi-square, see alarm_rate)
//   learnable        the M-step on transition counts is a maximum: no small change of a parameter
//   and finite       increases their likelihood; the M-step on expected counts gives back the
//                    parameters
HEADWATER_EXPORT ConformanceReport check_prior(const AnyPrior& prior,
                                               const ConformanceOptions& options = {});

// Checks that the functions of a law of the counts are consistent with each other. The project's
// own laws are tested by this function; call it for yours in a test.
//
//   every law        gain - loss is the derivative of log_density, neither is negative
//   every law        information is the expectation of the squared slope, and draws have the mean
//                    and the variance that the law says (by draws, see alarm_rate)
//   every law        the functions for blocks of activations agree with those for single cells,
//                    also with missing cells, exposures and channels without a count
//   every law        one multiplicative update of the basis does not lower the likelihood
//   learnable        parameters can be read and set again, an unknown name is refused; statistics
//                    are proportional to the weight; the M-step on statistics of the law's own
//                    draws does not decrease their likelihood, does not depend on a common factor
//                    and does nothing if all statistics are zero; a held parameter does not change
//
// num_channels: the number that the law was made for, if it has parameters for each channel; else
// any number.
HEADWATER_EXPORT ConformanceReport check_emission(const AnyLaw& law,
                                                  const ConformanceOptions& options = {},
                                                  Index num_channels = 5);

}  // namespace headwater
