#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "headwater/engines/particle_engine.hpp"
#include "headwater/observation.hpp"
#include "headwater/reference/gaussian_law.hpp"
#include "headwater/reference/particle_runs.hpp"

// How the tests of engines under the Gaussian law run them.
namespace headwater::reference {

using ParticleKind = ParticleEngineOptions::Smoother;

inline constexpr double kNoise = 0.8;
inline constexpr Index kSeeds = 30;

// Written without the law's class, which it is compared with.
inline double density(double y, double mean) {
  return std::exp(-(y - mean) * (y - mean) / (2 * kNoise * kNoise)) /
         (kNoise * std::sqrt(2 * std::numbers::pi));
}

// Every observation counts for 1 / T.
inline double run(Engine& engine, const Record& record) {
  double log_likelihood = 0;
  for (Index t = 0; t < record.size(); ++t) {
    const FilterStep step = engine.step(record[t], 1.0 / static_cast<double>(t + 1));
    EXPECT_FALSE(step.impossible);
    log_likelihood += step.log_predictive;
  }
  engine.finish();
  return log_likelihood;
}

inline ParticleEngineOptions particles(ParticleKind smoother, bool guided) {
  const bool is_square = smoother == ParticleKind::kForward;
  ParticleEngineOptions options = particle_options(smoother, is_square ? 200 : 1000);
  options.window.lag = 100;
  options.filter.guided = guided;
  return options;
}

// The likelihood over its true value, which is 1 on average, and the statistics, whose bias of
// order 1 / N is a small part of the standard error over the seeds.
inline Vector findings(double likelihood_ratio, const Statistics& statistics) {
  Vector all = Vector::Constant(1, likelihood_ratio);
  for (const std::span<const double> sums : statistics.sums()) {
    const auto size = static_cast<Index>(sums.size());
    all.conservativeResize(all.size() + size);
    all.tail(size) = Eigen::Map<const Vector>(sums.data(), size);
  }
  return all;
}

}  // namespace headwater::reference
