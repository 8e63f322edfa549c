#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <numbers>
#include <vector>

#include "headwater/engines/beam_engine.hpp"
#include "headwater/engines/exact_batch.hpp"
#include "headwater/engines/exact_engine.hpp"
#include "headwater/engines/particle_engine.hpp"
#include "headwater/models/basis_selection.hpp"
#include "headwater/models/finite_prior.hpp"
#include "headwater/reference/gaussian_runs.hpp"
#include "headwater/reference/particle_runs.hpp"
#include "headwater/reference/path_sums.hpp"
#include "headwater/reference/streams.hpp"
#include "headwater/simulate.hpp"

// Every engine with a law of the counts that is not Poisson's, against sums over all paths.

namespace headwater {
namespace {

using reference::density;
using reference::findings;
using reference::GaussianLaw;
using reference::kNoise;
using reference::kSeeds;
using reference::largest_relative_difference;
using reference::ParticleKind;
using reference::particles;
using reference::run;
using ExactKind = ExactEngineOptions::Smoother;

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

// A short record with missing cells, one observation that is missing as a whole, and exposures.
struct Short {
  AnyPrior prior;
  Matrix basis;  // the last column is a background
  Matrix counts;
  Matrix exposures;

  Emission emission() const { return {basis, GaussianLaw(kNoise)}; }
  Record record() const { return Record(counts, exposures); }
};

std::vector<Short> short_cases() {
  Matrix basis(3, 3);
  basis << 2, 0.5, 3,  //
      0.2, 1.5, 4,     //
      1, 1, 2;
  Matrix counts(3, 6);
  counts << 5.1, 3.2, kMissing, 2.9, 5.6, 1.4,  //
      4.0, 5.7, kMissing, 4.2, 5.9, 3.3,        //
      2.9, kMissing, kMissing, 0, 8.1, 2.2;
  Matrix exposures = Matrix::Ones(3, 6);
  exposures(0, 5) = 0.5;
  exposures(2, 4) = 2;
  exposures(1, 0) = 0;  // missing, whatever its count
  Matrix table(3, 3);
  table << 0.7, 0.2, 0.1, 0.0, 0.5, 0.5, 0.3, 0.3, 0.4;
  const Matrix states = (Matrix(3, 2) << 0.2, 1, 1.5, 0, 2, 2).finished();
  return {{AnyPrior(BasisSelection(2, 0.8, 0.7)), basis, counts, exposures},
          {AnyPrior(FiniteStatePrior(states, table)), basis, counts, exposures}};
}

// --- the truth, by sums over every path ----------------------------------------------------------

struct Truth {
  double log_likelihood = 0;
  Statistics statistics;  // each observation counts for 1 / T
};

void for_each_path(Index num_states, Index length,
                   const std::function<void(const std::vector<Index>&)>& visit) {
  std::vector<Index> path(static_cast<std::size_t>(length), 0);
  while (true) {
    visit(path);
    std::size_t t = 0;
    while (t < path.size() && ++path[t] == num_states) path[t++] = 0;
    if (t == path.size()) return;
  }
}

// What one observation adds, if the activation is x.
void add_cells(const Short& c, Index t, const Vector& x, double weight, Statistics& out) {
  out.s1 += weight * x;
  for (Index m = 0; m < c.basis.rows(); ++m) {
    const double y = c.counts(m, t);
    const double exposure = c.exposures(m, t);
    const bool is_missing = std::isnan(y) || exposure == 0;
    const double mean = exposure * c.basis.row(m).dot(x);
    for (Index k = 0; k < x.size(); ++k) {
      const double gain = exposure * y / (kNoise * kNoise);
      const double loss = exposure * mean / (kNoise * kNoise);
      out.unseen(m, k) += weight * x[k] * (is_missing ? 1 : 1 - loss);
      if (!is_missing) out.s2(m, k) += weight * x[k] * c.basis(m, k) * gain;
    }
    if (is_missing) continue;
    out.s4[0] += weight * (y - mean) * (y - mean);
    out.s4[1] += weight;
  }
}

void add_moves(const FiniteChain& chain, Index from, Index to, double weight, Vector& s3) {
  Index at = 0;
  Index stride = 1;
  for (const FiniteAxis& axis : chain.axes) {
    s3[at + from / stride % axis.size() * axis.size() + to / stride % axis.size()] += weight;
    at += axis.size() * axis.size();
    stride *= axis.size();
  }
}

Truth sum_over_paths(const Short& c) {
  const FiniteChain chain = c.prior.finite_chain();
  const Matrix states = states_with_background(chain, c.basis.cols());
  const Matrix transition = reference::dense_transition(chain);
  const Vector initial = chain.joint_initial();
  const Index length = c.counts.cols();
  const auto likelihood = [&](Index x, Index t) {
    double product = 1;
    for (Index m = 0; m < c.basis.rows(); ++m) {
      if (std::isnan(c.counts(m, t)) || c.exposures(m, t) == 0) continue;
      product *= density(c.counts(m, t), c.exposures(m, t) * c.basis.row(m).dot(states.row(x)));
    }
    return product;
  };
  const auto probability = [&](const std::vector<Index>& path) {
    double p = initial[path[0]] * likelihood(path[0], 0);
    for (std::size_t t = 1; t < path.size(); ++t) {
      p *= transition(path[t - 1], path[t]) * likelihood(path[t], static_cast<Index>(t));
    }
    return p;
  };
  double evidence = 0;
  for_each_path(states.rows(), length,
                [&](const std::vector<Index>& path) { evidence += probability(path); });
  Truth truth{std::log(evidence), Statistics(c.basis.rows(), c.basis.cols(), chain.num_moves(), 2)};
  truth.statistics.unseen.setZero(c.basis.rows(), c.basis.cols());
  for_each_path(states.rows(), length, [&](const std::vector<Index>& path) {
    const double weight = probability(path) / evidence / static_cast<double>(length);
    for (std::size_t t = 0; t < path.size(); ++t) {
      add_cells(c, static_cast<Index>(t), states.row(path[t]), weight, truth.statistics);
      if (t > 0) add_moves(chain, path[t - 1], path[t], weight, truth.statistics.s3);
    }
  });
  return truth;
}

void expect_equal(const Statistics& found, const Statistics& truth, const char* who) {
  EXPECT_LT(largest_relative_difference(found.s1, truth.s1), 1e-12) << who;
  EXPECT_LT(largest_relative_difference(found.s2, truth.s2), 1e-12) << who;
  EXPECT_LT(largest_relative_difference(found.s3, truth.s3), 1e-12) << who;
  EXPECT_LT(largest_relative_difference(found.s4, truth.s4), 1e-12) << who;
  EXPECT_LT(largest_relative_difference(found.unseen, truth.unseen), 1e-12) << who;
}

// A window so long that nothing enters before the end.
WindowOptions full_window() {
  WindowOptions window;
  window.lag = 100000;
  return window;
}

TEST(GaussianEngines, ExactEqualsSumsOverEveryPath) {
  for (const Short& c : short_cases()) {
    const Truth truth = sum_over_paths(c);
    for (const auto smoother :
         {ExactKind::kWindow, ExactKind::kForward, ExactKind::kForwardAsPrinted}) {
      ExactEngineOptions options;
      options.smoother = smoother;
      options.window = full_window();
      ExactEngine engine(c.prior, c.emission(), options);
      EXPECT_NEAR(run(engine, c.record()), truth.log_likelihood,
                  1e-12 * std::abs(truth.log_likelihood));
      expect_equal(engine.statistics(), truth.statistics, "exact");
    }
    const Record record = c.record();
    ExactBatch batch(c.prior.finite_chain(), c.emission(), record);
    EXPECT_NEAR(batch.log_likelihood(), truth.log_likelihood,
                1e-12 * std::abs(truth.log_likelihood));
    expect_equal(batch.statistics(true), truth.statistics, "batch");
  }
}

TEST(GaussianEngines, ABeamThatHoldsAllStatesIsExact) {
  for (const Short& c : short_cases()) {
    const Truth truth = sum_over_paths(c);
    BeamEngineOptions options;
    options.window = full_window();
    BeamEngine engine(c.prior, c.emission(), options);
    EXPECT_NEAR(run(engine, c.record()), truth.log_likelihood,
                1e-12 * std::abs(truth.log_likelihood));
    expect_equal(engine.statistics(), truth.statistics, "beam");
  }
}

// 1024 states, of which a quarter at most is kept: the search has to find those that matter. The
// noise is such that an observation leaves some hundred of them.
TEST(GaussianEngines, ANarrowBeamFindsTheStatesThatMatter) {
  const AnyPrior prior(BasisSelection(10, 0.8, 0.7));
  const AnyLaw law = GaussianLaw(1.8);
  Matrix basis = random_basis(12, 11, 5, 3);
  basis.col(10).setConstant(3);
  Simulator simulator(prior, Emission(basis.leftCols(10), law), 4);
  Record record;
  for (int t = 0; t < 40; ++t) {
    simulator.next();
    const Vector y = Eigen::Map<const Vector>(simulator.observation().data(), 12) + basis.col(10);
    record.add(Observation(as_span(y)));
  }
  const Emission emission(basis, law);
  ExactEngine exact(prior, emission, {});
  const double truth = run(exact, record);
  BeamEngineOptions options;
  options.filter.width = 256;
  BeamEngine beam(prior, emission, options);
  EXPECT_NEAR(run(beam, record), truth, 0.01);
  EXPECT_LT(largest_relative_difference(beam.statistics().s1, exact.statistics().s1), 1e-3);
  EXPECT_LT(largest_relative_difference(beam.statistics().s2, exact.statistics().s2), 1e-3);
  EXPECT_LT(largest_relative_difference(beam.statistics().s4, exact.statistics().s4), 1e-3);
}

// --- particles -----------------------------------------------------------------------------------

const std::vector<ParticleKind> kParticleSmoothers = {ParticleKind::kLag, ParticleKind::kPath,
                                                      ParticleKind::kPathAsPrinted,
                                                      ParticleKind::kParis, ParticleKind::kForward};

TEST(GaussianEngines, ParticlesAgreeWithSumsOverEveryPath) {
  for (const Short& c : short_cases()) {
    const Truth truth = sum_over_paths(c);
    const Vector expected = findings(1, truth.statistics);
    for (const auto smoother : kParticleSmoothers) {
      for (const bool guided : {false, true}) {
        auto options = particles(smoother, guided);
        const Matrix found = reference::over_seeds(kSeeds, [&](std::uint64_t seed) {
          options.filter.seed = seed;
          ParticleEngine engine(c.prior, c.emission(), options, reference::threads(1));
          const double log_likelihood = run(engine, c.record());
          return findings(std::exp(log_likelihood - truth.log_likelihood), engine.statistics());
        });
        EXPECT_LT(reference::largest_z(found, expected), reference::critical_z(found))
            << c.prior.name() << ", smoother " << static_cast<int>(smoother) << ", guided "
            << guided;
      }
    }
  }
}

}  // namespace
}  // namespace headwater
