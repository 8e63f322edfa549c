// How often intervals of probability .9 hold what comes.
//
//   bench_forecasts [STREAMS [PARTICLES]]             simulated streams of every prior, true model
//   bench_forecasts PRIOR COMPONENTS FILE [FILE]...   real ones; FILE:P has the period P
//
// A real stream is fitted on its first half. In the second half, forecasts are made from 200 rows,
// with the model as it is, and looked at 1 and 10 rows later. Counts are whole numbers, and an
// interval that ends at one covers a part of it: a zero that is drawn with probability .5 lies with
// .45 of that inside.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>

#include "headwater/inference.hpp"
#include "headwater/reference/forecast_coverage.hpp"
#include "headwater/session.hpp"
#include "headwater/source.hpp"

namespace {

using namespace headwater;

constexpr double kProbability = 0.9;
constexpr Index kOrigins = 200;
constexpr Index kSteps[] = {1, 10};

void simulated(Index num_streams, Index num_particles) {
  reference::CoverageOptions options;
  options.num_streams = num_streams;
  options.num_particles = num_particles;
  const auto n = static_cast<double>(num_streams);
  const double error = std::sqrt(kProbability * (1 - kProbability) / n);
  fmt::print("{} streams, standard error {:.4f}\n{:<34}{:>6}{:>10}{:>7}{:>10}{:>7}\n", num_streams,
             error, "", "steps", "channel", "z", "total", "z");
  for (const reference::ForecastCase& c : reference::forecast_cases()) {
    for (const reference::Coverage& at : reference::forecast_coverage(c.truth, options)) {
      const double channel = static_cast<double>(at.channel_inside) / n;
      const double total = static_cast<double>(at.total_inside) / n;
      fmt::print("{:<34}{:>6}{:>10.4f}{:>7.1f}{:>10.4f}{:>7.1f}\n", c.name, at.step, channel,
                 (channel - kProbability) / error, total, (total - kProbability) / error);
    }
  }
}

constexpr int kLevels = 40;  // quantiles i / 40

std::vector<double> levels() {
  std::vector<double> all;
  for (int i = 1; i < kLevels; ++i) all.push_back(static_cast<double>(i) / kLevels);
  return all;
}

// P(y' < y) and P(y' <= y) follow from the quantiles, to within half a level. A count covers the
// part of what lies between that is in [.05, .95].
struct Share {
  double inside = 0;
  double all = 0;

  void add(double y,
           const Eigen::Ref<const Eigen::RowVectorXd, 0, Eigen::InnerStride<>>& quantiles) {
    const double below = (static_cast<double>((quantiles.array() < y).count()) + 0.5) / kLevels;
    const double up_to = (static_cast<double>((quantiles.array() <= y).count()) + 0.5) / kLevels;
    ++all;
    if (below == up_to) {
      inside += below > 0.05 && below < 0.95;
    } else {
      const double overlap = std::min(up_to, 0.95) - std::max(below, 0.05);
      inside += std::max(overlap, 0.0) / (up_to - below);
    }
  }
};

void real(const std::string& prior, Index components, const std::string& given) {
  const std::size_t colon = given.find(':');
  const std::string file = given.substr(0, colon);
  Record record;
  const auto source = open_source(file, {.header = HeaderRow::by_names});
  Observation y;
  while (source->next(y)) record.add(y);
  const Index half = record.size() / 2;

  Config config;
  config.prior.name = prior;
  config.num_components = components;
  if (colon != std::string::npos) {
    config.season.periods.push_back(Period::parse(given.substr(colon + 1)));
  }
  Session session(config);
  for (Index t = 0; t < half; ++t) session.update(record[t]);
  session.finish();
  const Model model = session.model();

  ModelFilter filter(model.reported, model.background);
  const Index last = record.size() - 10;
  const Index every = std::max<Index>(1, (last - half) / kOrigins);
  std::map<Index, Share> cells;
  std::map<Index, Share> totals;
  std::vector<double> counts(static_cast<std::size_t>(record.num_channels()));
  for (Index t = 0; t < last; ++t) {
    filter.step(record[t]);
    if (t + 1 < half || (t + 1 - half) % every != 0) continue;
    Forecast forecast =
        filter.forecast({.quantiles = levels(), .with_total = true, .num_draws = 999});
    for (const Index step : kSteps) {
      while (forecast.step() < step) forecast.next();
      const Matrix quantiles = forecast.quantiles();
      record[t + step].write_counts(counts);
      double total = 0;
      for (Index m = 0; m < record.num_channels(); ++m) {
        const double count = counts[static_cast<std::size_t>(m)];
        total += count;
        if (!std::isnan(count)) cells[step].add(count, quantiles.row(m));
      }
      if (!std::isnan(total)) {
        totals[step].add(total, quantiles.row(record.num_channels()));
      }
    }
  }
  for (const Index step : kSteps) {
    fmt::print("{:<44}{:>6}{:>10.3f}{:>10.3f}\n", file.substr(file.rfind('/') + 1), step,
               cells[step].inside / cells[step].all, totals[step].inside / totals[step].all);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc <= 3) {
    simulated(argc > 1 ? std::atol(argv[1]) : 2000, argc > 2 ? std::atol(argv[2]) : 1000);
    return 0;
  }
  fmt::print("{:<44}{:>6}{:>10}{:>10}\n", "", "steps", "cells", "total");
  for (int i = 3; i < argc; ++i) {
    real(argv[1], std::atol(argv[2]), argv[i]);
    std::fflush(stdout);
  }
  return 0;
}
