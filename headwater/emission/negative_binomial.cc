#include "headwater/emission/negative_binomial.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "headwater/core/special.hpp"
#include "headwater/emission/dispersion_estimates.hpp"
#include "headwater/emission/levels.hpp"
#include "headwater/emission/negative_binomial_terms.hpp"
#include "headwater/error.hpp"
#include "headwater/random.hpp"

namespace headwater {

namespace terms = negative_binomial;

namespace {

constexpr double kLeastOfLevels = 1e-5;

}  // namespace

double NegativeBinomial::log_density(Index channel, double y, double mean) const {
  const double phi = dispersion(channel);
  if (y == 0) return -terms::softened(mean, phi);
  if (!(mean > 0)) return -std::numeric_limits<double>::infinity();
  return terms::rising_logs(y, phi) - log_factorial(y) + y * std::log(mean) -
         y * std::log1p(phi * mean) - terms::softened(mean, phi);
}

double NegativeBinomial::draw(Index channel, double mean, Generator& generator) const {
  const double phi = dispersion(channel);
  if (phi == 0) return poisson(generator, mean);
  return poisson(generator, mean * (phi * gamma(generator, 1 / phi)));
}

Parameters NegativeBinomial::parameters() const {
  Parameters parameters = {{"dispersion", dispersion_}};
  if (drifts()) parameters.push_back(scalar_parameter(kPersistence, *persistence_));
  return parameters;
}

void NegativeBinomial::set_parameter(const Parameter& parameter) {
  if (drifts() && parameter.name == kPersistence) {
    const bool fits =
        parameter.value.size() == 1 && parameter.value(0) >= 0 && parameter.value(0) < 1;
    if (!fits) throw UsageError(std::string(kPersistence) + ": expected one number in [0, 1)");
    persistence_ = parameter.value(0);
    return;
  }
  if (parameter.name != "dispersion") {
    throw UsageError("the law '" + name() + "' has no parameter '" + parameter.name + "'");
  }
  const Matrix& value = parameter.value;
  const bool fits = value.cols() == 1 && (value.rows() == 1 || value.rows() == dispersion_.size());
  if (!fits) {
    const std::string one_each =
        dispersion_.size() > 1 ? fmt::format(" or {}", dispersion_.size()) : "";
    throw UsageError(fmt::format("dispersion has {} values; expected 1{}", value.size(), one_each));
  }
  for (const double phi : value.reshaped()) {
    if (!(phi >= 0 && phi <= terms::kLargestDispersion)) {
      throw UsageError(fmt::format("dispersion is {}; expected a number from 0 to {:g}", phi,
                                   terms::kLargestDispersion));
    }
  }
  if (value.rows() == 1) {
    dispersion_.setConstant(value(0));
  } else {
    dispersion_ = value;
  }
  for (double& phi : dispersion_) {
    if (phi < terms::kLeastDispersion) phi = 0;
  }
}

Index NegativeBinomial::num_statistics(Index num_channels) const {
  return drifts() ? DriftScores::num_statistics(num_channels)
                  : num_channels * DispersionStatistics::kPerChannel;
}

void NegativeBinomial::add_statistics(Index channel, double y, double mean, double weight,
                                      std::span<double> out) const {
  const double phi = dispersion(channel);
  constexpr auto kSize = static_cast<std::size_t>(DispersionStatistics::kPerChannel);
  DispersionStatistics::add(
      weight, phi, terms::dispersion_score(y, mean, phi),
      terms::dispersion_information(mean, phi, terms::information_limit(phi)) +
          terms::asked_information(y, mean, phi),
      out.subspan(static_cast<std::size_t>(channel) * kSize, kSize));
}

void NegativeBinomial::maximise(std::span<const double> statistics, double observations,
                                const Held& held, std::span<const double> mean_counts) {
  if (drifts()) {
    mean_counts = {};
    if (!held.holds(kPersistence)) {
      persistence_ = next_persistence(statistics.last(2), observations, *persistence_);
    }
    statistics = statistics.first(statistics.size() - 2);
  }
  if (held.holds("dispersion")) return;
  if (dispersion_.size() == 1) {
    dispersion_[0] = shared_dispersion(statistics, dispersion_[0]);
    // Levels without any dispersion say nothing about how dispersed they might be.
    if (drifts()) dispersion_[0] = std::max(dispersion_[0], kLeastOfLevels);
  } else {
    dispersion_ = channel_dispersions(statistics, observations, dispersion_, mean_counts);
  }
}

}  // namespace headwater
