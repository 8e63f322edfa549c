#pragma once

#include <cstdint>
#include <vector>

#include "headwater/core/matrix.hpp"
#include "headwater/smoothers/statistics.hpp"

namespace headwater {

// When a smoother that works backward over a window of observations does so.
struct WindowOptions {
  // A statistic is taken when this many later observations are in. 0: as many as the tolerance
  // asks for.
  Index lag = 0;
  // How much of a difference between two laws of the state may survive `lag` steps of the chain
  // before the data are seen: lag = log(tolerance) / log(contraction), at most max_lag.
  double tolerance = 1e-6;
  Index max_lag = 200;
  // Observations between two updates of the statistics. 0: from the smallest block at the beginning
  // to 64, as the stream gets longer and each observation changes less.
  Index block = 0;
  Index smallest_block = 16;
};

// The lag that a chain of this contraction needs.
Index window_lag(const WindowOptions& options, double contraction);
Index window_block(const WindowOptions& options, std::int64_t observations);

// What each of the observations to enter counts for, oldest first: its step size gamma_t times
// (1 - gamma_r) of all after it. Discounts the statistics so far accordingly, and counts the
// observations in.
void enter_observations(const std::vector<double>& step_sizes, std::vector<double>& coefficients,
                        Statistics& statistics);

}  // namespace headwater
