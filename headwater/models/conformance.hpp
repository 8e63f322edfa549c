#pragma once

#include "headwater/core/conformance_report.hpp"
#include "headwater/models/any_prior.hpp"

namespace headwater {

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
ConformanceReport check_prior(const AnyPrior& prior, const ConformanceOptions& options = {});

}  // namespace headwater
