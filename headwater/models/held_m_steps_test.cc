#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "headwater/any_prior.hpp"
#include "headwater/error.hpp"
#include "headwater/models/basis_selection.hpp"
#include "headwater/models/gamma_prior.hpp"
#include "headwater/models/independent_prior.hpp"
#include "headwater/models/log_gaussian.hpp"
#include "headwater/reference/prior_draws.hpp"
#include "headwater/reference/statistical_tests.hpp"

// M-steps with some parameters held and the scale held or free, compared with other parameter
// values.

namespace headwater {
namespace {

using reference::draw;
using reference::move_on;
using reference::parameter;
using reference::statistics;

const Held kFreeScale{{}, false};

using Objective = std::function<double(const AnyPrior&)>;

void expect_not_better(const AnyPrior& best, const AnyPrior& other, const Objective& objective,
                       const std::string& what) {
  const double value = objective(best);
  EXPECT_LE(objective(other), value + 1e-12 * std::abs(value)) << what;
}

// No small change of a free parameter increases the objective.
void expect_maximum(const AnyPrior& best, const Held& held, const Objective& objective) {
  for (const double factor : {0.999, 1.001}) {
    for (const Parameter& found : best.parameters()) {
      for (Index i = 0; i < found.value.size() && !held.holds(found.name); ++i) {
        Parameter moved = found;
        moved.value(i) *= factor;
        AnyPrior other = best;
        other.set_parameter(moved);
        expect_not_better(best, other, objective, found.name);
      }
    }
    for (Index k = 0; k < best.num_components() && !held.scale; ++k) {
      Vector scale = best.scale();
      scale[k] *= factor;
      AnyPrior other = best;
      other.set_scale(scale);
      expect_not_better(best, other, objective, "scale");
    }
  }
}

// Autoregressive draws along consecutive rows. The last row precedes the first, so the record has
// no ends.
struct Ring {
  explicit Ring(Index length) : after(length, 2) {
    Matrix state = (Matrix(1, 2) << 1, -2).finished();
    const AnyPrior law(
        LogGaussian(2, (Vector(2) << 0.8, 0.3).finished(), (Vector(2) << 0.4, 0.9).finished()));
    const RandomStream random(11);
    for (Index t = 0; t < length; ++t) {
      Matrix next(1, 2);
      law.sample_transition({random, static_cast<std::uint64_t>(t), 0, Purpose::transition}, state,
                            next);
      state = next;
      after.row(t) << state(0) + 1.5, state(1) - 0.7;
    }
    before = after;
    before.bottomRows(length - 1) = after.topRows(length - 1);
    before.row(0) = after.row(length - 1);
  }
  double log_density(const AnyPrior& prior) const {
    Vector out(after.rows());
    prior.log_transition(before, after, out);
    return out.sum();
  }
  Matrix before, after;
};

TEST(LogGaussian, MStepIsTheMaximumGivenWhatIsHeld) {
  const Ring ring(300);
  const Vector persistence = (Vector(2) << 0.5, 0.5).finished();
  const Vector noise = (Vector(2) << 0.5, 2).finished();
  const Vector one = Vector::Constant(1, 0.5);
  for (const AnyPrior& start :
       {AnyPrior(LogGaussian(2, one, one)), AnyPrior(LogGaussian(2, persistence, noise)),
        AnyPrior(LogGaussian(2, persistence, one))}) {
    for (const bool scale : {true, false}) {
      for (const std::vector<std::string>& names :
           {std::vector<std::string>{}, {"persistence"}, {"noise"}, {"persistence", "noise"}}) {
        const Held held{names, scale};
        AnyPrior prior = start;
        prior.set_scale((Vector(2) << 3, 0.6).finished());
        prior.maximise(as_span(statistics(prior, ring.before, ring.after)), held);
        expect_maximum(prior, held, [&](const AnyPrior& p) { return ring.log_density(p); });
      }
    }
  }
}

// A persistence shared by components of different noise: alternates between the best persistence
// given the noise and the best noise given the persistence.
TEST(LogGaussian, SharedPersistenceWeighsComponentsByTheirNoise) {
  const Ring ring(300);
  const Held held{{"noise"}};
  AnyPrior prior(LogGaussian(2, Vector::Constant(1, 0.1), (Vector(2) << 0.4, 0.9).finished()));
  const Vector sums = statistics(prior, ring.before, ring.after);
  prior.maximise(as_span(sums), held);
  const auto objective = [&](const AnyPrior& p) { return ring.log_density(p); };
  expect_maximum(prior, held, objective);
  for (int i = 0; i < 100; ++i) prior.maximise(as_span(sums), kFreeScale);
  expect_maximum(prior, kFreeScale, objective);
}

TEST(LogGaussian, ScaleIsTheExponentialOfTheMean) {
  AnyPrior prior(LogGaussian(2, 0.5, 1));
  // 1, u', u, u'^2, u u', u^2
  const std::vector<double> sums = {10, 18, 20, 44, 43, 45, 0, 0, 0, 0, 0, 0};
  prior.maximise(sums, kFreeScale);
  EXPECT_DOUBLE_EQ(prior.scale()[0], std::exp(2));
  EXPECT_EQ(prior.scale()[1], 1);
  // About m = 2: sum v'^2 = 44 - 72 + 40, sum v v' = 43 - 76 + 40, sum v^2 = 45 - 80 + 40.
  EXPECT_DOUBLE_EQ(parameter(prior, "persistence"), 7.0 / 12);
  EXPECT_DOUBLE_EQ(parameter(prior, "noise"), std::sqrt((5 - 49.0 / 12) / 10));
}

// Moment estimates do not depend on the other parameters, so it does not matter whether those are
// held.
TEST(GammaPrior, LearnsWhatIsFreeWhateverIsHeld) {
  // n, then sums of x', x, x'^2, x^2, x' x. Relative to the means, the variance is 3/8 for x', 1/8
  // for x and 1/4 on average, and the covariance is 3/16.
  const std::vector<double> sums = {4, 8, 8, 22, 18, 19};
  for (const bool scale : {true, false}) {
    for (const std::vector<std::string>& names :
         {std::vector<std::string>{}, {"persistence"}, {"shape"}, {"persistence", "shape"}}) {
      const Held held{names, scale};
      AnyPrior prior(GammaPrior(1, 1.7, 0.6));
      prior.set_scale(Vector::Constant(1, 30));
      prior.maximise(sums, held);
      EXPECT_DOUBLE_EQ(parameter(prior, "persistence"), held.holds("persistence") ? 0.6 : 0.75);
      EXPECT_DOUBLE_EQ(parameter(prior, "shape"), held.holds("shape") ? 1.7 : 4);
      EXPECT_EQ(prior.scale()[0], scale ? 30 : 2);
    }
  }
}

TEST(GammaPrior, EachComponentHasItsOwnScale) {
  const std::vector<double> sums = {4,   8,   8,   22, 18, 19, 3, 30, 30,
                                    500, 308, 340, 5,  0,  0,  0, 0,  0};
  AnyPrior prior(GammaPrior(3, 2, 0.5));
  prior.set_scale(Vector::Constant(3, 7));
  prior.maximise(sums, kFreeScale);
  EXPECT_EQ(prior.scale(), (Vector(3) << 2, 10, 7).finished());
}

// The mean of n independent draws of shape a has relative standard error sqrt(1 / (a n)); alarm
// rate 1e-6. The other parameters must be those found at scale 1.
TEST(GammaPrior, MStepFindsTheScale) {
  constexpr Index kMoves = 3000;
  const AnyPrior truth(GammaPrior(1, 2, 0.8));
  const Matrix previous = draw(truth, kMoves, 0);
  const Matrix next = move_on(truth, previous);
  AnyPrior unit(GammaPrior(1, 0.3, 0.05));
  unit.maximise(as_span(statistics(unit, previous, next)));
  AnyPrior prior(GammaPrior(1, 0.3, 0.05));
  prior.maximise(as_span(statistics(prior, 50 * previous, 50 * next)), kFreeScale);
  EXPECT_NEAR(prior.scale()[0], 50,
              50 * reference::normal_critical(1e-6) * std::sqrt(1 / (2.0 * kMoves)));
  for (const char* name : {"shape", "persistence"}) {
    EXPECT_NEAR(parameter(prior, name) / parameter(unit, name), 1, 1e-10) << name;
  }
}

TEST(IndependentPrior, ShapeAndScaleAreTheMaximumTogether) {
  Matrix x = draw(AnyPrior(IndependentPrior(2, 1.5)), 500, 0);
  x.col(0) *= 40;
  const auto objective = [&](const AnyPrior& p) {
    Vector out(x.rows());
    p.log_transition(x, x, out);
    return out.sum();
  };
  for (const AnyPrior& start :
       {AnyPrior(IndependentPrior(2, 30.0)), AnyPrior(IndependentPrior(2, Vector::Ones(2)))}) {
    for (const Held& held : {kFreeScale, Held{{"shape"}, false}}) {
      AnyPrior prior = start;
      prior.maximise(as_span(statistics(prior, x, x)), held);
      expect_maximum(prior, held, objective);
    }
  }
}

TEST(ScaledPriors, KeepTheirScaleWithoutActivations) {
  for (AnyPrior prior : {AnyPrior(LogGaussian(1, 0.5, 1)), AnyPrior(GammaPrior(1, 2, 0.5)),
                         AnyPrior(IndependentPrior(1, 2))}) {
    prior.set_scale(Vector::Constant(1, 3));
    prior.maximise(as_span(Vector(Vector::Zero(prior.num_statistics()))), kFreeScale);
    EXPECT_EQ(prior.scale()[0], 3);
  }
}

// For a prior whose M-step cannot hold parameters, AnyPrior restores the held values.
TEST(AnyPrior, RestoresWhatIsHeld) {
  AnyPrior prior(BasisSelection(1, 0.7, 0.4));
  prior.maximise(std::vector<double>{1, 1, 1, 3}, {{"stay_off"}});
  EXPECT_EQ(parameter(prior, "stay_off"), 0.7);
  EXPECT_DOUBLE_EQ(parameter(prior, "stay_on"), 0.75);
}

}  // namespace
}  // namespace headwater
