#pragma once

#include <string>
#include <vector>

#include "headwater/estimate.hpp"

namespace headwater::reference {

// A model to forecast, and what to call it.
struct ForecastCase {
  std::string name;
  Estimate truth;
};

// Every prior, with counts that are Poisson, that have dispersion .3, and that have a season of
// period 7 too. Counts are in the hundreds, so that an interval that ends at a whole number covers
// hardly more than one that ends in between.
std::vector<ForecastCase> forecast_cases();

struct CoverageOptions {
  Index num_streams = 300;
  Index num_seen = 40;  // observations of each stream before the forecast
  std::vector<Index> steps = {1, 10, 100};
  Index num_particles = 300;
  std::uint64_t seed = 1;
};

// How many of so many independent streams, drawn from the truth, have their first channel and their
// sum over channels inside the interval of probability .9 that was forecast for each of the steps.
struct Coverage {
  Index step;
  Index channel_inside;
  Index total_inside;
};
std::vector<Coverage> forecast_coverage(const Estimate& truth, const CoverageOptions& options);

}  // namespace headwater::reference
