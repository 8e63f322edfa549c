#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "headwater/matrix.hpp"
#include "headwater/report/thinned_table.hpp"

// What a report shows of a stream. state_json.hpp writes it down; docs/state.md explains it.
namespace headwater {

// A cell of a surprising observation: what was expected of it, and what came.
struct UnusualCell {
  Index channel = 0;
  double expected = 0;
  double seen = 0;
  double deviation = 0;  // (seen - expected) / standard deviation
};

struct SurprisingRow {
  std::int64_t t = 0;  // from 1
  double time = 0;
  double tail_probability = 1;
  double log_predictive = 0;
  std::vector<UnusualCell> cells;  // the most unusual first
};

// A channel's counts beside their predictions.
struct ChannelPrediction {
  Index channel = 0;
  std::string rank;      // "worst", "median", "best"
  double explained = 0;  // see StreamReport::explained
};

// The rows that were read last, of all channels.
struct RecentRows {
  std::int64_t first = 0;  // the number of the first of them, from 0
  std::vector<double> times;
  Matrix seen;      // M x R, NaN where a cell is missing
  Matrix expected;  // M x R: given all before them
};

struct ForecastReport {
  Index horizon = 0;
  std::vector<double> levels;     // of the quantiles
  std::vector<Index> channels;    // M stands for the sum of all channels
  std::vector<Matrix> quantiles;  // one a channel: horizon x levels
  Matrix means;                   // horizon x channels
};

// How the particles or the beam did, an observation.
struct EngineHealth {
  enum class Kind { kNone, kParticles, kBeam };
  Kind kind = Kind::kNone;
  Index size = 0;        // number of particles, or states kept
  double resampled = 0;  // part of the steps that began with a resampling
  ThinnedTable series;   // effective size, or lost mass
};

struct StreamReport {
  std::int64_t observations = 0;
  std::int64_t sequences = 0;
  std::int64_t impossible = 0;
  std::int64_t missing_cells = 0;
  double log_likelihood = 0;  // of the observations that were possible

  Vector shares;  // of all counts, by component, background last: they sum to 1
  // 1 - sum of (seen - predicted)^2 / sum of (seen - mean of the channel so far)^2, by channel. NaN
  // where a channel was constant or not seen.
  Vector explained;
  double median_explained = 0;  // NaN if no channel has one
  Vector mean_counts;           // by channel; NaN where it was not seen

  ThinnedTable activations;     // E[x_t | y_1..t], a column for each component
  ThinnedTable log_predictive;  // one column
  ThinnedTable seen;            // a column for each channel
  ThinnedTable expected;        // the same of E[y_t | y_1..t-1]
  RecentRows recent;
  std::vector<ChannelPrediction> predictions;
  std::vector<double> tail_probabilities;  // of rows at equal distances, sorted
  std::vector<SurprisingRow> surprises;    // the least tail probability first
  ForecastReport forecast;
  EngineHealth health;
};

}  // namespace headwater
