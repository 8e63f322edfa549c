#pragma once

#include "headwater/core/conformance_report.hpp"
#include "headwater/emission/any_law.hpp"

namespace headwater {

// Checks that what a law of the counts offers is consistent with itself. The project's own laws are
// tested by this very function; run it on yours in a test.
//
//   every law        gain - loss is the derivative of log_density, neither is negative
//   every law        information is the expectation of the squared slope, and draws have the mean
//                    and the variance that the law says (by draws, see alarm_rate)
//   every law        what engines ask of blocks of activations is what the cells say: with missing
//                    cells, exposures and channels without a count
//   every law        one multiplicative update of the basis does not lower the likelihood
//   learnable        parameters can be read and set back, an unknown name is refused; statistics
//                    grow with the weight; the M-step on statistics of the law's own draws gives
//                    these no lower likelihood, does not depend on a common factor and does nothing
//                    where all statistics are zero; what is held stays
//
// num_channels: what the law was made for, if it has parameters of its own for each channel; else
// any number.
ConformanceReport check_emission(const AnyLaw& law, const ConformanceOptions& options = {},
                                 Index num_channels = 5);

}  // namespace headwater
