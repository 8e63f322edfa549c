#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "headwater/engines/beam_engine.hpp"
#include "headwater/engines/exact_batch.hpp"
#include "headwater/engines/exact_engine.hpp"
#include "headwater/engines/particle_engine.hpp"
#include "headwater/observation.hpp"
#include "headwater/reference/particle_runs.hpp"
#include "headwater/reference/short_records.hpp"
#include "headwater/reference/streams.hpp"

// How tests of engines under laws that are not Poisson's run them, and compare them with sums over
// all paths.
namespace headwater::reference {

using ParticleKind = ParticleEngineOptions::Smoother;

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

inline void expect_equal(const Statistics& found, const Statistics& truth, const char* who) {
  EXPECT_LT(largest_relative_difference(found.s1, truth.s1), 1e-12) << who;
  EXPECT_LT(largest_relative_difference(found.s2, truth.s2), 1e-12) << who;
  EXPECT_LT(largest_relative_difference(found.s3, truth.s3), 1e-12) << who;
  EXPECT_LT(largest_relative_difference(found.s4, truth.s4), 1e-12) << who;
  EXPECT_LT(largest_relative_difference(found.unseen, truth.unseen), 1e-12) << who;
}

// A window so long that nothing enters before the end.
inline WindowOptions full_window() {
  WindowOptions window;
  window.lag = 100000;
  return window;
}

inline void expect_truth(Engine& engine, const ShortRecord& r, const PathTruth& truth,
                         const char* who) {
  EXPECT_NEAR(run(engine, r.record()), truth.log_likelihood, 1e-12 * std::abs(truth.log_likelihood))
      << who;
  expect_equal(engine.statistics(), truth.statistics, who);
}

inline void expect_exact_equals_paths(const ShortRecord& r) {
  using Kind = ExactEngineOptions::Smoother;
  const PathTruth truth = truth_by_paths(r);
  for (const auto smoother : {Kind::kWindow, Kind::kForward, Kind::kForwardAsPrinted}) {
    ExactEngineOptions options;
    options.smoother = smoother;
    options.window = full_window();
    ExactEngine engine(r.prior, r.emission(), options);
    expect_truth(engine, r, truth, "exact");
  }
  const Record record = r.record();
  ExactBatch batch(r.prior.finite_chain(), r.emission(), record);
  EXPECT_NEAR(batch.log_likelihood(), truth.log_likelihood, 1e-12 * std::abs(truth.log_likelihood));
  expect_equal(batch.statistics(true), truth.statistics, "batch");
}

inline void expect_full_beam_equals_paths(const ShortRecord& r) {
  BeamEngineOptions options;
  options.window = full_window();
  BeamEngine engine(r.prior, r.emission(), options);
  expect_truth(engine, r, truth_by_paths(r), "beam");
}

// A beam of a quarter of 1024 states, where an observation leaves some hundred of them: the search
// has to find those that matter.
inline void expect_narrow_beam_is_near(const AnyPrior& prior, const Emission& emission,
                                       const Record& record) {
  ExactEngine exact(prior, emission, {});
  const double truth = run(exact, record);
  BeamEngineOptions options;
  options.filter.width = 256;
  BeamEngine beam(prior, emission, options);
  EXPECT_NEAR(run(beam, record), truth, 0.01);
  const Statistics& found = beam.statistics();
  EXPECT_LT(largest_relative_difference(found.s1, exact.statistics().s1), 1e-3);
  EXPECT_LT(largest_relative_difference(found.s2, exact.statistics().s2), 1e-3);
  EXPECT_LT(largest_relative_difference(found.s4, exact.statistics().s4), 1e-3);
  EXPECT_LT(largest_relative_difference(found.unseen, exact.statistics().unseen), 1e-3);
}

// Every smoother, guided and not, over so many seeds. A false alarm has the probability `alpha` for
// all comparisons of one record together.
inline void expect_particles_agree_with_paths(const ShortRecord& r, Index seeds, double alpha) {
  const ParticleKind smoothers[] = {ParticleKind::kLag, ParticleKind::kPath,
                                    ParticleKind::kPathAsPrinted, ParticleKind::kParis,
                                    ParticleKind::kForward};
  const int runs = 2 * static_cast<int>(std::size(smoothers));
  const PathTruth truth = truth_by_paths(r);
  const Vector expected = findings(1, truth.statistics);
  for (const auto smoother : smoothers) {
    for (const bool guided : {false, true}) {
      auto options = particles(smoother, guided);
      const Matrix found = over_seeds(seeds, [&](std::uint64_t seed) {
        options.filter.seed = seed;
        ParticleEngine engine(r.prior, r.emission(), options, threads(1));
        const double log_likelihood = run(engine, r.record());
        return findings(std::exp(log_likelihood - truth.log_likelihood), engine.statistics());
      });
      ASSERT_EQ(found.cols(), expected.size());
      EXPECT_LT(largest_z(found, expected), critical_z(found, runs, alpha))
          << r.prior.name() << ", smoother " << static_cast<int>(smoother) << ", guided " << guided;
    }
  }
}

}  // namespace headwater::reference
