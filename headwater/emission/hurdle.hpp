#pragma once

#include "headwater/emission/negative_binomial.hpp"

namespace headwater {

// For counts that are mostly 0 or 1: a count is 0 as often as a Poisson count of mean mu, the
// intensity, is. Otherwise it is 1 and, with a geometric law of mean x, more:
//   P(0) = exp(-mu),   P(1 + k) = (1 - exp(-mu)) (1 / (1 + x)) (x / (1 + x))^k.
// The excess x is learned, for each channel or shared. So counts may scatter less than Poisson
// counts do, and the mean of a count is (1 - exp(-mu)) (1 + x).
//
// Where channels drift (see LevelFilter), mu is multiplied by the channel's level, of which
// dispersion and persistence are parameters as for the law 'drifting'; then exp(-mu) becomes
// (1 + phi mu)^(-1 / phi). An observation whose dispersions are given has these in place of phi.
class Hurdle {
 public:
  static constexpr const char* kName = "hurdle";
  static constexpr const char* kDrifting = "drifting-hurdle";
  static constexpr const char* kExcess = "excess";
  static constexpr double kFirstExcess = 0.1;  // where nothing is known

  // excess: one, or one for each channel. levels: of the law 'drifting'.
  explicit Hurdle(Vector excess, std::optional<NegativeBinomial> levels = {})
      : excess_(std::move(excess)), levels_(std::move(levels)) {}

  std::string name() const { return drifts() ? kDrifting : kName; }
  bool drifts() const { return levels_.has_value(); }
  double excess(Index channel) const { return excess_.size() == 1 ? excess_[0] : excess_[channel]; }
  double dispersion(Index channel) const { return drifts() ? levels_->dispersion(channel) : 0; }

  double log_density(Index channel, double y, double mean) const;
  // Of the expected Poisson count, given that it is 1 or more: mean / (1 - P(0)).
  double gain(Index channel, double y, double mean) const;
  double loss(Index channel, double y, double mean) const;
  double information(Index channel, double mean) const;
  VarianceFunction variance(Index channel) const {
    return {.linear = 1, .quadratic = dispersion(channel), .excess = excess(channel)};
  }
  double draw(Index channel, double mean, Generator& generator) const;
  // The same where this is the dispersion of mu.
  double draw(Index channel, double mean, double dispersion, Generator& generator) const;

  Parameters parameters() const;
  void set_parameter(const Parameter& parameter);
  // Those of the levels come first.
  Index num_statistics(Index num_channels) const;
  void add_statistics(Index channel, double y, double mean, double weight,
                      std::span<double> out) const;
  void maximise(std::span<const double> statistics, double observations, const Held& held);

  // By vector kernels: work grows with the channels that have counts, unless channels drift.
  std::unique_ptr<BlockLaw> in_blocks() const;

 private:
  void set_excess(const Matrix& value);
  void learn_excess(std::span<const double> statistics, double observations);

  Vector excess_;  // 1 or M
  std::optional<NegativeBinomial> levels_;
};

}  // namespace headwater
