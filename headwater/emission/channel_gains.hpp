#pragma once

#include <array>
#include <vector>

#include "headwater/observation.hpp"
#include "headwater/state_archive.hpp"

namespace headwater {

// The season of each channel beyond that of its components: at phase h of a period, the mean of
// channel m is multiplied by a gain c_m(h). Profiles of a few components cannot follow the
// timetables of hundreds of channels; gains can.
//
// A gain is estimated in several ways, each a mean of a gamma law that has the mean 1 before any
// count. With counts y and expected counts lambda of the visits so far,
//   c_m(h) = (caution + sum y) / (caution + sum lambda) / r_m,
//   r_m = (P caution + sum y over all phases) / (P caution + sum lambda over all phases),
// where r_m makes the weighted mean of a channel's gains 1: its level belongs to the basis. The
// ways differ in their caution; in how they weigh a visit, by memory^(visits since), so that a
// timetable may change; and in whether the phases next to h count too, each by half. The first way
// has the gain 1 throughout.
//
// Each way predicts each count before it is seen. A channel's gain is the mean over the ways,
// weighted by how well each has predicted its counts so far, and by how much weight the way has in
// all channels (Bayesian averaging with a prior that the channels share). All gains are exactly 1
// until those means have predicted clearly better than 1: see PhaseGains::are_used.

// The gains of one period, with what they are learned from.
class PhaseGains {
 public:
  static constexpr std::array<double, 2> kMemories = {1, 0.93};
  static constexpr std::array<double, 4> kCautions = {0.5, 4, 24, 128};
  static constexpr Index kWays = 1 + 2 * std::ssize(kMemories) * std::ssize(kCautions);

  PhaseGains() = default;
  PhaseGains(Index num_channels, Index period);

  Index period() const { return period_; }
  // Whether the log-predictions with gains are ahead of those without by log(1e6) nats and by four
  // standard errors. If predictions without gains are right, exp(lead) is a martingale of mean 1,
  // and by Ville's inequality it is ever above 1e6 with probability 1e-6 at most. The standard
  // errors are for predictions that are not.
  bool are_used() const { return are_used_; }
  double gain(Index channel, Index phase) const;  // as learned, whether it is used or not
  double gain_by(Index way, Index channel, Index phase) const;
  double weight(Index channel, Index way) const { return weights_(channel, way); }

  // Multiplies each number by its channel's gain, if gains are used.
  void multiply(Index phase, Vector& out) const;

  // Takes in an observation. Means of the channels, without these gains and without exposures:
  // predicted before the observation was seen, and given it. dispersions: empty, one, or one for
  // each channel.
  void learn(const Observation& y, const Vector& predicted, const Vector& filtered,
             const Vector& dispersions);

  void exchange(StateArchive& archive);

 private:
  struct Sums {
    Matrix counts;          // M x P
    Matrix expected;        // M x P
    Vector total_counts;    // M: over the phases
    Vector total_expected;  // M
  };

  void score(const Observation& y, Index phase, const Vector& predicted, const Vector& dispersions);
  void weigh_ways();
  void add(const Observation& y, Index phase, const Vector& filtered);

  Index period_ = 0;
  std::array<Sums, kMemories.size()> sums_;
  Matrix leads_;        // M x ways: log-predictions, less those of gain 1
  Matrix weights_;      // M x ways: rows sum to 1
  double lead_ = 0;     // of the weighted means, over all channels
  double squares_ = 0;  // ... and the sum of its squares, observation by observation
  bool are_used_ = false;
};

// ... of all periods of a stream: gains multiply.
class ChannelGains {
 public:
  ChannelGains() = default;
  // That are learned.
  ChannelGains(Index num_channels, const std::vector<Index>& periods);
  // That stay as they are: an M x P matrix for each period.
  explicit ChannelGains(std::vector<Matrix> tables) : held_(std::move(tables)) {}

  // Whether there is room for what they are learned from.
  static bool are_affordable(Index num_channels, const std::vector<Index>& periods);

  // The gain of each channel at a position of the stream, into `out`. False if all are 1.
  bool write(std::int64_t position, Index num_channels, Vector& out) const;
  // See PhaseGains::learn. Means without any gains.
  void learn(const Observation& y, const Vector& predicted, const Vector& filtered,
             const Vector& dispersions);
  // An M x P matrix for each period; empty if all gains are 1.
  std::vector<Matrix> tables() const;

  void exchange(StateArchive& archive);

 private:
  Index num_channels_ = 0;
  std::vector<Matrix> held_;
  std::vector<PhaseGains> learned_;
  Vector predicted_;  // with the gains of the other periods
  Vector filtered_;
};

}  // namespace headwater
