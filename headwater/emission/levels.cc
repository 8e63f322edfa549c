#include "headwater/emission/levels.hpp"

#include <algorithm>
#include <cmath>

#include "headwater/emission/hurdle.hpp"
#include "headwater/emission/hurdle_terms.hpp"
#include "headwater/emission/negative_binomial.hpp"
#include "headwater/emission/negative_binomial_terms.hpp"

namespace headwater {

namespace {

// A level stays within numbers that exposures can be multiplied by.
constexpr double kSmallestLevel = 1e-12;
// How much the dispersions differ between which a difference is taken, on the logarithmic scale,
// and how much log(rho / (1 - rho)) does: half of it on each side.
constexpr double kDispersionApart = 0.8;
constexpr double kPersistenceApart = 0.8;
constexpr double kLeastPersistence = 1e-3;
constexpr double kLargestPersistence = 0.9999;
// The weak prior of log(rho / (1 - rho)).
constexpr double kUsualOdds = 1.5;  // rho = .82
constexpr double kPriorPrecision = 0.25;
constexpr double kLargestMove = 1;
// Of whether there is a count, where it is almost certain.
constexpr double kLeastVarianceOfPresence = 1e-12;

double at(const Vector& values, Index m) { return values.size() == 1 ? values[0] : values[m]; }

double log_odds(double rho) {
  rho = std::clamp(rho, kLeastPersistence, kLargestPersistence);
  return std::log(rho / (1 - rho));
}

double from_log_odds(double odds) {
  return std::clamp(1 / (1 + std::exp(-odds)), kLeastPersistence, kLargestPersistence);
}

void check_levels(StateArchive& archive, const Vector& values, double least) {
  archive.expect(values.allFinite() && (values.array() >= least).all(),
                 "invalid levels of channels");
}

}  // namespace

void LevelFilter::predict(const Vector& dispersions, double persistence) {
  const double rho = has_begun_ ? persistence : 0;
  has_begun_ = true;
  for (Index m = 0; m < means_.size(); ++m) {
    const double phi = at(dispersions, m);
    const double mean = means_[m];
    variances_[m] = phi * (1 - rho) * ((1 - rho) + 2 * rho * mean) + rho * rho * variances_[m];
    means_[m] = std::max(1 + rho * (mean - 1), kSmallestLevel);
  }
}

// Gamma(a, b) with mean a / b and variance a / b^2 becomes Gamma(a + count, b + exposure
// intensity).
void LevelFilter::update(Index channel, double count, double exposure, double intensity) {
  const double mean = means_[channel];
  const double variance = variances_[channel];
  if (tells_ == Tells::kPresence && count > 0) {
    const double mu = exposure * intensity * mean;
    const double phi = dispersion(channel);
    means_[channel] = std::max(mean * hurdle::level_if_present(mu, phi), kSmallestLevel);
    variances_[channel] = mean * mean * hurdle::level_variance_if_present(mu, phi);
    return;
  }
  const double below = mean + variance * exposure * intensity;
  means_[channel] = std::max((mean * mean + variance * count) / below, kSmallestLevel);
  variances_[channel] = means_[channel] * variance / below;
}

double LevelFilter::log_density(Index channel, double count, double exposure,
                                double intensity) const {
  const double mean = exposure * intensity * means_[channel];
  const double phi = dispersion(channel);
  const double silence = -negative_binomial::softened(mean, phi);
  if (count == 0) return silence;
  if (tells_ == Tells::kPresence) return hurdle::log_presence(mean, phi);
  return silence + negative_binomial::rising_logs(count, phi) +
         count * (std::log(mean) - std::log1p(phi * mean));
}

void LevelFilter::exchange(StateArchive& archive) {
  const Index size = means_.size();
  archive(means_, variances_, has_begun_);
  check_levels(archive, means_, kSmallestLevel);
  check_levels(archive, variances_, 0);
  archive.expect(means_.size() == size && variances_.size() == size, "levels of other channels");
}

bool drifts(const AnyLaw& law) {
  return law->name() == NegativeBinomial::kDrifting || law->name() == Hurdle::kDrifting;
}

Tells tells_of_levels(const AnyLaw& law) {
  return law->name() == Hurdle::kDrifting ? Tells::kPresence : Tells::kCount;
}

DriftParameters drift_parameters(const AnyLaw& law) {
  const Parameters parameters = law.parameters();
  return {find_parameter(parameters, "dispersion")->value.reshaped(),
          find_parameter(parameters, NegativeBinomial::kPersistence)->value(0)};
}

DriftScores::DriftScores(Index num_channels, Tells tells)
    : of_dispersion_{LevelFilter(num_channels, tells), LevelFilter(num_channels, tells),
                     kDispersionApart},
      of_persistence_{LevelFilter(num_channels, tells), LevelFilter(num_channels, tells),
                      kPersistenceApart},
      averages_(Vector::Zero(num_statistics(num_channels))) {}

void DriftScores::restart() {
  for (Pair* const pair : {&of_dispersion_, &of_persistence_}) {
    pair->more.restart();
    pair->less.restart();
  }
}

void DriftScores::predict(const DriftParameters& parameters) {
  const double factor = std::exp(kDispersionApart / 2);
  const double odds = log_odds(parameters.persistence);
  of_dispersion_.more.predict(factor * parameters.dispersions, parameters.persistence);
  of_dispersion_.less.predict(parameters.dispersions / factor, parameters.persistence);
  of_persistence_.more.predict(parameters.dispersions, from_log_odds(odds + kPersistenceApart / 2));
  of_persistence_.less.predict(parameters.dispersions, from_log_odds(odds - kPersistenceApart / 2));
}

double DriftScores::Pair::information(Index channel, double exposure, double intensity) const {
  const double phi = std::sqrt(more.dispersion(channel) * less.dispersion(channel));
  const double mean =
      exposure * intensity * std::sqrt(more.means()[channel] * less.means()[channel]);
  if (more.tells() == Tells::kPresence) {
    const auto presence = [&](const LevelFilter& levels) {
      return hurdle::presence(exposure * intensity * levels.means()[channel],
                              levels.dispersion(channel));
    };
    const double by_presence = (presence(more) - presence(less)) / apart;
    const double present = hurdle::presence(mean, phi);
    return by_presence * by_presence / (present * (1 - present) + kLeastVarianceOfPresence);
  }
  const double by_mean = std::log(more.means()[channel] / less.means()[channel]) / apart;
  const double by_dispersion = (more.dispersion(channel) - less.dispersion(channel)) / apart;
  return by_mean * by_mean * mean / (1 + phi * mean) +
         by_dispersion * by_dispersion *
             negative_binomial::dispersion_information(mean, phi,
                                                       negative_binomial::information_limit(phi));
}

DriftScores::Pair::Score DriftScores::Pair::update(Index channel, double count, double exposure,
                                                   double intensity) {
  Score score;
  score.slope = (more.log_density(channel, count, exposure, intensity) -
                 less.log_density(channel, count, exposure, intensity)) /
                apart;
  score.information = information(channel, exposure, intensity);
  more.update(channel, count, exposure, intensity);
  less.update(channel, count, exposure, intensity);
  return score;
}

void DriftScores::update(const Observation& y, const Vector& intensities,
                         const DriftParameters& parameters, double step_size) {
  averages_ *= 1 - step_size;
  const double odds = log_odds(parameters.persistence);
  double odds_score = 0;
  double odds_information = 0;
  for_each_seen(y, [&](Index m, double count, double exposure) {
    const double intensity = intensities[m];
    if (!(intensity > 0)) return;
    const double phi = at(parameters.dispersions, m);
    if (!(phi > 0)) return;
    const Pair::Score own = of_dispersion_.update(m, count, exposure, intensity);
    averages_[2 * m] += step_size * (own.information + own.slope) / phi;
    averages_[2 * m + 1] += step_size * own.information / (phi * phi);
    const Pair::Score shared = of_persistence_.update(m, count, exposure, intensity);
    odds_score += shared.slope;
    odds_information += shared.information;
  });
  averages_[averages_.size() - 2] += step_size * (odds_information * odds + odds_score);
  averages_[averages_.size() - 1] += step_size * odds_information;
}

void DriftScores::exchange(StateArchive& archive) {
  const Index size = averages_.size();
  archive(of_dispersion_.more, of_dispersion_.less, of_persistence_.more, of_persistence_.less,
          averages_);
  archive.expect(averages_.size() == size && averages_.allFinite(), "scores of other channels");
}

double next_persistence(std::span<const double> statistics, double observations, double now) {
  if (!(statistics[1] > 0)) return now;
  const double odds = log_odds(now);
  const double wish = (observations * statistics[0] + kPriorPrecision * kUsualOdds) /
                      (observations * statistics[1] + kPriorPrecision);
  return from_log_odds(std::clamp(wish, odds - kLargestMove, odds + kLargestMove));
}

}  // namespace headwater
