#include "headwater/learning/level_prior.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "headwater/conformance.hpp"
#include "headwater/error.hpp"
#include "headwater/learning/activation_law.hpp"
#include "headwater/models/gamma_prior.hpp"
#include "headwater/models/log_gaussian.hpp"
#include "headwater/models/relaxed_selection.hpp"
#include "headwater/reference/statistical_tests.hpp"

namespace headwater {
namespace {

constexpr Index kStates = 256;
constexpr Index kBinaryStates = 1024;

LevelPrior small_prior() {
  return {(Matrix(3, 2) << 0, 0.5, 1, 2, 4, 3).finished(),
          (Matrix(3, 3) << 0.8, 0.1, 0.1, 0.2, 0.7, 0.1, 0.1, 0.3, 0.6).finished()};
}

TEST(LevelPrior, Conforms) {
  const ConformanceReport report = check_prior(AnyPrior(small_prior()));
  for (const std::string& finding : report.findings) ADD_FAILURE() << finding;
}

TEST(LevelPrior, RefusesWhatIsNoLaw) {
  LevelPrior prior = small_prior();
  EXPECT_THROW(prior.set_parameter({"levels", Matrix::Ones(3, 2)}), UsageError);
  EXPECT_THROW(prior.set_parameter({"transition", Matrix::Ones(3, 3)}), UsageError);
  EXPECT_THROW(prior.set_parameter({"transition", Matrix::Identity(2, 2)}), UsageError);
  EXPECT_THROW(LevelPrior(Matrix::Constant(2, 1, -1), Matrix::Constant(2, 2, 0.5)), UsageError);
}

TEST(LevelPrior, ALevelNeverVisitedKeepsItsRow) {
  LevelPrior prior = small_prior();
  const Matrix before = prior.parameters()[0].value;
  std::vector<double> moves(18, 0.0);
  moves[0] = 1;   // component 1, 0 -> 0
  moves[10] = 3;  // component 2, 0 -> 1
  prior.maximise(moves);
  const Matrix after = prior.parameters()[0].value;
  EXPECT_EQ(after.row(0), (Matrix(1, 3) << 0.25, 0.75, 0).finished());
  EXPECT_EQ(after.bottomRows(2), before.bottomRows(2));
}

struct Case {
  AnyPrior prior;
  double correlation;  // of one activation with the next, or more
};

std::vector<Case> continuous_priors(Index num_components) {
  return {{AnyPrior(RelaxedSelection(num_components, 0.9)), 0.9},
          {AnyPrior(LogGaussian(num_components, 0.8, 0.4)), 0.8},
          {AnyPrior(GammaPrior(num_components, 2, 0.7)), 0.7}};
}

// As many levels as 256 joint states leave room for, two up to 1,024.
TEST(StandIn, HasAsManyLevelsAsThereIsRoomFor) {
  const std::vector<std::pair<Index, Index>> components_and_levels = {
      {1, 4}, {4, 4}, {5, 3}, {6, 2}, {10, 2}};
  for (const auto& [components, levels] : components_and_levels) {
    for (const Case& c : continuous_priors(components)) {
      const auto found = stand_in(c.prior, kStates, kBinaryStates);
      ASSERT_TRUE(found);
      const FiniteChain chain = found->finite_chain();
      ASSERT_EQ(chain.axes.size(), components);
      EXPECT_NO_THROW(validate(chain, "stand-in"));
      for (const FiniteAxis& axis : chain.axes) {
        EXPECT_EQ(axis.size(), levels);
        EXPECT_GT(axis.transition.minCoeff(), 0);
        for (Index i = 1; i < levels; ++i) EXPECT_GT(axis.states(i), axis.states(i - 1));
      }
    }
  }
}

TEST(StandIn, IsNoneWhereTwoLevelsAreTooMany) {
  for (const Index components : {11, 12, 100, 5000}) {
    EXPECT_FALSE(stand_in(AnyPrior(GammaPrior(components, 2, 0.7)), kStates, kBinaryStates));
  }
}

// The levels, weighed by how often each is the nearest, have the mean of the draws. Weighed by the
// stationary law of the moves that were drawn they have it but for noise: over n = 4096 K moves,
// visits before and after a move differ by a standard deviation of sqrt(2 (1 - r) / n), and a
// difference lasts for 1 / (1 - r) moves. In units of the activation's standard deviation; an alarm
// rate of 1e-6 for the 9 means together.
TEST(StandIn, HasThePriorsMean) {
  for (const Case& c : continuous_priors(3)) {
    const auto found = stand_in(c.prior, kStates, kBinaryStates);
    ASSERT_TRUE(found);
    const Vector mean = mean_activation(c.prior);
    const FiniteAxis axis = found->finite_chain().axes[0];
    const double sd = std::sqrt(axis.states.array().square().matrix().col(0).dot(axis.initial) -
                                std::pow(axis.states.col(0).dot(axis.initial), 2));
    const double band =
        reference::normal_critical(1e-6 / 9) * sd * std::sqrt(2 / (1 - c.correlation) / (3 * 4096));
    EXPECT_LT((mean_activation(*found) - mean).cwiseAbs().maxCoeff(), band) << c.prior.name();
  }
}

// The slower the prior, the longer its stand-in stays where it is.
TEST(StandIn, IsAsSlowAsThePrior) {
  const auto stay = [](double persistence) {
    const auto found = stand_in(AnyPrior(GammaPrior(2, 2, persistence)), kStates, kBinaryStates);
    return found->finite_chain().axes[0].transition.diagonal().minCoeff();
  };
  EXPECT_LT(stay(0.3), stay(0.9));
  EXPECT_LT(stay(0.9), stay(0.99));
}

}  // namespace
}  // namespace headwater
