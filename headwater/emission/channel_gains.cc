#include "headwater/emission/channel_gains.hpp"

#include <algorithm>
#include <cmath>

namespace headwater {

namespace {

// Numbers that the sums of all ways may have: 128 MB.
constexpr double kMostNumbersOfGains = 1 << 24;
constexpr double kFalseAlarmOfGains = 1e-6;
constexpr double kErrorsOfGains = 4;
constexpr double kSmallestGain = 1e-4;
constexpr double kLargestGain = 1e4;

// The log-density of a count y of mean c mu and dispersion phi, less that of mean mu:
//   y log c - (y + 1/phi) (log(1 + phi c mu) - log(1 + phi mu)),
// which for phi = 0 is y log c - (c - 1) mu.
double lead_of_gain(double c, double y, double mean, double phi) {
  const double of_count = y > 0 ? y * std::log(c) : 0;
  if (phi == 0) return of_count - (c - 1) * mean;
  return of_count - (y + 1 / phi) * std::log1p(phi * mean * (c - 1) / (1 + phi * mean));
}

}  // namespace

PhaseGains::PhaseGains(Index num_channels, Index period)
    : period_(period),
      leads_(Matrix::Zero(num_channels, kWays)),
      weights_(Matrix::Constant(num_channels, kWays, 1 / static_cast<double>(kWays))) {
  for (Sums& sums : sums_) {
    sums.counts.setZero(num_channels, period);
    sums.expected.setZero(num_channels, period);
    sums.total_counts.setZero(num_channels);
    sums.total_expected.setZero(num_channels);
  }
}

double PhaseGains::gain_by(Index way, Index channel, Index phase) const {
  if (way == 0) return 1;
  const auto cautions = std::ssize(kCautions);
  const double caution = kCautions[static_cast<std::size_t>((way - 1) % cautions)];
  const Sums& sums = sums_[static_cast<std::size_t>((way - 1) / cautions / 2)];
  const bool with_neighbours = (way - 1) / cautions % 2 == 1;
  double counts = sums.counts(channel, phase);
  double expected = sums.expected(channel, phase);
  if (with_neighbours) {
    const Index before = phase == 0 ? period_ - 1 : phase - 1;
    const Index after = phase == period_ - 1 ? 0 : phase + 1;
    counts += (sums.counts(channel, before) + sums.counts(channel, after)) / 2;
    expected += (sums.expected(channel, before) + sums.expected(channel, after)) / 2;
  }
  const double of_all = static_cast<double>(period_) * caution;
  const double gain = (caution + counts) * (of_all + sums.total_expected[channel]) /
                      ((caution + expected) * (of_all + sums.total_counts[channel]));
  return std::clamp(gain, kSmallestGain, kLargestGain);
}

double PhaseGains::gain(Index channel, Index phase) const {
  double gain = 0;
  for (Index i = 0; i < kWays; ++i) gain += weights_(channel, i) * gain_by(i, channel, phase);
  return gain;
}

void PhaseGains::multiply(Index phase, Vector& out) const {
  if (!are_used_) return;
  for (Index m = 0; m < out.size(); ++m) out[m] *= gain(m, phase);
}

void PhaseGains::score(const Observation& y, Index phase, const Vector& predicted,
                       const Vector& dispersions) {
  double lead = 0;
  for_each_seen(y, [&](Index m, double count, double exposure) {
    const double mean = exposure * predicted[m];
    const double phi =
        dispersions.size() == 0 ? 0 : dispersions[std::min(m, dispersions.size() - 1)];
    double weighted = weights_(m, 0);
    for (Index i = 1; i < kWays; ++i) {
      const double gain = gain_by(i, m, phase);
      weighted += weights_(m, i) * gain;
      leads_(m, i) += lead_of_gain(gain, count, mean, phi);
    }
    lead += lead_of_gain(weighted, count, mean, phi);
  });
  lead_ += lead;
  squares_ += lead * lead;
  are_used_ = lead_ > std::max(-std::log(kFalseAlarmOfGains), kErrorsOfGains * std::sqrt(squares_));
}

// By Bayes's rule. The prior of a way is its mean weight over the channels, with one more channel
// that gives all ways the same.
void PhaseGains::weigh_ways() {
  const auto channels = static_cast<double>(weights_.rows());
  std::array<double, kWays> log_priors;
  for (Index i = 0; i < kWays; ++i) {
    const double even = 1 / static_cast<double>(kWays);
    log_priors[static_cast<std::size_t>(i)] =
        std::log((even + weights_.col(i).sum()) / (1 + channels));
  }
  for (Index m = 0; m < weights_.rows(); ++m) {
    double largest = log_priors[0];
    for (Index i = 0; i < kWays; ++i) {
      weights_(m, i) = leads_(m, i) + log_priors[static_cast<std::size_t>(i)];
      largest = std::max(largest, weights_(m, i));
    }
    double sum = 0;
    for (Index i = 0; i < kWays; ++i) sum += weights_(m, i) = std::exp(weights_(m, i) - largest);
    for (Index i = 0; i < kWays; ++i) weights_(m, i) /= sum;
  }
}

void PhaseGains::add(const Observation& y, Index phase, const Vector& filtered) {
  for (std::size_t i = 0; i < sums_.size(); ++i) {
    Sums& sums = sums_[i];
    const double forgotten = 1 - kMemories[i];
    for_each_seen(y, [&](Index m, double count, double exposure) {
      const double more = count - forgotten * sums.counts(m, phase);
      const double more_expected = exposure * filtered[m] - forgotten * sums.expected(m, phase);
      sums.counts(m, phase) += more;
      sums.total_counts[m] += more;
      sums.expected(m, phase) += more_expected;
      sums.total_expected[m] += more_expected;
    });
  }
}

void PhaseGains::learn(const Observation& y, const Vector& predicted, const Vector& filtered,
                       const Vector& dispersions) {
  const Index phase = y.position() % period_;
  score(y, phase, predicted, dispersions);
  weigh_ways();
  add(y, phase, filtered);
}

void PhaseGains::exchange(StateArchive& archive) {
  for (Sums& sums : sums_) {
    archive(sums.counts, sums.expected, sums.total_counts, sums.total_expected);
  }
  archive(leads_, weights_, lead_, squares_, are_used_);
  if (!archive.is_reading()) return;
  const auto is_sum = [](const auto& sum) { return sum.allFinite() && (sum.array() >= 0).all(); };
  const Index channels = sums_[0].counts.rows();
  for (const Sums& sums : sums_) {
    const bool fits = sums.counts.rows() == channels && sums.counts.cols() == period_ &&
                      sums.expected.rows() == channels && sums.expected.cols() == period_ &&
                      sums.total_counts.size() == channels &&
                      sums.total_expected.size() == channels;
    // Totals are sums of differences, and may end a rounding below 0.
    archive.expect(fits && is_sum(sums.counts) && is_sum(sums.expected) &&
                       sums.total_counts.allFinite() && sums.total_expected.allFinite(),
                   "invalid gains of channels");
  }
  archive.expect(leads_.rows() == channels && leads_.cols() == kWays && leads_.allFinite() &&
                     weights_.rows() == channels && weights_.cols() == kWays && is_sum(weights_) &&
                     std::isfinite(lead_) && std::isfinite(squares_) && squares_ >= 0,
                 "invalid weights of gains");
}

ChannelGains::ChannelGains(Index num_channels, const std::vector<Index>& periods)
    : num_channels_(num_channels) {
  for (const Index period : periods) learned_.emplace_back(num_channels, period);
}

bool ChannelGains::are_affordable(Index num_channels, const std::vector<Index>& periods) {
  double phases = 0;
  for (const Index period : periods) phases += static_cast<double>(period);
  const auto tables = static_cast<double>(2 * PhaseGains::kMemories.size());
  return tables * phases * static_cast<double>(num_channels) <= kMostNumbersOfGains;
}

bool ChannelGains::write(std::int64_t position, Index num_channels, Vector& out) const {
  out.setOnes(num_channels);
  bool any = !held_.empty();
  for (const Matrix& table : held_) out.array() *= table.col(position % table.cols()).array();
  for (const PhaseGains& gains : learned_) {
    gains.multiply(position % gains.period(), out);
    any = any || gains.are_used();
  }
  return any;
}

void ChannelGains::learn(const Observation& y, const Vector& predicted, const Vector& filtered,
                         const Vector& dispersions) {
  for (PhaseGains& gains : learned_) {
    predicted_ = predicted;
    filtered_ = filtered;
    for (const PhaseGains& other : learned_) {
      if (&other == &gains) continue;
      other.multiply(y.position() % other.period(), predicted_);
      other.multiply(y.position() % other.period(), filtered_);
    }
    gains.learn(y, predicted_, filtered_, dispersions);
  }
}

std::vector<Matrix> ChannelGains::tables() const {
  if (!held_.empty()) return held_;
  std::vector<Matrix> tables;
  const bool any = std::ranges::any_of(learned_, &PhaseGains::are_used);
  for (const PhaseGains& gains : learned_) {
    if (!any) break;
    Matrix table = Matrix::Ones(num_channels_, gains.period());
    for (Index h = 0; h < gains.period() && gains.are_used(); ++h) {
      for (Index m = 0; m < num_channels_; ++m) table(m, h) = gains.gain(m, h);
    }
    tables.push_back(std::move(table));
  }
  return tables;
}

void ChannelGains::exchange(StateArchive& archive) {
  for (PhaseGains& gains : learned_) archive(gains);
}

}  // namespace headwater
