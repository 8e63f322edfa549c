#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>
#include <span>
#include <string>

#include "headwater/cell_law.hpp"
#include "headwater/error.hpp"
#include "headwater/random.hpp"

namespace headwater::reference {

// y ~ N(mean, noise^2), for tests: a law that is not Poisson's, and that has a parameter. What is
// drawn below 0 becomes 0, so that means should lie several times the noise above 0.
//
// The gain and the loss are those of the multiplicative update for the squared error, which never
// raises it [LeeSeung2001].
class GaussianLaw {
 public:
  explicit GaussianLaw(double noise) : noise_(noise) {}

  std::string name() const { return "gaussian"; }
  double log_density(Index, double y, double mean) const {
    const double away = (y - mean) / noise_;
    return -0.5 * away * away - std::log(noise_) - 0.5 * std::log(2 * std::numbers::pi);
  }
  double gain(Index, double y, double) const { return y / (noise_ * noise_); }
  double loss(Index, double, double mean) const { return mean / (noise_ * noise_); }
  double information(Index, double) const { return 1 / (noise_ * noise_); }
  VarianceFunction variance(Index) const { return {.constant = noise_ * noise_}; }
  double draw(Index, double mean, Generator& generator) const {
    return std::max(0.0, mean + noise_ * normal(generator));
  }

  Parameters parameters() const { return {scalar_parameter("noise", noise_)}; }
  void set_parameter(const Parameter& parameter) {
    if (parameter.name != "noise") {
      throw UsageError("the law 'gaussian' has no parameter '" + parameter.name + "'");
    }
    const bool is_number = parameter.value.size() == 1 && std::isfinite(parameter.value(0));
    if (!is_number || !(parameter.value(0) > 0)) {
      throw UsageError("the noise of the law 'gaussian' must be a positive number");
    }
    noise_ = parameter.value(0);
  }
  Index num_statistics(Index) const { return 2; }
  void add_statistics(Index, double y, double mean, double weight, std::span<double> out) const {
    out[0] += weight * (y - mean) * (y - mean);
    out[1] += weight;
  }
  void maximise(std::span<const double> statistics, double, const Held& held) {
    const bool says_something = statistics[0] > 0 && statistics[1] > 0;
    if (says_something && !held.holds("noise")) noise_ = std::sqrt(statistics[0] / statistics[1]);
  }

 protected:
  double noise_;
};

static_assert(LearnableLaw<GaussianLaw>);

}  // namespace headwater::reference
