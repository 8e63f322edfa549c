#include "headwater/filters/guided_proposal.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>
#include <string>

#include "headwater/core/test_numbers.hpp"
#include "headwater/error.hpp"
#include "headwater/filters/exact_filter.hpp"
#include "headwater/filters/particle_filter.hpp"
#include "headwater/models/basis_selection.hpp"
#include "headwater/models/finite_prior.hpp"
#include "headwater/models/gamma_prior.hpp"
#include "headwater/models/independent_prior.hpp"
#include "headwater/models/log_gaussian.hpp"
#include "headwater/models/relaxed_selection.hpp"
#include "headwater/reference/grid_chain.hpp"
#include "headwater/reference/particle_runs.hpp"
#include "headwater/reference/streams.hpp"
#include "headwater/reference/uniform_prior.hpp"
#include "headwater/simulate.hpp"

namespace headwater {
namespace {

ParticleFilterOptions guided(Index n, double bridge_below, std::uint64_t seed = 1) {
  ParticleFilterOptions options;
  options.num_particles = n;
  options.seed = seed;
  options.guided = true;
  options.bridge_below = bridge_below;
  return options;
}

// log of the estimated likelihood, for each of 200 seeds.
Vector log_estimates(const AnyPrior& prior, const Matrix& basis, const Matrix& record,
                     double bridge_below) {
  return reference::over_seeds(700, [&](std::uint64_t seed) {
    ParticleFilter filter(prior, basis, guided(100, bridge_below, seed), reference::threads(1));
    double sum = 0;
    for (Index t = 0; t < record.cols(); ++t) {
      sum += filter.step(as_span(record.col(t))).log_predictive;
    }
    return Vector::Constant(1, sum);
  });
}

// The mean of p^ / p over 700 seeds is 1: an alarm rate of 1e-6 for the 14 numbers here together.
void expect_unbiased(const AnyPrior& prior, const Matrix& basis, const Matrix& record,
                     double log_likelihood) {
  for (const double bridge_below : {0.0, 1.0}) {
    const Vector logs = log_estimates(prior, basis, record, bridge_below);
    const Matrix ratios = (logs.array() - log_likelihood).exp();
    EXPECT_LT(reference::largest_z(ratios, Vector::Ones(1), 1e-6),
              reference::critical_z(ratios, 14))
        << prior.name() << ' ' << bridge_below;
  }
}

TEST(GuidedProposal, LikelihoodIsUnbiasedOnAGrid) {
  const Matrix basis = random_basis(3, 1, 6, 3);
  for (const AnyPrior& prior :
       {AnyPrior(LogGaussian(1, 0.8, 0.4)), AnyPrior(GammaPrior(1, 1.5, 0.7)),
        AnyPrior(GammaPrior(1, 0.4, 0.9)), AnyPrior(IndependentPrior(1, 0.8)),
        AnyPrior(RelaxedSelection(1, 0.8))}) {
    Matrix record = reference::simulate_record(prior, basis, 8, 5);
    record(0, 3) = kNaN;
    const auto truth = reference::truth_of(prior, basis, record, 512);
    expect_unbiased(prior, basis, record, truth.log_likelihood);
  }
}

TEST(GuidedProposal, LikelihoodAndMeansOfFinitePriorsAreThoseOfTheExactFilter) {
  const Matrix basis = random_basis(6, 4, 3, 3);  // the last for a background
  for (const AnyPrior& prior :
       {AnyPrior(BasisSelection(3, 0.8, 0.6)), AnyPrior(FiniteStatePrior::one_hot(3, 0.8))}) {
    Matrix record = reference::simulate_record(prior, basis.leftCols(3), 10, 5);
    record(1, 4) = kNaN;
    ExactFilter exact(prior.finite_chain(), basis);
    double log_likelihood = 0;
    Matrix means(3, record.cols());
    for (Index t = 0; t < record.cols(); ++t) {
      log_likelihood += exact.step(as_span(record.col(t))).log_predictive;
      means.col(t) = (exact.states().transpose() * exact.filtered()).head(3);
    }
    expect_unbiased(prior, basis, record, log_likelihood);
    // An alarm rate of 1e-6 for 30 means in 4 settings.
    for (const double bridge_below : {0.0, 1.0}) {
      const Matrix found = reference::over_seeds(30, [&](std::uint64_t seed) {
        ParticleFilter filter(prior, basis, guided(1000, bridge_below, seed),
                              reference::threads(1));
        Matrix own(3, record.cols());
        for (Index t = 0; t < record.cols(); ++t) {
          filter.step(as_span(record.col(t)));
          own.col(t) = filter.filtered_activation().head(3);
        }
        return Vector(own.reshaped());
      });
      EXPECT_LT(reference::largest_z(found, means.reshaped(), 1e-4),
                reference::critical_z(found, 4))
          << prior.name() << ' ' << bridge_below;
    }
  }
}

TEST(GuidedProposal, PredictedMeansAreThoseOfTheExactFilter) {
  const AnyPrior prior(BasisSelection(3, 0.8, 0.6));
  const Matrix basis = random_basis(6, 3, 3, 3);
  const Matrix record = reference::simulate_record(prior, basis, 10, 5);
  ExactFilter exact(prior.finite_chain(), basis);
  Matrix means(3, record.cols());
  for (Index t = 0; t < record.cols(); ++t) {
    exact.step(as_span(record.col(t)));
    means.col(t) = exact.states().transpose() * exact.predicted();
  }
  const Matrix found = reference::over_seeds(30, [&](std::uint64_t seed) {
    ParticleFilter filter(prior, basis, guided(1000, 0.3, seed), reference::threads(1));
    Matrix own(3, record.cols());
    for (Index t = 0; t < record.cols(); ++t) {
      filter.step(as_span(record.col(t)));
      own.col(t) = filter.predicted_activation();
    }
    return Vector(own.reshaped());
  });
  EXPECT_LT(reference::largest_z(found, means.reshaped(), 1e-4), reference::critical_z(found));
}

// With a single axis the guide is the likelihood: after resampling, weights would be equal but for
// the particles that the prior draws, one in twenty, which may weigh nothing. That they are more
// than 30 of 200 has probability 3e-8; the others weigh between .95 and 1 in proportion.
TEST(GuidedProposal, AFiniteStatePriorIsFullyAdapted) {
  const AnyPrior prior(FiniteStatePrior::one_hot(4, 0.8));
  const Matrix basis = random_basis(6, 4, 5, 3);
  const Matrix record = reference::simulate_record(prior, basis, 10, 5);
  ParticleFilterOptions options = guided(200, 0);
  options.resample_below = 1;
  ParticleFilter filter(prior, basis, options, reference::threads(1));
  for (Index t = 0; t < record.cols(); ++t) {
    const FilterStep step = filter.step(as_span(record.col(t)));
    EXPECT_TRUE(step.particles()->guided);
    EXPECT_GT(step.particles()->effective_size, 0.8 * 200);
  }
}

TEST(GuidedProposal, AnObservationWithoutASeenCellSaysNothing) {
  const AnyPrior prior(GammaPrior(2, 1.5, 0.7));
  const Matrix basis = random_basis(4, 2, 4, 3);
  const Matrix record = reference::simulate_record(prior, basis, 6, 5);
  const Vector nothing = Vector::Constant(4, kNaN);
  ParticleFilter filter(prior, basis, guided(100, 0.3), reference::threads(1));
  for (Index t = 0; t < record.cols(); ++t) {
    const FilterStep step = filter.step(as_span(nothing));
    EXPECT_EQ(step.log_predictive, 0);
    EXPECT_FALSE(step.particles()->guided);
    EXPECT_TRUE(filter.step(as_span(record.col(t))).particles()->guided);
  }
}

// A count in a channel that no component reaches leaves the law as predicted.
TEST(GuidedProposal, AnImpossibleObservationLeavesAValidLaw) {
  Matrix basis = random_basis(4, 2, 4, 3);
  basis.row(2).setZero();
  for (const AnyPrior& prior :
       {AnyPrior(LogGaussian(2, 0.9, 0.5)), AnyPrior(GammaPrior(2, 1.5, 0.7)),
        AnyPrior(IndependentPrior(2, 1.5)), AnyPrior(RelaxedSelection(2, 0.8)),
        AnyPrior(BasisSelection(2, 0.8, 0.6))}) {
    Matrix record = reference::simulate_record(prior, basis, 6, 5);
    for (const Index t : {0, 3}) record(2, t) = 5;
    ParticleFilter filter(prior, basis, guided(100, 0.3), reference::threads(1));
    for (Index t = 0; t < record.cols(); ++t) {
      const FilterStep step = filter.step(as_span(record.col(t)));
      EXPECT_EQ(step.impossible, t == 0 || t == 3) << prior.name();
      EXPECT_NEAR(filter.weights().sum(), 1, 1e-12) << prior.name();
      EXPECT_TRUE(filter.filtered_activation().allFinite()) << prior.name();
    }
  }
}

// Says that every particle is worth nothing, or what is no number.
struct WorthlessPrior : reference::UniformPrior {
  double log_worth;

