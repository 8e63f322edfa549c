#pragma once

#include <limits>

#include "headwater/any_prior.hpp"
#include "headwater/emission.hpp"
#include "headwater/engines/exact_batch.hpp"
#include "headwater/engines/fast_engine.hpp"
#include "headwater/models/gamma_prior.hpp"
#include "headwater/models/independent_prior.hpp"
#include "headwater/models/log_gaussian.hpp"
#include "headwater/models/relaxed_selection.hpp"
#include "headwater/observation.hpp"
#include "headwater/reference/engine_runs.hpp"
#include "headwater/reference/grid_chain.hpp"
#include "headwater/simulate.hpp"

// Records under continuous priors and any law of the counts, for comparison with fine grids.
namespace headwater::reference {

inline std::vector<AnyPrior> continuous_priors() {
  return {AnyPrior(LogGaussian(2, 0.7, 0.3)), AnyPrior(GammaPrior(2, 3, 0.6)),
          AnyPrior(IndependentPrior(2, 2)), AnyPrior(RelaxedSelection(2, 0.8))};
}

// Eight observations, two components and a background; a missing cell and an exposure.
struct ContinuousRecord {
  ContinuousRecord(const AnyPrior& prior, const AnyLaw& law)
      : emission((Matrix(3, 3) << 3, 1, 3, 0.5, 2, 4, 1, 1, 5).finished(), law) {
    Simulator simulator(prior, Emission(emission.basis().leftCols(2), law), 5);
    Matrix counts(3, 8);
    for (Index t = 0; t < counts.cols(); ++t) {
      simulator.next();
      counts.col(t) =
          Eigen::Map<const Vector>(simulator.observation().data(), 3) + emission.basis().col(2);
    }
    counts(1, 3) = std::numeric_limits<double>::quiet_NaN();
    Matrix exposures = Matrix::Ones(3, 8);
    exposures(2, 6) = 0.5;
    counts(2, 6) *= 0.5;
    record = Record(counts, exposures);
  }
  Emission emission;
  Record record;
};

inline Vector on_grid(const AnyPrior& prior, const ContinuousRecord& c, Index cells) {
  const GridChain grid = make_grid_chain(prior, cells);
  ExactBatch batch(grid.chain, c.emission, c.record);
  return findings(batch.log_likelihood(), batch.statistics(false));
}

// The density of relaxed-selection jumps, so that the error falls with the squared width only.
inline Vector truth_on_grid(const AnyPrior& prior, const ContinuousRecord& c) {
  constexpr Index kCells = 96;
  const Vector fine = on_grid(prior, c, kCells);
  if (prior.name() != "relaxed-selection") return fine;
  return (4 * fine - on_grid(prior, c, kCells / 2)) / 3;
}

struct FastRun {
  double log_likelihood;
  Statistics statistics;
};

// The fast engine with a correction of at most so many components by weighted draws.
inline FastRun run_fast(const AnyPrior& prior, const ContinuousRecord& c, Index most_corrected) {
  FastEngineOptions options;
  options.filter.most_corrected = most_corrected;
  options.learn_prior = false;
  FastEngine engine(prior, c.emission, options);
  const double log_likelihood = run(engine, c.record);
  return {log_likelihood, engine.statistics()};
}

// Particles of each continuous prior, guided and not. A false alarm has the probability `alpha` for
// all comparisons of one prior together.
inline void expect_particles_agree_with_grid(const AnyLaw& law, Index seeds, double alpha) {
  constexpr double kResolution = 1e-4;  // the grid's own error
  for (const AnyPrior& prior : continuous_priors()) {
    const ContinuousRecord c(prior, law);
    Vector truth = truth_on_grid(prior, c);
    const double log_likelihood = truth[0];
    truth[0] = 1;
    for (const bool guided : {false, true}) {
      auto options = particles(ParticleKind::kLag, guided);
      options.learn_prior = false;
      const Matrix found = over_seeds(seeds, [&](std::uint64_t seed) {
        options.filter.seed = seed;
        ParticleEngine engine(prior, c.emission, options, threads(1));
        const double estimate = run(engine, c.record);
        return findings(std::exp(estimate - log_likelihood), engine.statistics());
      });
      ASSERT_EQ(found.cols(), truth.size());
      EXPECT_LT(largest_z(found, truth, kResolution), critical_z(found, 2, alpha))
          << prior.name() << ", guided " << guided;
    }
  }
}

// The mean effective size of the particles, with guides and with the prior alone.
inline double mean_effective_size(const AnyPrior& prior, const ContinuousRecord& c, bool guided) {
  auto options = particles(ParticleKind::kLag, guided);
  options.filter.bridge_below = 0;
  ParticleFilter filter(prior, c.emission, options.filter, threads(1));
  double sum = 0;
  for (Index t = 0; t < c.record.size(); ++t) {
    sum += filter.step(c.record[t]).particles()->effective_size;
  }
  return sum / static_cast<double>(c.record.size());
}

}  // namespace headwater::reference
