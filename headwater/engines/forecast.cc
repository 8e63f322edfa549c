#include "headwater/engines/forecast.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "headwater/error.hpp"

namespace headwater {

namespace {

// Reorders the draws.
double empirical_quantile(std::vector<double>& draws, double part) {
  const auto size = static_cast<double>(draws.size());
  // A product such as .05 x 4000 may be a little above the whole number that is meant.
  const double rank = std::clamp(std::ceil(part * size - 1e-9 * size), 1.0, size);
  const auto at = draws.begin() + static_cast<std::ptrdiff_t>(rank) - 1;
  std::ranges::nth_element(draws, at);
  return *at;
}

// Into a row of `out`.
void write_quantiles(std::vector<double>& draws, const std::vector<double>& parts, Index row,
                     Matrix& out) {
  for (std::size_t i = 0; i < parts.size(); ++i) {
    out(row, static_cast<Index>(i)) = empirical_quantile(draws, parts[i]);
  }
}

// One count of the channel for each intensity. A level that drifts is as uncertain as the engine
// expects it to be.
void draw_counts(const Engine& engine, Index channel, std::span<const double> intensities,
                 Generator& generator, std::vector<double>& counts) {
  const ExpectedLevels& levels = engine.expected_levels();
  const AnyLaw& law = engine.emission().law();
  if (!levels.any()) {
    for (std::size_t i = 0; i < counts.size(); ++i) {
      counts[i] = law->draw(channel, intensities[i], generator);
    }
    return;
  }
  for (std::size_t i = 0; i < counts.size(); ++i) {
    counts[i] = law->draw_at_level(channel, levels.means[channel] * intensities[i],
                                   levels.dispersions[channel], generator);
  }
}

// The expectation of a count that is no linear function of the activations: over the points of
// their predicted law. Where there are only moments, intensities are taken to have gamma laws.
Vector predicted_over_a_hurdle(const Engine& engine) {
  const Emission& emission = engine.emission_now();
  const ExpectedLevels& levels = engine.expected_levels();
  PredictedActivations x;
  engine.write_prediction(x);
  Vector means(emission.num_channels());
  Vector intensities;
  const Vector mean_activation = engine.predicted_activation();
  const Vector variances = x.has_points() ? Vector() : activation_variances(x, mean_activation);
  for (Index m = 0; m < means.size(); ++m) {
    VarianceFunction law = emission.law()->variance(m);
    if (levels.any()) law.quadratic = levels.dispersions[m];
    const double level = levels.any() ? levels.means[m] : 1;
    const auto row = emission.basis().row(m);
    if (x.has_points()) {
      intensities.noalias() = x.points * row.transpose();
      const auto count = [&](double lambda) { return law.mean_count(level * lambda); };
      means[m] = x.weights.dot(intensities.unaryExpr(count));
      continue;
    }
    const double mean = row.dot(mean_activation);
    const double variance = row.head(variances.size()).cwiseAbs2().dot(variances);
    means[m] = law.mean_count(level * mean, mean > 0 ? variance / (mean * mean) : 0);
  }
  return means;
}

}  // namespace

Vector predicted_observation(const Engine& engine) {
  const AnyLaw& law = engine.emission().law();
  if (law->variance(0).has_hurdle()) return predicted_over_a_hurdle(engine);
  Vector means = engine.emission_now().basis() * engine.predicted_activation();
  if (engine.expected_levels().any()) means.array() *= engine.expected_levels().means.array();
  return means;
}

void ForecastOptions::validate() const {
  for (const double part : quantiles) {
    if (part > 0 && part < 1) continue;
    throw UsageError(
        fmt::format("quantiles: {} found; expected numbers above 0 and below 1", part));
  }
  if (num_draws < 1) throw UsageError(fmt::format("draws is {}; expected 1 or more", num_draws));
}

Forecast::Forecast(const Engine& engine, ForecastOptions options)
    : options_(std::move(options)), engine_(engine.clone()) {
  options_.validate();
  nothing_seen_.assign_missing(engine.emission().num_channels());
}

Forecast::Forecast(const Forecast&) = default;
Forecast::Forecast(Forecast&&) noexcept = default;
Forecast& Forecast::operator=(const Forecast&) = default;
Forecast& Forecast::operator=(Forecast&&) noexcept = default;
Forecast::~Forecast() = default;

void Forecast::next() {
  ++step_;
  nothing_seen_.set_position(engine_->position() + 1);
  engine_->step(nothing_seen_, 0);
}

Vector Forecast::mean() const {
  Vector mean = predicted_observation(*engine_);
  if (options_.with_total) {
    const double total = mean.sum();
    mean.conservativeResize(mean.size() + 1);
    mean[mean.size() - 1] = total;
  }
  return mean;
}

Matrix Forecast::quantiles() const {
  const Emission& emission = engine_->emission_now();
  const Index num_channels = emission.num_channels();
  const RandomStream random(options_.seed);
  const auto time = static_cast<std::uint64_t>(step_);

  Matrix activations(options_.num_draws, emission.num_columns());
  Generator of_activations = random.at(time, 0, Purpose::forecast_activations);
  engine_->sample_predicted(of_activations, activations);

  Matrix quantiles(num_channels + (options_.with_total ? 1 : 0),
                   static_cast<Index>(options_.quantiles.size()));
  std::vector<double> draws(static_cast<std::size_t>(options_.num_draws));
  std::vector<double> totals(options_.with_total ? draws.size() : 0);
  Vector intensities;
  for (Index m = 0; m < num_channels; ++m) {
    Generator of_counts = random.at(time, static_cast<std::uint32_t>(m), Purpose::forecast_counts);
    intensities.noalias() = activations * emission.basis().row(m).transpose();
    draw_counts(*engine_, m, as_span(intensities), of_counts, draws);
    for (std::size_t i = 0; i < totals.size(); ++i) totals[i] += draws[i];
    write_quantiles(draws, options_.quantiles, m, quantiles);
  }
  if (options_.with_total) {
    write_quantiles(totals, options_.quantiles, num_channels, quantiles);
  }
  return quantiles;
}

Matrix forecast_means(const Engine& engine, Index horizon) {
  Forecast forecast(engine, {});
  Matrix means(engine.emission().num_channels(), horizon);
  for (Index h = 0; h < horizon; ++h) {
    forecast.next();
    means.col(h) = forecast.mean();
  }
  return means;
}

}  // namespace headwater
