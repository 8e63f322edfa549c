#include "headwater/models/scale.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "headwater/any_prior.hpp"
#include "headwater/conformance.hpp"
#include "headwater/error.hpp"
#include "headwater/models/basis_selection.hpp"
#include "headwater/models/gamma_prior.hpp"
#include "headwater/models/independent_prior.hpp"
#include "headwater/models/log_gaussian.hpp"
#include "headwater/models/relaxed_selection.hpp"
#include "headwater/reference/prior_draws.hpp"

namespace headwater {
namespace {

using reference::draw;
using reference::move_on;
using testing::ElementsAre;
using testing::HasSubstr;

const Vector kScale = (Vector(2) << 7, 0.2).finished();

AnyPrior scaled(AnyPrior prior, const Vector& scale = kScale) {
  prior.set_scale(scale);
  return prior;
}

std::vector<AnyPrior> priors_with_a_scale() {
  return {AnyPrior(LogGaussian(2, 0.8, 0.4)), AnyPrior(GammaPrior(2, 1.5, 0.7)),
          AnyPrior(IndependentPrior(2, 0.6))};
}

Vector log_density(const AnyPrior& prior, const Matrix& previous, const Matrix& next) {
  Vector out(previous.rows());
  prior.log_transition(previous, next, out);
  return out;
}

Vector log_bound(const AnyPrior& prior, const Matrix& next) {
  Vector out(next.rows());
  prior.log_transition_bound(next, out);
  return out;
}

Matrix activations(const AnyPrior& prior, const Matrix& states) {
  Matrix x(states.rows(), prior.num_components());
  prior.activations(states, x);
  return x;
}

TEST(Scale, IsOneUnlessSet) {
  for (AnyPrior prior : priors_with_a_scale()) {
    EXPECT_TRUE(prior.has_scale());
    EXPECT_EQ(prior.scale(), Vector(Vector::Ones(2)));
    EXPECT_EQ(scaled(prior).scale(), kScale);
    EXPECT_EQ(prior.scale(), Vector(Vector::Ones(2)));
  }
}

TEST(Scale, IsRefusedWhereItMakesNoSense) {
  const double infinity = std::numeric_limits<double>::infinity();
  for (AnyPrior prior : priors_with_a_scale()) {
    EXPECT_THROW(prior.set_scale(Vector::Ones(1)), UsageError);
    for (const double bad : {0.0, -1.0, infinity, std::nan("")}) {
      EXPECT_THROW(prior.set_scale((Vector(2) << 1, bad).finished()), UsageError);
    }
  }
  for (AnyPrior prior :
       {AnyPrior(BasisSelection(2, 0.5, 0.5)), AnyPrior(RelaxedSelection(2, 0.9))}) {
    EXPECT_FALSE(prior.has_scale());
    EXPECT_EQ(prior.scale(), Vector(Vector::Ones(2)));
    EXPECT_THROW(prior.set_scale(kScale), UsageError);
  }
}

// With the same random numbers, draws differ only by the scale.
TEST(Scale, MultipliesTheActivations) {
  for (const AnyPrior& prior : priors_with_a_scale()) {
    for (const int moves : {0, 1}) {
      const Matrix unit = activations(prior, draw(prior, 100, moves));
      const Matrix other = activations(scaled(prior), draw(scaled(prior), 100, moves));
      EXPECT_TRUE(other.isApprox(unit * kScale.asDiagonal(), 1e-12)) << prior.name();
    }
  }
}

// log f(s x | s x') = log f(x | x') - log s if the state is x, and the same for the bound. If the
// state is log x, the density does not change.
TEST(Scale, ShiftsTheDensityAndItsBound) {
  for (const AnyPrior& prior : priors_with_a_scale()) {
    const Matrix previous = draw(prior, 50, 0);
    const Matrix next = move_on(prior, previous);
    const bool log_state = prior.name() == "log-gaussian";
    const auto at_scale = [&](const Matrix& states) -> Matrix {
      if (log_state) return states.rowwise() + kScale.array().log().matrix().transpose();
      return states * kScale.asDiagonal();
    };
    const double shift = log_state ? 0 : kScale.array().log().sum();
    const Vector unit = log_density(prior, previous, next);
    const Vector own = log_density(scaled(prior), at_scale(previous), at_scale(next));
    EXPECT_LT((own.array() + shift - unit.array()).abs().maxCoeff(), 1e-9) << prior.name();
    const Vector bound = log_bound(scaled(prior), at_scale(next));
    EXPECT_LT((bound.array() + shift - log_bound(prior, next).array()).abs().maxCoeff(), 1e-9);
  }
}

TEST(Scale, PriorsThatHaveOneConform) {
  for (const AnyPrior& prior : priors_with_a_scale()) {
    EXPECT_THAT(check_prior(scaled(prior)).findings, ElementsAre()) << prior.name();
  }
}

TEST(Scale, IsLearnedInsideItsRange) {
  EXPECT_EQ(learned_scale(3), 3);
  EXPECT_EQ(learned_scale(0), 1e-100);
  EXPECT_EQ(learned_scale(std::numeric_limits<double>::infinity()), 1e100);
}

// An IndependentPrior whose scale has one fault, chosen at construction.
struct FaultyScale : IndependentPrior {
  enum Fault { kNone, kForgets, kTakesAll, kDraws, kDensity, kInverse, kMoves, kStays, kWorse };
  explicit FaultyScale(Fault what) : IndependentPrior(2, 2.0), fault(what) {}
  Fault fault;

