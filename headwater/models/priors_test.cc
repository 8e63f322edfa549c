#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "headwater/any_prior.hpp"
#include "headwater/conformance.hpp"
#include "headwater/error.hpp"
#include "headwater/models/basis_selection.hpp"
#include "headwater/models/finite_prior.hpp"

namespace headwater {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

double parameter_of(const AnyPrior& prior, const char* name, Index entry = 0) {
  const Parameters parameters = prior.parameters();
  return find_parameter(parameters, name)->value(entry);
}

FiniteStatePrior three_states() {
  Matrix states(3, 2);
  states << 0, 1, 2, 0.5, 1, 3;
  Matrix transition(3, 3);
  transition << 0.7, 0.3, 0, 0.2, 0.6, 0.2, 0.1, 0, 0.9;
  return {states, transition};
}

TEST(Priors, OwnOnesConform) {
  const Vector off = (Vector(3) << 0.5, 0.9, 0.99).finished();
  const Vector on = (Vector(3) << 0.4, 0.6, 0.9).finished();
  for (const AnyPrior& prior :
       {AnyPrior(BasisSelection(5, 0.8571, 0.6926)), AnyPrior(BasisSelection(3, off, on)),
        AnyPrior(BasisSelection(1, 0.3, 0.2)), AnyPrior(three_states()),
        AnyPrior(FiniteStatePrior::one_hot(4, 0.8)), AnyPrior(FiniteStatePrior::one_hot(1, 0.8))}) {
    EXPECT_THAT(check_prior(prior).findings, ElementsAre()) << prior.name();
  }
}

TEST(BasisSelection, StartsInItsStationaryLaw) {
  for (const FiniteAxis& axis : BasisSelection(2, 0.8571, 0.6926).finite_chain().axes) {
    EXPECT_NEAR(axis.initial[1], (1 - 0.8571) / (2 - 0.8571 - 0.6926), 1e-15);
  }
}

TEST(BasisSelection, HasALawHoweverCloseToOneItsProbabilities) {
  AnyPrior prior(BasisSelection(1, 0.5, 0.5));
  prior.maximise(std::vector<double>{5, 0, 0, 5});
  EXPECT_NO_THROW(validate(prior.finite_chain(), "prior"));
  EXPECT_EQ(prior.finite_chain().axes[0].initial[0], 0.5);
}

TEST(BasisSelection, MaximisesOverTheStateBeforeTheMove) {
  // n00, n01, n10, n11 of two components
  const std::vector<double> moves = {6, 2, 1, 3, 10, 0, 1, 1};
  AnyPrior shared(BasisSelection(2, 0.5, 0.5));
  shared.maximise(moves);
  EXPECT_DOUBLE_EQ(parameter_of(shared, "stay_off"), 16.0 / 18);
  EXPECT_DOUBLE_EQ(parameter_of(shared, "stay_on"), 4.0 / 6);

  AnyPrior own(BasisSelection(2, Vector::Constant(2, 0.5), Vector::Constant(2, 0.5)));
  own.maximise(moves);
  EXPECT_DOUBLE_EQ(parameter_of(own, "stay_off", 0), 6.0 / 8);
  EXPECT_LT(parameter_of(own, "stay_off", 1), 1);  // 10 of 10, but kept below 1
  EXPECT_NEAR(parameter_of(own, "stay_off", 1), 1, 1e-15);
  EXPECT_DOUBLE_EQ(parameter_of(own, "stay_on", 0), 3.0 / 4);
}

TEST(BasisSelection, AStateNeverVisitedKeepsItsProbability) {
  AnyPrior prior(BasisSelection(1, 0.7, 0.4));
  prior.maximise(std::vector<double>{5, 0, 0, 0});
  EXPECT_EQ(parameter_of(prior, "stay_on"), 0.4);
  prior.maximise(std::vector<double>{0, 0, 0, 0});
  EXPECT_EQ(parameter_of(prior, "stay_on"), 0.4);
}

TEST(BasisSelection, RefusesWhatIsNotAProbability) {
  for (const double bad : {0.0, 1.0, -0.1, 1.5, std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_THROW(BasisSelection(2, bad, 0.5), UsageError);
    AnyPrior prior(BasisSelection(2, 0.5, 0.5));
    EXPECT_THROW(prior.set_parameter(scalar_parameter("stay_on", bad)), UsageError);
  }
  EXPECT_THROW(BasisSelection(3, Vector::Constant(2, 0.5), Vector::Constant(1, 0.5)), UsageError);
}

TEST(FiniteStatePrior, KeepsImpossibleMovesImpossible) {
  AnyPrior prior(three_states());
  prior.maximise(std::vector<double>{1, 3, 0, 1, 1, 2, 0, 0, 0});
  const Matrix transition = prior.finite_chain().axes[0].transition;
  EXPECT_NEAR(transition(0, 1), 0.75, 1e-15);
  EXPECT_EQ(transition(0, 2), 0);
  EXPECT_NEAR(transition(2, 2), 0.9, 1e-15);  // state 3 was never left or entered
}

TEST(FiniteStatePrior, OneHotHasOneComponentOnAtATime) {
  const Matrix states = FiniteStatePrior::one_hot(4, 0.9).finite_chain().joint_states();
  EXPECT_EQ(states, Matrix(Matrix::Identity(4, 4)));
}

TEST(FiniteStatePrior, RefusesTablesThatDoNotFit) {
  EXPECT_THROW(FiniteStatePrior(Matrix::Identity(3, 3), Matrix::Constant(2, 2, 0.5)), UsageError);
  EXPECT_THROW(FiniteStatePrior(Matrix::Identity(2, 2), Matrix::Constant(2, 2, 0.6)), UsageError);
  EXPECT_THROW(FiniteStatePrior(Matrix::Zero(2, 2), Matrix::Constant(2, 2, 0.5)), UsageError);
}

TEST(AnyPrior, IsAValue) {
  AnyPrior a(BasisSelection(2, 0.5, 0.5));
  AnyPrior b = a;
  b.set_parameter(scalar_parameter("stay_off", 0.9));
  EXPECT_EQ(parameter_of(a, "stay_off"), 0.5);
  a = b;
  EXPECT_EQ(parameter_of(a, "stay_off"), 0.9);
}

// Independent uniform activations on (0, 1): no finite chain, no density, no parameters.
struct Uniform {
  std::string name() const { return "uniform"; }
  Index num_components() const { return 2; }
  Index state_size() const { return 2; }
  void sample_initial(const RandomBlock& random, States next) const {
    for (Index i = 0; i < next.rows(); ++i) {
      Generator generator = random.particle(i);
      for (Index k = 0; k < 2; ++k) next(i, k) = generator.uniform();
    }
  }
  void sample_transition(const RandomBlock& random, ConstStates /*previous*/, States next) const {
    for (Index i = 0; i < next.rows(); ++i) {
      Generator generator = random.particle(i);
      for (Index k = 0; k < 2; ++k) next(i, k) = generator.uniform();
    }
  }
  void activations(ConstStates states, Eigen::Ref<Matrix> x) const { x = states; }
};
static_assert(SampledPrior<Uniform> && !FinitePrior<Uniform> && !LearnablePrior<Uniform>);

TEST(AnyPrior, SaysWhatAPriorCannotDo) {
  AnyPrior prior{Uniform()};
  EXPECT_FALSE(prior.is_finite());
  EXPECT_FALSE(prior.is_learnable());
  EXPECT_THROW(prior.finite_chain(), UsageError);
  EXPECT_THROW(prior.maximise({}), UsageError);
  EXPECT_THROW(prior.set_parameter({}), UsageError);
  EXPECT_TRUE(prior.parameters().empty());
  EXPECT_TRUE(check_prior(prior).passed());
}

// A prior with one fault, chosen at construction.
struct Faulty {
  enum Fault {
    kNone,
    kRows,
    kStart,
    kMStep,
    kNegative,
    kDraws,
    kWildDraws,
    kForbiddenDraws,
    kActivations,
    kUnknownName
  };
  Fault fault = kNone;
  double stay = 0.8;

  std::string name() const { return "faulty"; }
  Index num_components() const { return 1; }
  FiniteChain finite_chain() const {
    FiniteAxis axis;
    axis.states = (Matrix(2, 1) << (fault == kNegative ? -1 : 0), 1).finished();
    axis.transition =
        (Matrix(2, 2) << stay, 1 - stay + (fault == kRows ? 0.1 : 0), 1 - stay, stay).finished();
    axis.initial = fault == kStart ? (Vector(2) << 0.9, 0.1).finished() : Vector::Constant(2, 0.5);
    return {{axis}};
  }
  Index state_size() const { return 1; }
  void sample_initial(const RandomBlock& random, States next) const {
    detail::sample_finite_initial(finite_chain(), random, next);
  }
  void sample_transition(const RandomBlock& random, ConstStates previous, States next) const {
    Faulty other = *this;
    if (fault == kDraws) other.stay = 0.75;
    detail::sample_finite_transition(other.finite_chain(), random, previous, next);
    if (fault == kWildDraws) next(0, 0) = 1e6;
    if (fault == kForbiddenDraws) next(0, 0) = 1 - previous(0, 0);
  }
  void activations(ConstStates states, Eigen::Ref<Matrix> x) const {
    detail::finite_activations(finite_chain(), states, x);
    if (fault == kActivations) x *= 5;
  }
  Parameters parameters() const { return {scalar_parameter("stay", stay)}; }
  void set_parameter(const Parameter& parameter_of) {
    if (parameter_of.name == "stay") {
      stay = parameter_of.value(0);
    } else if (fault != kUnknownName) {
      throw UsageError("no such parameter_of");
    }
  }
  void maximise(std::span<const double> n) {
    const double total = n[0] + n[1] + n[2] + n[3];
    stay = (n[0] + n[3]) / total;
    if (fault == kMStep) stay = n[0] / (n[0] + n[1]);
  }
};

TEST(Conformance, FindsEachFault) {
  const std::vector<std::pair<Faulty::Fault, const char*>> faults = {
      {Faulty::kRows, "sums to 1.1"},
      {Faulty::kStart, "not stationary"},
      {Faulty::kMStep, "not at a maximum: another value of 'stay'"},
      {Faulty::kNegative, "negative"},
      {Faulty::kDraws, "draws do not follow"},
      {Faulty::kWildDraws, "a state that the chain does not have"},
      {Faulty::kActivations, "disagrees with finite_chain()"},
      {Faulty::kUnknownName, "accepts a name"},
  };
  EXPECT_THAT(check_prior(AnyPrior(Faulty{})).findings, ElementsAre());
  EXPECT_THAT(check_prior(AnyPrior(Faulty{Faulty::kForbiddenDraws, 1 - 1e-17})).findings,
              ElementsAre(HasSubstr("a move of probability zero")));
  for (const auto& [fault, words] : faults) {
    EXPECT_THAT(check_prior(AnyPrior(Faulty{fault})).findings, ElementsAre(HasSubstr(words)));
  }
}

}  // namespace
}  // namespace headwater
