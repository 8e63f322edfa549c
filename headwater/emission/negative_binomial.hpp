#pragma once

#include <optional>

#include "headwater/cell_law.hpp"

namespace headwater {

// y ~ Poisson(mean epsilon) with a gamma variable epsilon of mean 1 and variance phi, independently
// for each channel and observation: the variance is mean + phi mean^2. Each channel has a
// dispersion phi of its own, or all share one. With phi = 0 the law is Poisson's.
//
// Where channels drift, epsilon is a channel's level, which persists from one observation to the
// next (see LevelFilter). This class then has the law of a count of which nothing is known of the
// counts before it. An observation whose dispersions are given has these in place of the law's.
class NegativeBinomial {
 public:
  static constexpr const char* kName = "negative-binomial";
  static constexpr const char* kDrifting = "drifting";
  // Not 'persistence': priors have a parameter of that name.
  static constexpr const char* kPersistence = "level_persistence";
  static constexpr double kFirstDispersion = 0.1;  // where nothing is known
  static constexpr double kFirstPersistence = 0.9;

  // One dispersion, or one for each channel. persistence: of drifting levels.
  explicit NegativeBinomial(Vector dispersion, std::optional<double> persistence = {})
      : dispersion_(std::move(dispersion)), persistence_(persistence) {}

  std::string name() const { return drifts() ? kDrifting : kName; }
  bool drifts() const { return persistence_.has_value(); }
  double dispersion(Index channel) const {
    return dispersion_.size() == 1 ? dispersion_[0] : dispersion_[channel];
  }

  double log_density(Index channel, double y, double mean) const;
  double gain(Index, double y, double mean) const { return y > 0 && mean > 0 ? y / mean : 0; }
  // The expectation of epsilon, given the count.
  double loss(Index channel, double y, double mean) const {
    const double phi = dispersion(channel);
    return (1 + phi * y) / (1 + phi * mean);
  }
  double information(Index channel, double mean) const {
    return mean > 0 ? 1 / (mean * (1 + dispersion(channel) * mean)) : 0;
  }
  VarianceFunction variance(Index channel) const {
    return {.linear = 1, .quadratic = dispersion(channel)};
  }
  double draw(Index channel, double mean, Generator& generator) const;

  Parameters parameters() const;
  void set_parameter(const Parameter& parameter);
  Index num_statistics(Index num_channels) const;
  void add_statistics(Index channel, double y, double mean, double weight,
                      std::span<double> out) const;
  // mean_counts: of each channel, up to a common factor, or none. Dispersions may depend on them,
  // but not those of levels that drift.
  void maximise(std::span<const double> statistics, double observations, const Held& held,
                std::span<const double> mean_counts = {});

  // By vector kernels.
  std::unique_ptr<BlockLaw> in_blocks() const;

 private:
  Vector dispersion_;  // 1 or M
  std::optional<double> persistence_;
};

}  // namespace headwater