  IndependentPrior unit() const {
    IndependentPrior prior = *this;
    prior.IndependentPrior::set_scale(Vector::Ones(2));
    return prior;
  }
  void set_scale(const Vector& scale) {
    if (fault == kTakesAll && scale.size() != 2) return;
    if (fault != kForgets) IndependentPrior::set_scale(scale);
  }
  void sample_initial(const RandomBlock& random, States next) const {
    fault == kDraws ? unit().sample_initial(random, next)
                    : IndependentPrior::sample_initial(random, next);
  }
  void log_transition(ConstStates previous, ConstStates next, Eigen::Ref<Vector> out) const {
    IndependentPrior prior = *this;
    if (fault == kDensity) prior = unit();
    if (fault == kInverse) prior.IndependentPrior::set_scale(scale().cwiseInverse());
    prior.log_transition(previous, next, out);
  }
  void log_transition_bound(ConstStates next, Eigen::Ref<Vector> out) const {
    log_transition(next, next, out);
  }
  void maximise(std::span<const double> s3, const Held& held = {}) {
    Held mine = held;
    if (fault == kMoves) mine.scale = false;
    if (fault == kStays) mine.scale = true;
    IndependentPrior::maximise(s3, mine);
    if (fault == kWorse && !held.scale) IndependentPrior::set_scale(100 * scale());
  }
};

TEST(Scale, ConformanceFindsItsFaults) {
  const std::vector<std::pair<FaultyScale::Fault, const char*>> faults = {
      {FaultyScale::kForgets, "does not give back"},
      {FaultyScale::kTakesAll, "not a valid scale"},
      {FaultyScale::kDraws, "do not have the scale"},
      {FaultyScale::kDensity, "does not depend on the scale"},
      {FaultyScale::kInverse, "does not depend on the scale"},
      {FaultyScale::kMoves, "though it is held"},
      {FaultyScale::kStays, "does not learn the scale"},
      {FaultyScale::kWorse, "decreases the likelihood"}};
  EXPECT_THAT(check_prior(AnyPrior(FaultyScale(FaultyScale::kNone))).findings, ElementsAre());
  for (const auto& [fault, words] : faults) {
    EXPECT_THAT(check_prior(AnyPrior(FaultyScale(fault))).findings,
                testing::Contains(HasSubstr(words)))
        << fault;
  }
}

}  // namespace
}  // namespace headwater
