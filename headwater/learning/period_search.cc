#include "headwater/learning/period_search.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "headwater/learning/seasonal_start.hpp"
#include "headwater/season.hpp"

namespace headwater {

namespace {

// A period is seen so many times at least.
constexpr Index kFewestCycles = 4;
constexpr std::size_t kMostPeaks = 8;
constexpr Index kMostMultiple = 10;
// Some hundred candidates are tried, and sixteen stretches have a standard error of their own: by
// chance one in ten thousand is better by five (Student's t).
constexpr double kStandardErrorsOfPeriod = 5;
// The shortest candidate is taken that has this part of the best one's gain: a multiple of the
// period predicts nearly as well.
constexpr double kGoodEnough = 0.8;
// A second period that brings less than this part of what the first one brings is left out.
constexpr double kWorthASecond = 0.1;
constexpr Index kStretches = 16;
// How fast the level of all channels follows the latest observations.
constexpr double kLevelRate = 0.2;
// Frequencies times observations that the periodograms may cost.
constexpr double kMostWaves = 5e7;

// The total of each observation, and of each channel its counts scaled to the variance 1.
struct Series {
  Matrix scaled;  // T x (M + 1), total last; missing cells are at the mean, 0
};

Series series_of(const RecordView& observations) {
  const Matrix rates = observations.rates();  // M x T
  const Index channels = rates.rows();
  Series series{Matrix::Zero(rates.cols(), channels + 1)};
  for (Index m = 0; m < channels; ++m) {
    double sum = 0;
    double squares = 0;
    double seen = 0;
    for (const double rate : rates.row(m)) {
      if (std::isnan(rate)) continue;
      sum += std::sqrt(rate);
      squares += rate;
      seen += 1;
    }
    const double mean = seen > 0 ? sum / seen : 0;
    const double variance = seen > 0 ? squares / seen - mean * mean : 0;
    if (!(variance > 0)) continue;
    for (Index t = 0; t < rates.cols(); ++t) {
      const double rate = rates(m, t);
      if (std::isnan(rate)) continue;
      series.scaled(t, m) = (std::sqrt(rate) - mean) / std::sqrt(variance);
      series.scaled(t, channels) += rate;
    }
  }
  auto total = series.scaled.col(channels);
  total.array() -= total.mean();
  if (total.squaredNorm() > 0) total *= std::sqrt(static_cast<double>(total.size())) / total.norm();
  return series;
}

// Power of the total, plus the mean power of the channels, at so many waves in the record.
double power_at(const Series& series, Index waves) {
  const Index length = series.scaled.rows();
  const double angle =
      2 * std::numbers::pi * static_cast<double>(waves) / static_cast<double>(length);
  Vector cosines(length);
  Vector sines(length);
  for (Index t = 0; t < length; ++t) {
    cosines[t] = std::cos(angle * static_cast<double>(t));
    sines[t] = std::sin(angle * static_cast<double>(t));
  }
  const Vector real = series.scaled.transpose() * cosines;
  const Vector imaginary = series.scaled.transpose() * sines;
  const Vector power = real.cwiseAbs2() + imaginary.cwiseAbs2();
  const Index channels = power.size() - 1;
  return power[channels] + power.head(channels).mean();
}

// Periods at the highest peaks of the periodogram, with their neighbours and multiples.
std::vector<Index> candidates(const RecordView& observations) {
  const Series series = series_of(observations);
  const Index length = series.scaled.rows();
  const Index longest = length / kFewestCycles;
  const auto cost = static_cast<double>(series.scaled.size());
  const Index most_waves =
      std::min<Index>(length / 2, std::max<Index>(64, static_cast<Index>(kMostWaves / cost)));
  Vector powers = Vector::Zero(most_waves + 2);
  for (Index waves = kFewestCycles; waves <= most_waves; ++waves) {
    powers[waves] = power_at(series, waves);
  }
  std::vector<Index> peaks;
  for (Index waves = kFewestCycles; waves <= most_waves; ++waves) {
    if (powers[waves] > powers[waves - 1] && powers[waves] >= powers[waves + 1]) {
      peaks.push_back(waves);
    }
  }
  std::ranges::sort(peaks, std::greater{}, [&](Index waves) { return powers[waves]; });
  if (peaks.size() > kMostPeaks) peaks.resize(kMostPeaks);
  std::vector<Index> periods;
  for (const Index waves : peaks) {
    const double period = static_cast<double>(length) / static_cast<double>(waves);
    for (Index multiple = 1; multiple <= kMostMultiple; ++multiple) {
      const auto near = static_cast<Index>(std::lround(period * static_cast<double>(multiple)));
      for (const Index candidate : {near - 1, near, near + 1}) {
        const bool is_near =
            std::abs(static_cast<double>(candidate) - period * static_cast<double>(multiple)) <=
            1 + period * static_cast<double>(multiple) / static_cast<double>(waves);
        if (is_near && candidate >= 2 && candidate <= std::min(longest, kLongestPeriod)) {
          periods.push_back(candidate);
        }
      }
    }
  }
  std::ranges::sort(periods);
  // Not std::ranges::unique, which clang 14 does not compile.
  periods.erase(std::unique(periods.begin(), periods.end()), periods.end());
  return periods;
}

// How channels scatter around their means in the first two thirds, by moments: of the counts y
// around mu, the sum of (y - mu)^2 - mu over the sum of mu^2.
Vector dispersions_around(const RecordView& observations, const Vector& means) {
  const Index fitted = 2 * observations.size() / 3;
  Vector excess = Vector::Zero(means.size());
  Vector squares = excess;
  for (Index t = 0; t < fitted; ++t) {
    for_each_seen(observations[t], [&](Index m, double count, double exposure) {
      const double mean = means[m] * exposure;
      excess[m] += (count - mean) * (count - mean) - mean;
      squares[m] += mean * mean;
    });
  }
  return (squares.array() > 0).select(excess.array() / squares.array(), 0).max(0);
}

// Negative binomial log-probabilities, up to a constant, of the observations after the first two
// thirds. Their means are those of the first two thirds times the profiles and times the level;
// their dispersions are those of a stream without a season.
Vector predictions_with(const RecordView& observations, const std::vector<Index>& periods) {
  const Index fitted = 2 * observations.size() / 3;
  const std::vector<Matrix> profiles = channel_profiles(observations.first(fitted), periods);
  const Record flat = without_season(observations, profiles);
  Vector counts = Vector::Zero(observations.num_channels());
  Vector exposures = counts;
  for (Index t = 0; t < fitted; ++t) {
    for_each_seen(flat[t], [&](Index m, double count, double exposure) {
      counts[m] += count;
      exposures[m] += exposure;
    });
  }
  const double overall = counts.sum() / std::max(exposures.sum(), 1.0);
  // Half a count of the overall rate, so that no channel is certain to be silent.
  const Vector means = (counts.array() + 0.5 * overall) / (exposures.array() + 0.5);
  const Vector dispersions =
      dispersions_around(observations, counts.cwiseQuotient(exposures.cwiseMax(1)));
  Vector logarithms(observations.size() - fitted);
  double level = 1;
  for (Index t = 0; t < observations.size(); ++t) {
    double seen = 0;
    double expected = 0;
    double logarithm = 0;
    for_each_seen(flat[t], [&](Index m, double count, double exposure) {
      const double mean = means[m] * exposure;
      seen += count;
      expected += mean;
      const double now = level * mean;
      const double dispersion = dispersions[m];
      const double more = std::log1p(dispersion * now);
      logarithm += count * (std::log(now) - more) - (dispersion > 0 ? more / dispersion : now);
    });
    if (t >= fitted) logarithms[t - fitted] = logarithm;
    if (expected > 0) level += kLevelRate * ((seen + 1) / (expected + 1) - level);
    level = std::max(level, 1e-3);
  }
  return logarithms;
}

struct PeriodGain {
  double mean = 0;
  double standard_error = 0;
};

PeriodGain period_gain(const Vector& with, const Vector& without) {
  const Vector gains = with - without;
  const Index stretches = std::min(kStretches, gains.size());
  Vector means(stretches);
  for (Index i = 0; i < stretches; ++i) {
    const Index first = i * gains.size() / stretches;
    const Index last = (i + 1) * gains.size() / stretches;
    means[i] = gains.segment(first, last - first).mean();
  }
  const auto n = static_cast<double>(stretches);
  const double squares = (means.array() - means.mean()).square().sum();
  return {gains.mean(), std::sqrt(squares / (n * (n - 1)))};
}

}  // namespace

std::vector<StartReport::PeriodChoice> find_periods(const RecordView& observations) {
  std::vector<StartReport::PeriodChoice> found;
  if (observations.size() < 4 * kStretches) return found;
  const std::vector<Index> tried = candidates(observations);
  std::vector<Index> periods;
  Vector without = predictions_with(observations, periods);
  while (found.size() < 2) {
    std::vector<StartReport::PeriodChoice> better;
    double best = 0;
    for (const Index candidate : tried) {
      std::vector<Index> all = periods;
      all.push_back(candidate);
      const PeriodGain gain = period_gain(predictions_with(observations, all), without);
      if (!(gain.mean > kStandardErrorsOfPeriod * gain.standard_error)) continue;
      better.push_back({candidate, gain.mean, gain.standard_error});
      best = std::max(best, gain.mean);
    }
    const auto chosen = std::ranges::find_if(better, [&](const StartReport::PeriodChoice& choice) {
      return choice.gain >= kGoodEnough * best;
    });
    if (chosen == better.end()) break;
    if (!found.empty() && chosen->gain < kWorthASecond * found.front().gain) break;
    found.push_back(*chosen);
    periods.push_back(chosen->period);
    without = predictions_with(observations, periods);
  }
  return found;
}

}  // namespace headwater
