#pragma once

#include <cmath>
#include <functional>
#include <numbers>

#include "headwater/any_law.hpp"
#include "headwater/emission/hurdle.hpp"
#include "headwater/matrix.hpp"
#include "headwater/reference/gaussian_law.hpp"

namespace headwater::reference {

// A law of the counts, and its formulas once more, written without the class that they test.
struct LawFormulas {
  using OfCell = std::function<double(Index channel, double y, double mean)>;

  AnyLaw law;
  OfCell density;
  // Of the slope of log density in the mean, which is gain - loss.
  OfCell gain;
  OfCell loss;
  // out += weight times the law's own statistics.
  std::function<void(Index channel, double y, double mean, double weight, Vector& out)>
      add_statistics;
};

inline LawFormulas gaussian_formulas(double noise) {
  const double variance = noise * noise;
  return {GaussianLaw(noise),
          [=](Index, double y, double mean) {
            return std::exp(-(y - mean) * (y - mean) / (2 * variance)) /
                   std::sqrt(2 * std::numbers::pi * variance);
          },
          [=](Index, double y, double) { return y / variance; },
          [=](Index, double, double mean) { return mean / variance; },
          [](Index, double y, double mean, double weight, Vector& out) {
            out[0] += weight * (y - mean) * (y - mean);
            out[1] += weight;
          }};
}

// trigamma(r), by its series and the integral over what is left of it.
inline double plain_trigamma(double r) {
  constexpr int kTerms = 1000;
  double sum = 0;
  for (int n = kTerms - 1; n >= 0; --n) sum += 1 / ((r + n) * (r + n));
  const double rest = 1 / (r + kTerms);
  return sum + rest + rest * rest / 2 + rest * rest * rest / 6;
}

// The dispersion of each channel. 0 is Poisson's law.
inline LawFormulas negative_binomial_formulas(const Vector& dispersion) {
  const auto density = [=](Index m, double y, double mean) {
    if (mean == 0) return y == 0 ? 1.0 : 0.0;
    const double phi = dispersion[m];
    if (phi == 0) return std::exp(y * std::log(mean) - mean - std::lgamma(y + 1));
    const double r = 1 / phi;
    return std::exp(std::lgamma(y + r) - std::lgamma(r) - std::lgamma(y + 1) -
                    (y + r) * std::log(1 + phi * mean) + y * std::log(phi * mean));
  };
  // d log density / d phi, and what stands for minus the expectation of its derivative.
  const auto add_statistics = [=](Index m, double y, double mean, double weight, Vector& out) {
    const double phi = dispersion[m];
    const double z = phi * mean;
    double score = 0;
    for (int j = 1; j < y; ++j) score += j / (1 + j * phi);
    const double of_count = score - y * mean / (1 + z);
    double limit = 1;
    if (phi == 0) {
      score += mean * mean / 2 - y * mean;
    } else {
      score += (std::log(1 + z) - z / (1 + z)) / (phi * phi) - y * mean / (1 + z);
      limit = 2 * (plain_trigamma(1 / phi) / phi - 1) / phi;
    }
    const double information = mean * mean / 2 / (1 + phi + 2 * z + z * z / limit) +
                               (of_count > 0 ? of_count / (1 + phi) : 0);
    out[2 * m] += weight * (information * phi + score);
    out[2 * m + 1] += weight * information;
  };
  return {NegativeBinomial(dispersion), density,
          [](Index, double y, double mean) { return y == 0 ? 0 : y / mean; },
          [=](Index m, double y, double mean) {
            return (1 + dispersion[m] * y) / (1 + dispersion[m] * mean);
          },
          add_statistics};
}

// The excess of each channel; the dispersion of each channel's level, or none if it has no level.
inline LawFormulas hurdle_formulas(const Vector& excess, const Vector& dispersion = {}) {
  const bool drifts = dispersion.size() > 0;
  const auto silence = [=](Index m, double mean) {
    const double phi = drifts ? dispersion[m] : 0;
    return phi == 0 ? std::exp(-mean) : std::pow(1 + phi * mean, -1 / phi);
  };
  const auto density = [=](Index m, double y, double mean) {
    const double silent = silence(m, mean);
    if (y == 0) return silent;
    return (1 - silent) / (1 + excess[m]) * std::pow(excess[m] / (1 + excess[m]), y - 1);
  };
  const auto loss = [=](Index m, double y, double mean) {
    const double softer = 1 / (1 + (drifts ? dispersion[m] : 0) * mean);
    if (y == 0) return softer;
    const double silent = silence(m, mean);
    return (1 - silent * softer) / (1 - silent);
  };
  const auto add_statistics = [=](Index m, double y, double, double weight, Vector& out) {
    if (y == 0) return;
    const Index first = drifts ? 2 * excess.size() + 2 : 0;
    out[first + 2 * m] += weight * (y - 1);
    out[first + 2 * m + 1] += weight;
  };
  const AnyLaw law =
      drifts ? AnyLaw(Hurdle(excess, NegativeBinomial(dispersion, 0.9))) : AnyLaw(Hurdle(excess));
  return {law, density,
          [=](Index m, double y, double mean) { return y == 0 ? 0 : 1 / (1 - silence(m, mean)); },
          loss, add_statistics};
}

}  // namespace headwater::reference