  class Guide final : public headwater::Guide {
   public:
    std::unique_ptr<headwater::Guide> clone() const override {
      return std::make_unique<Guide>(*this);
    }
    void log_worths(ConstStates, Eigen::Ref<Vector> out) const override {
      out.setConstant(log_worth);
    }
    void draw(const RandomBlock&, ConstStates, States next) const override {
      next.setConstant(kNaN);
    }
    void log_values(ConstStates, Eigen::Ref<Vector> out) const override { out.setZero(); }
    double log_worth = 0;
  };
  bool guide(const Evidence&, ConstStates, const Eigen::Ref<const Vector>&, Guide& guide) const {
    guide.log_worth = log_worth;
    return true;
  }
};

TEST(GuidedProposal, WhereNothingIsWorthAnythingThePriorDraws) {
  const Matrix basis = Matrix::Ones(2, 1);
  const std::vector<double> y = {1, 0};
  for (const double worth :
       {-std::numeric_limits<double>::infinity(), kNaN, std::numeric_limits<double>::infinity()}) {
    const AnyPrior prior(WorthlessPrior{{}, worth});
    ParticleFilter filter(prior, basis, guided(100, 0.3), reference::threads(1));
    ParticleFilterOptions plain = guided(100, 0.3);
    plain.guided = false;
    ParticleFilter bootstrap(prior, basis, plain, reference::threads(1));
    for (int t = 0; t < 4; ++t) {
      EXPECT_EQ(filter.step(y).log_predictive, bootstrap.step(y).log_predictive);
      EXPECT_EQ(filter.states(), bootstrap.states());
      EXPECT_EQ(filter.weights(), bootstrap.weights());
    }
  }
}

// Without a guide of its own, or a finite chain.
struct PlainPrior {
  std::string name() const { return "plain"; }
  Index num_components() const { return 1; }
  Index state_size() const { return 1; }
  void sample_initial(const RandomBlock&, States next) const { next.setOnes(); }
  void sample_transition(const RandomBlock&, ConstStates, States next) const { next.setOnes(); }
  void activations(ConstStates states, Eigen::Ref<Matrix> x) const { x = states; }
};

TEST(GuidedProposal, APriorWithoutAGuideIsRefused) {
  const AnyPrior prior(PlainPrior{});
  EXPECT_FALSE(prior.is_guided());
  EXPECT_THROW(ParticleFilter(prior, Matrix::Ones(2, 1), guided(10, 0.3), reference::threads(1)),
               UsageError);
}

}  // namespace
}  // namespace headwater
