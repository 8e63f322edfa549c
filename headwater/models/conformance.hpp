#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "headwater/models/any_prior.hpp"

namespace headwater {

struct ConformanceOptions {
  std::uint64_t seed = 1;
  // Chance of a false finding, over all checks by simulation of one call together.
  double alarm_rate = 1e-6;
  int num_draws = 20000;
};

// What is wrong with a prior, one sentence each; nothing if it conforms.
struct ConformanceReport {
  std::vector<std::string> findings;
  bool passed() const { return findings.empty(); }
};

// Checks that what a prior offers is consistent with itself. The project's own priors are tested by
// this very function; run it on yours in a test.
//
//   every prior      sizes fit; activations are finite and nonnegative; parameters can be read and
//                    set back, a copy does not share them, an unknown name is refused
//   every prior      the law of the activations is the same at the start and 20 steps on
//                    (Kolmogorov-Smirnov, see alarm_rate)
//   with a density   densities of its own draws are finite and within the bound, if there is one
//   learnable        the M-step on statistics of its own draws gives them no lower probability,
//                    but for 50 nats that a consistent estimate other than the maximum may lose;
//                    a parameter that is held stays
//   with a scale     activations are in law those of the unit law times the scale
//                    (Kolmogorov-Smirnov, see alarm_rate); the density follows it; the M-step
//                    learns it if it is free and is then no worse, and leaves it if it is held
//   guided           worths are the integrals, and draws follow the law, that the prior's own draws
//                    give the guide's function; draws nearby are reversible (within six standard
//                    errors each)
//   finite           laws sum to one; the start is a stationary law; draws follow the transition
//                    matrix (chi-square, see alarm_rate)
//   learnable        the M-step on counts of moves is a maximum: no parameter moved by a little
//   and finite       gives those counts a higher probability; and it finds the parameters again
//                    from the counts that they are expected to give
ConformanceReport check_prior(const AnyPrior& prior, const ConformanceOptions& options = {});

}  // namespace headwater
