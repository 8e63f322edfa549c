#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <numbers>
#include <vector>

#include "headwater/engines/beam_engine.hpp"
#include "headwater/engines/exact_batch.hpp"
#include "headwater/engines/exact_engine.hpp"
#include "headwater/engines/fast_engine.hpp"
#include "headwater/engines/particle_batch.hpp"
#include "headwater/engines/particle_engine.hpp"
#include "headwater/models/basis_selection.hpp"
#include "headwater/models/finite_prior.hpp"
#include "headwater/models/gamma_prior.hpp"
#include "headwater/models/independent_prior.hpp"
#include "headwater/models/log_gaussian.hpp"
#include "headwater/models/relaxed_selection.hpp"
#include "headwater/reference/gaussian_law.hpp"
#include "headwater/reference/grid_chain.hpp"
#include "headwater/reference/particle_runs.hpp"
#include "headwater/reference/path_sums.hpp"
#include "headwater/reference/streams.hpp"
#include "headwater/simulate.hpp"

// Every engine with a law of the counts that is not Poisson's, against sums over all paths and over
// fine grids.

namespace headwater {
namespace {

using reference::GaussianLaw;
using reference::largest_relative_difference;
using ExactKind = ExactEngineOptions::Smoother;
using ParticleKind = ParticleEngineOptions::Smoother;

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();
constexpr double kNoise = 0.8;
constexpr Index kSeeds = 30;

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

double density(double y, double mean) {
  return std::exp(-(y - mean) * (y - mean) / (2 * kNoise * kNoise)) /
         (kNoise * std::sqrt(2 * std::numbers::pi));
}

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

// Every observation counts for 1 / T.
double run(Engine& engine, const Record& record) {
  double log_likelihood = 0;
  for (Index t = 0; t < record.size(); ++t) {
    const FilterStep step = engine.step(record[t], 1.0 / static_cast<double>(t + 1));
    EXPECT_FALSE(step.impossible);
    log_likelihood += step.log_predictive;
  }
  engine.finish();
  return log_likelihood;
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

ParticleEngineOptions particles(ParticleKind smoother, bool guided) {
  const bool is_square = smoother == ParticleKind::kForward;
  ParticleEngineOptions options = reference::particle_options(smoother, is_square ? 200 : 1000);
  options.window.lag = 100;
  options.filter.guided = guided;
  return options;
}

const std::vector<ParticleKind> kParticleSmoothers = {ParticleKind::kLag, ParticleKind::kPath,
                                                      ParticleKind::kPathAsPrinted,
                                                      ParticleKind::kParis, ParticleKind::kForward};

// The likelihood over its true value, which is 1 on average, and the statistics, whose bias of
// order 1 / N is a small part of the standard error over the seeds.
Vector findings(double likelihood_ratio, const Statistics& statistics) {
  const Vector flat = statistics.flatten();
  Vector all(flat.size() + 1);
  all << likelihood_ratio, flat;
  return all;
}

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

// Two components and a background; a missing cell and an exposure.
struct Continuous {
  explicit Continuous(const AnyPrior& prior)
      : emission((Matrix(3, 3) << 3, 1, 3, 0.5, 2, 4, 1, 1, 5).finished(), GaussianLaw(kNoise)) {
    Simulator simulator(prior, Emission(emission.basis().leftCols(2), GaussianLaw(kNoise)), 5);
    Matrix counts(3, 8);
    for (Index t = 0; t < counts.cols(); ++t) {
      simulator.next();
      counts.col(t) =
          Eigen::Map<const Vector>(simulator.observation().data(), 3) + emission.basis().col(2);
    }
    counts(1, 3) = kMissing;
    Matrix exposures = Matrix::Ones(3, 8);
    exposures(2, 6) = 0.5;
    counts(2, 6) *= 0.5;
    record = Record(counts, exposures);
  }
  Emission emission;
  Record record;
};

Vector on_grid(const AnyPrior& prior, const Continuous& c, Index cells) {
  const reference::GridChain grid = reference::make_grid_chain(prior, cells);
  ExactBatch batch(grid.chain, c.emission, c.record);
  return findings(batch.log_likelihood(), batch.statistics(false));
}

// The density of relaxed-selection jumps, so that the error falls with the squared width only.
Vector truth_on_grid(const AnyPrior& prior, const Continuous& c) {
  constexpr Index kCells = 96;
  const Vector fine = on_grid(prior, c, kCells);
  if (prior.name() != "relaxed-selection") return fine;
  return (4 * fine - on_grid(prior, c, kCells / 2)) / 3;
}

TEST(GaussianEngines, ParticlesOfContinuousPriorsAgreeWithTheGrid) {
  constexpr double kResolution = 1e-4;  // the grid's own error
  for (const AnyPrior& prior :
       {AnyPrior(LogGaussian(2, 0.7, 0.3)), AnyPrior(GammaPrior(2, 3, 0.6)),
        AnyPrior(IndependentPrior(2, 2)), AnyPrior(RelaxedSelection(2, 0.8))}) {
    const Continuous c(prior);
    Vector truth = truth_on_grid(prior, c);
    const double log_likelihood = truth[0];
    truth[0] = 1;
    for (const bool guided : {false, true}) {
      auto options = particles(ParticleKind::kLag, guided);
      options.learn_prior = false;
      const Matrix found = reference::over_seeds(kSeeds, [&](std::uint64_t seed) {
        options.filter.seed = seed;
        ParticleEngine engine(prior, c.emission, options, reference::threads(1));
        const double estimate = run(engine, c.record);
        return findings(std::exp(estimate - log_likelihood), engine.statistics());
      });
      ASSERT_EQ(found.cols(), truth.size());
      EXPECT_LT(reference::largest_z(found, truth, kResolution), reference::critical_z(found))
          << prior.name() << ", guided " << guided;
    }
  }
}

// Guides that know the law keep more particles alive than the prior alone.
TEST(GaussianEngines, GuidesKnowTheLaw) {
  for (const AnyPrior& prior :
       {AnyPrior(LogGaussian(2, 0.7, 0.3)), AnyPrior(GammaPrior(2, 3, 0.6)),
        AnyPrior(IndependentPrior(2, 2)), AnyPrior(RelaxedSelection(2, 0.8))}) {
    Continuous c(prior);
    c.emission.set_law(GaussianLaw(0.3));
    const auto mean_effective_size = [&](bool guided) {
      auto options = particles(ParticleKind::kLag, guided);
      options.filter.bridge_below = 0;
      ParticleFilter filter(prior, c.emission, options.filter, reference::threads(1));
      double sum = 0;
      for (Index t = 0; t < c.record.size(); ++t) {
        sum += filter.step(c.record[t]).particles()->effective_size;
      }
      return sum / static_cast<double>(c.record.size());
    };
    EXPECT_GT(mean_effective_size(true), 2 * mean_effective_size(false)) << prior.name();
  }
}

// --- the fast engine -----------------------------------------------------------------------------

FastEngineOptions uncorrected() {
  FastEngineOptions options;
  options.filter.most_corrected = 0;
  options.filter.most_steps = 2000;
  options.filter.tolerance = 1e-12;
  return options;
}

// The surroundings of the best activation by their definition: many short steps uphill, then the
// curvature there.
struct Best {
  Vector x;
  Vector curvature;  // of each component alone, times x^2
  double log_likelihood = 0;
};

Best climb_naively(const Continuous& c, const Observation& y,
                   const std::function<double(Index, double)>& prior_slope) {
  const Matrix& basis = c.emission.basis();
  Best best{Vector::Ones(3), Vector::Zero(2)};
  const auto for_cells = [&](const auto& visit) {
    for_each_seen(y, [&](Index m, double count, double exposure) {
      visit(m, exposure, count - exposure * basis.row(m).dot(best.x));
    });
  };
  for (int i = 0; i < 40000; ++i) {
    Vector slope = Vector::Zero(2);  // in log x
    for_cells([&](Index m, double exposure, double away) {
      for (Index k = 0; k < 2; ++k) {
        slope[k] += best.x[k] * exposure * basis(m, k) * away / (kNoise * kNoise);
      }
    });
    for (Index k = 0; k < 2; ++k) {
      best.x[k] *= std::exp(0.002 * (slope[k] + prior_slope(k, best.x[k])));
    }
  }
  for_cells([&](Index m, double exposure, double away) {
    best.log_likelihood += std::log(density(away, 0));
    for (Index k = 0; k < 2; ++k) {
      const double share = best.x[k] * exposure * basis(m, k) / kNoise;
      best.curvature[k] += share * share;
    }
  });
  return best;
}

TEST(GaussianEngines, FastFitsNormalLawsToOneObservation) {
  const AnyPrior prior(LogGaussian(2, 0.7, 0.3));
  const double variance = 0.09 / (1 - 0.49);
  const Continuous c(prior);
  const Observation& y = c.record[6];  // with an exposure
  FastEngine engine(prior, c.emission, uncorrected());
  const FilterStep step = engine.step(y, 1);
  const Best best = climb_naively(c, y, [&](Index, double x) { return -std::log(x) / variance; });
  double log_probability = best.log_likelihood;
  for (Index k = 0; k < 2; ++k) {
    const double u = std::log(best.x[k]);
    const double fitted = 1 / (1 / variance + best.curvature[k]);
    EXPECT_NEAR(engine.filter().filtered().mean[k], u, 1e-6);
    EXPECT_NEAR(engine.filter().filtered().variance[k], fitted, 1e-6);
    log_probability += -0.5 * u * u / variance + 0.5 * std::log(fitted / variance);
  }
  EXPECT_NEAR(step.log_predictive, log_probability, 1e-5);
}

TEST(GaussianEngines, FastFitsGammaLawsToOneObservation) {
  const double shape = 3;
  const AnyPrior prior(GammaPrior(2, shape, 0.6));
  const Continuous c(prior);
  const Observation& y = c.record[6];
  FastEngine engine(prior, c.emission, uncorrected());
  const FilterStep step = engine.step(y, 1);
  const Best best = climb_naively(c, y, [&](Index, double x) { return shape - shape * x; });
  double log_probability = best.log_likelihood;
  for (Index k = 0; k < 2; ++k) {
    const double x = best.x[k];
    const double a = best.curvature[k];  // of x^a exp(-b x), which has the likelihood's slope
    const double b = (shape + a) / x - shape;
    EXPECT_NEAR(engine.filter().filtered().mean[k], x, 1e-6);
    EXPECT_NEAR(engine.filter().filtered().variance[k], x * x / (shape + a), 1e-6);
    log_probability += shape * std::log(shape) - std::lgamma(shape) + std::lgamma(shape + a) -
                       (shape + a) * std::log(shape + b) - a * std::log(x) + b * x;
  }
  EXPECT_NEAR(step.log_predictive, log_probability, 1e-5);
}

// With its correction by weighted draws the probability of the first observation has no bias.
TEST(GaussianEngines, CorrectedFastAgreesWithTheGrid) {
  const AnyPrior prior(LogGaussian(2, 0.7, 0.3));
  const Continuous c(prior);
  Record first;
  first.add(c.record[0]);
  const double truth =
      ExactBatch(reference::make_grid_chain(prior, 96).chain, c.emission, first).log_likelihood();
  const Matrix found = reference::over_seeds(kSeeds, [&](std::uint64_t seed) {
    FastEngineOptions options;
    options.filter.seed = seed;
    FastEngine engine(prior, c.emission, options);
    return Vector::Constant(1, std::exp(engine.step(c.record[0], 1).log_predictive - truth)).eval();
  });
  EXPECT_LT(reference::largest_z(found, Vector::Ones(1), 1e-5), reference::critical_z(found));
}

// Where the prior says more of the activations than the counts do, the law of a step is narrow, and
// the statistics are close to those of the exact smoother on a fine grid.
TEST(GaussianEngines, FastStatisticsAreNearThoseOfTheGrid) {
  for (const AnyPrior& prior :
       {AnyPrior(LogGaussian(2, 0.7, 0.05)), AnyPrior(GammaPrior(2, 200, 0.6))}) {
    const Continuous c(prior);
    ExactBatch batch(reference::make_grid_chain(prior, 96).chain, c.emission, c.record);
    const Statistics truth = batch.statistics(false);
    for (const Index most_corrected : {Index{0}, Index{12}}) {
      FastEngineOptions options;
      options.filter.most_corrected = most_corrected;
      options.learn_prior = false;
      FastEngine engine(prior, c.emission, options);
      run(engine, c.record);
      const Statistics& found = engine.statistics();
      EXPECT_LT(largest_relative_difference(found.s1, truth.s1), 0.02) << prior.name();
      EXPECT_LT(largest_relative_difference(found.s2, truth.s2), 0.02) << prior.name();
      EXPECT_LT(largest_relative_difference(found.s4, truth.s4), 0.02) << prior.name();
      EXPECT_LT(largest_relative_difference(found.unseen, truth.unseen), 0.02) << prior.name();
    }
  }
}

// At the best activation alone the squared residuals of three cells with two free activations would
// be a third of what they are.
TEST(GaussianEngines, FastKnowsThatItsBestActivationFitsTooWell) {
  const AnyPrior prior(GammaPrior(2, 3, 0.1));
  const Emission emission((Matrix(3, 2) << 30, 10, 10, 30, 20, 20).finished(), GaussianLaw(1));
  Simulator simulator(prior, emission, 3);
  FastEngine engine(prior, emission, {});
  constexpr int kLength = 2000;
  for (int t = 1; t <= kLength; ++t) {
    simulator.next();
    engine.step(simulator.observation(), 1.0 / t);
  }
  engine.finish();
  EXPECT_NEAR(engine.statistics().s4[0] / engine.statistics().s4[1], 1, 0.1);
}

}  // namespace
}  // namespace headwater
