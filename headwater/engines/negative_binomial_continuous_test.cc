#include <gtest/gtest.h>

#include "headwater/engines/fast_engine.hpp"
#include "headwater/reference/continuous_records.hpp"

// Particles and the fast engine under continuous priors and the negative binomial law, against fine
// grids.

namespace headwater {
namespace {

using reference::ContinuousRecord;
using reference::largest_relative_difference;

const NegativeBinomial& dispersed() {
  static const NegativeBinomial law(Vector{{0.5, 0, 0.1}});
  return law;
}

// The rate of false alarms is that of 3 standard errors, once for each prior: shared by Bonferroni
// among the likelihood and all statistics, with guides and without.
TEST(NegativeBinomialEngines, ParticlesOfContinuousPriorsAgreeWithTheGrid) {
  reference::expect_particles_agree_with_grid(dispersed(), 200, 0.0027);
}

// Guides that know the law keep more particles alive than the prior alone, where counts say more
// than the prior does.
TEST(NegativeBinomialEngines, GuidesKnowTheLaw) {
  for (const AnyPrior& prior : reference::continuous_priors()) {
    const NegativeBinomial law(Vector::Constant(3, 0.001));
    const Matrix basis = (Matrix(3, 2) << 600, 100, 100, 400, 200, 200).finished();
    ContinuousRecord c(prior, law);
    c.emission = Emission(basis, law);
    Simulator simulator(prior, c.emission, 5);
    c.record = Record();
    for (int t = 0; t < 8; ++t) {
      simulator.next();
      c.record.add(Observation(simulator.observation()));
    }
    EXPECT_GT(mean_effective_size(prior, c, true), 1.5 * mean_effective_size(prior, c, false))
        << prior.name();
  }
}

// The bias of the fast engine: of the log-likelihood of eight observations, and of the statistics
// over their largest value (of `unseen` over that of s1, from which it is subtracted). Its
// correction by weighted draws is for log-gaussian only.
struct FastBias {
  AnyPrior prior;
  double log_likelihood;
  double statistics;
};

TEST(NegativeBinomialEngines, FastIsNearTheGrid) {
  const std::vector<FastBias> cases = {{AnyPrior(LogGaussian(2, 0.7, 0.05)), 0.006, 0.002},
                                       {AnyPrior(LogGaussian(2, 0.7, 0.3)), 0.15, 0.05},
                                       {AnyPrior(GammaPrior(2, 200, 0.6)), 0.006, 0.002},
                                       {AnyPrior(GammaPrior(2, 3, 0.6)), 0.25, 0.05}};
  for (const auto& [prior, of_log_likelihood, of_statistics] : cases) {
    const ContinuousRecord c(prior, dispersed());
    ExactBatch batch(reference::make_grid_chain(prior, 96).chain, c.emission, c.record);
    const Statistics truth = batch.statistics(false);
    for (const Index most_corrected : {Index{0}, Index{12}}) {
      const auto [log_likelihood, found] = reference::run_fast(prior, c, most_corrected);
      EXPECT_NEAR(log_likelihood, batch.log_likelihood(), of_log_likelihood);
      EXPECT_LT(largest_relative_difference(found.s1, truth.s1), of_statistics) << prior.name();
      EXPECT_LT(largest_relative_difference(found.s2, truth.s2), of_statistics) << prior.name();
      EXPECT_LT(largest_relative_difference(found.s4, truth.s4), of_statistics) << prior.name();
      EXPECT_LT((found.unseen - truth.unseen).cwiseAbs().maxCoeff(),
                of_statistics * truth.s1.maxCoeff())
          << prior.name();
    }
  }
}

}  // namespace
}  // namespace headwater
