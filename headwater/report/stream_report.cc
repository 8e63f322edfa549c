#include "headwater/report/stream_report.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "headwater/engines/engine.hpp"

namespace headwater {

namespace {

const double kNothing = std::numeric_limits<double>::quiet_NaN();

constexpr std::size_t kSurprisesShown = 12;
constexpr Index kForecastChannels = 40;
constexpr Index kShortestForecast = 12;
constexpr Index kDefaultForecast = 24;
constexpr Index kLongestForecast = 200;
// Draws for the quantiles of a forecast: as many as make about this many counts of channels in all,
// so that the forecast of many channels does not cost more than what it follows from.
constexpr Index kForecastCounts = 40'000'000;
constexpr Index kFewestDraws = 250;
constexpr Index kMostDraws = 4000;

// So many buckets that a table of them has about this many cells.
Index buckets_for(Index columns, Index cells, Index fewest, Index most) {
  return std::clamp(cells / std::max<Index>(columns, 1), fewest, most);
}

std::vector<Index> periods_of(const Season& season) {
  std::vector<Index> periods;
  for (const Matrix& profile : season.profiles()) periods.push_back(profile.cols());
  return periods;
}

Index horizon_for(const std::vector<Index>& periods) {
  if (periods.empty()) return kDefaultForecast;
  return std::clamp(std::ranges::max(periods), kShortestForecast, kLongestForecast);
}

}  // namespace

StreamReporter::StreamReporter(const Model& model, const StreamReportOptions& options)
    : options_(options),
      num_channels_(model.num_channels()),
      num_components_(model.num_components()),
      periods_(periods_of(model.reported.season)),
      filter_(options.last ? model.last : model.reported, model.background, options.engine,
              options.seed),
      surprises_(num_channels_),
      most_recent_(buckets_for(num_channels_, Index{1} << 19, 48, 400)) {
  filter_.set_phase(options.phase);
  report_.activations =
      ThinnedTable(num_components_, buckets_for(num_components_, 24'000, 256, 3000));
  report_.log_predictive = ThinnedTable(1, 2000);
  report_.health.series = ThinnedTable(1, 1000);
  const Index buckets = buckets_for(num_channels_, Index{1} << 19, 16, 1000);
  report_.seen = ThinnedTable(num_channels_, buckets);
  report_.expected = ThinnedTable(num_channels_, buckets);
  report_.shares = Vector::Zero(filter_.engine().emission().num_columns());
  seen_.resize(static_cast<std::size_t>(num_channels_));
  exposures_.resize(seen_.size());
  for (Vector* sums :
       {&counts_, &exposed_, &seen_cells_, &squared_errors_, &squared_errors_of_mean_}) {
    *sums = Vector::Zero(num_channels_);
  }
  report_.recent.seen.resize(num_channels_, most_recent_);
  report_.recent.expected.resize(num_channels_, most_recent_);
  report_.recent.times.resize(static_cast<std::size_t>(most_recent_));
}

void StreamReporter::add(const Observation& y) {
  const FilterStep step = filter_.step(y);
  report_.sequences += report_.observations == 0 || y.begins_sequence();
  ++report_.observations;
  report_.impossible += step.impossible;
  if (!step.impossible) report_.log_likelihood += step.log_predictive;
  y.write_counts(seen_);
  y.write_exposures(exposures_);
  expected_ = filter_.predicted_observation();
  expected_.array() *= Eigen::Map<const Vector>(exposures_.data(), num_channels_).array();
  add_predictions(y.time());
  report_.activations.add(as_span(filter_.filtered_activation()), y.time());
  const double log_predictive = step.impossible || !y.any_seen() ? kNothing : step.log_predictive;
  report_.log_predictive.add(std::span(&log_predictive, 1), y.time());
  add_shares();
  add_health(step, y.time());
  add_to_recent(y.time());
  surprises_.add(filter_, y, report_.observations, step, expected_);
}

void StreamReporter::add_predictions(double time) {
  for (Index m = 0; m < num_channels_; ++m) {
    const double seen = seen_[static_cast<std::size_t>(m)];
    const double exposure = exposures_[static_cast<std::size_t>(m)];
    if (std::isnan(seen)) {
      ++report_.missing_cells;
      expected_[m] = kNothing;
      continue;
    }
    if (exposed_[m] > 0) {
      const double mean_so_far = exposure * counts_[m] / exposed_[m];
      squared_errors_[m] += (seen - expected_[m]) * (seen - expected_[m]);
      squared_errors_of_mean_[m] += (seen - mean_so_far) * (seen - mean_so_far);
    }
    counts_[m] += seen;
    exposed_[m] += exposure;
    seen_cells_[m] += 1;
  }
  report_.seen.add(seen_, time);
  report_.expected.add(as_span(expected_), time);
}

// How many counts each component adds to this observation, on average.
void StreamReporter::add_shares() {
  const Engine& engine = filter_.engine();
  report_.shares.array() +=
      engine.filtered_activation().array() * engine.emission_now().column_sums().array();
}

void StreamReporter::add_health(const FilterStep& step, double time) {
  EngineHealth& health = report_.health;
  if (const ParticleReport* particles = step.particles()) {
    health.kind = EngineHealth::Kind::kParticles;
    health.size = options_.engine.num_particles;
    resampled_ += particles->resampled;
    health.series.add(std::span(&particles->effective_size, 1), time);
  } else if (const BeamReport* beam = step.beam()) {
    health.kind = EngineHealth::Kind::kBeam;
    health.size = options_.engine.beam_width;
    health.series.add(std::span(&beam->lost_mass, 1), time);
  }
}

void StreamReporter::add_to_recent(double time) {
  const auto at = static_cast<Index>((report_.observations - 1) % most_recent_);
  report_.recent.seen.col(at) = Eigen::Map<const Vector>(seen_.data(), num_channels_);
  report_.recent.expected.col(at) = expected_;
  report_.recent.times[static_cast<std::size_t>(at)] = time;
}

// Brings the ring into the order of time.
void StreamReporter::finish_recent() {
  RecentRows& recent = report_.recent;
  const auto rows = static_cast<Index>(std::min<std::int64_t>(report_.observations, most_recent_));
  RecentRows in_order = {
      report_.observations - rows, {}, Matrix(num_channels_, rows), Matrix(num_channels_, rows)};
  for (Index i = 0; i < rows; ++i) {
    const auto at = static_cast<Index>((in_order.first + i) % most_recent_);
    in_order.seen.col(i) = recent.seen.col(at);
    in_order.expected.col(i) = recent.expected.col(at);
    in_order.times.push_back(recent.times[static_cast<std::size_t>(at)]);
  }
  recent = std::move(in_order);
}

void StreamReporter::finish_predictions() {
  report_.explained = Vector::Constant(num_channels_, kNothing);
  report_.mean_counts = Vector::Constant(num_channels_, kNothing);
  std::vector<Index> order;
  for (Index m = 0; m < num_channels_; ++m) {
    if (seen_cells_[m] > 0) report_.mean_counts[m] = counts_[m] / seen_cells_[m];
    if (!(squared_errors_of_mean_[m] > 0)) continue;
    report_.explained[m] = 1 - squared_errors_[m] / squared_errors_of_mean_[m];
    order.push_back(m);
  }
  std::ranges::stable_sort(
      order, [&](Index a, Index b) { return report_.explained[a] < report_.explained[b]; });
  report_.median_explained = kNothing;
  if (order.empty()) return;
  const auto show = [&](std::size_t place, const char* rank) {
    report_.predictions.push_back({order[place], rank, report_.explained[order[place]]});
  };
  report_.median_explained = (report_.explained[order[(order.size() - 1) / 2]] +
                              report_.explained[order[order.size() / 2]]) /
                             2;
  show(order.size() - 1, "best");
  if (order.size() > 2) show(order.size() / 2, "median");
  if (order.size() > 1) show(0, "worst");
}

// The sum of all channels, and the channels with most counts.
void StreamReporter::finish_forecast() {
  ForecastReport& forecast = report_.forecast;
  forecast.horizon = options_.horizon > 0 ? options_.horizon : horizon_for(periods_);
  forecast.levels = {0.05, 0.25, 0.5, 0.75, 0.95};
  std::vector<Index> channels(static_cast<std::size_t>(num_channels_));
  for (Index m = 0; m < num_channels_; ++m) channels[static_cast<std::size_t>(m)] = m;
  if (num_channels_ > kForecastChannels) {
    std::ranges::stable_sort(channels, [&](Index a, Index b) { return counts_[a] > counts_[b]; });
    channels.resize(kForecastChannels);
    std::ranges::sort(channels);
  }
  if (num_channels_ > 1) channels.insert(channels.begin(), num_channels_);
  forecast.channels = channels;
  const auto num_levels = static_cast<Index>(forecast.levels.size());
  forecast.means.resize(forecast.horizon, static_cast<Index>(channels.size()));
  forecast.quantiles.assign(channels.size(), Matrix(forecast.horizon, num_levels));
  Forecast ahead = filter_.forecast(
      {.quantiles = forecast.levels,
       .with_total = num_channels_ > 1,
       .num_draws = std::clamp(kForecastCounts / (num_channels_ * forecast.horizon), kFewestDraws,
                               kMostDraws),
       .seed = options_.seed});
  for (Index h = 0; h < forecast.horizon; ++h) {
    ahead.next();
    const Vector mean = ahead.mean();
    const Matrix quantiles = ahead.quantiles();
    for (std::size_t i = 0; i < channels.size(); ++i) {
      forecast.means(h, static_cast<Index>(i)) = mean[channels[i]];
      forecast.quantiles[i].row(h) = quantiles.row(channels[i]);
    }
  }
}

StreamReport StreamReporter::finish() {
  finish_recent();
  finish_predictions();
  const double all = report_.shares.sum();
  if (all > 0) report_.shares /= all;
  if (report_.observations > 0) {
    report_.health.resampled =
        static_cast<double>(resampled_) / static_cast<double>(report_.observations);
    finish_forecast();
  }
  report_.tail_probabilities = surprises_.tail_probabilities();
  report_.surprises = surprises_.most_surprising(kSurprisesShown);
  return std::move(report_);
}

}  // namespace headwater
