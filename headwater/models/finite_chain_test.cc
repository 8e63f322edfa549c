#include "headwater/finite_chain.hpp"

#include <gtest/gtest.h>

#include "headwater/error.hpp"
#include "headwater/models/basis_selection.hpp"

namespace headwater {
namespace {

TEST(FiniteChain, JointStatesCountWithTheFirstAxisFastest) {
  const FiniteChain chain = BasisSelection(3, 0.8, 0.7).finite_chain();
  const Matrix states = chain.joint_states();
  ASSERT_EQ(states.rows(), 8);
  ASSERT_EQ(states.cols(), 3);
  for (Index x = 0; x < 8; ++x) {
    for (Index k = 0; k < 3; ++k) EXPECT_EQ(states(x, k), (x >> k) & 1);
  }
}

TEST(FiniteChain, AxesMayDriveSeveralComponents) {
  FiniteAxis pair{Matrix::Identity(2, 2), Vector::Constant(2, 0.5), Matrix::Constant(2, 2, 0.5)};
  FiniteAxis level{(Matrix(3, 1) << 0, 1, 2).finished(), Vector::Constant(3, 1.0 / 3),
                   Matrix::Constant(3, 3, 1.0 / 3)};
  const FiniteChain chain{{pair, level}};
  EXPECT_EQ(chain.num_components(), 3);
  EXPECT_EQ(chain.num_states(), 6);
  EXPECT_EQ(chain.num_moves(), 4 + 9);
  EXPECT_EQ(chain.joint_states().row(3), (Matrix(1, 3) << 0, 1, 1).finished());
  EXPECT_NEAR(chain.joint_initial().sum(), 1, 1e-15);
}

TEST(StationaryLaw, OfTwoStatesHasAClosedForm) {
  const double p = 0.8571;
  const double q = 0.6926;
  const Vector law = stationary_law((Matrix(2, 2) << p, 1 - p, 1 - q, q).finished());
  EXPECT_NEAR(law[1], (1 - p) / (2 - p - q), 1e-14);
  EXPECT_NEAR(law[1], 0.317, 5e-4);  // erratum E4
}

TEST(StationaryLaw, IsLeftUnchangedByTheChain) {
  Matrix p(4, 4);
  p << 0.5, 0.5, 0, 0,   //
      0.1, 0.2, 0.7, 0,  //
      0, 0, 0, 1,        //
      0.3, 0.3, 0.3, 0.1;
  const Vector law = stationary_law(p);
  EXPECT_LT((p.transpose() * law - law).cwiseAbs().maxCoeff(), 1e-14);
  EXPECT_GE(law.minCoeff(), 0);
}

// So many states that the chain itself is run; and one that comes back to where it was every second
// step, which does not lead anywhere from unequal probabilities.
TEST(StationaryLaw, OfManyStatesIsLeftUnchanged) {
  const Index n = 300;
  Matrix p = (Matrix::Random(n, n).array() + 1).matrix();
  p.array().colwise() /= p.rowwise().sum().array();
  const Vector law = stationary_law(p);
  EXPECT_NEAR(law.sum(), 1, 1e-14);
  EXPECT_LT((law.transpose() * p - law.transpose()).cwiseAbs().sum(), 1e-13);

  Matrix periodic = Matrix::Zero(n, n);  // all go to the first state, which goes to any other
  periodic.col(0).setOnes();
  periodic.row(0).setConstant(1 / static_cast<double>(n - 1));
  periodic(0, 0) = 0;
  EXPECT_NEAR(stationary_law(periodic)[0], 0.5, 1e-10);
}

TEST(StationaryLaw, OfSeveralClassesIsStillALaw) {
  const Vector law = stationary_law(Matrix::Identity(3, 3));
  EXPECT_NEAR(law.sum(), 1, 1e-14);
  EXPECT_GE(law.minCoeff(), 0);
  Matrix absorbing(2, 2);
  absorbing << 1, 0, 0.5, 0.5;
  EXPECT_NEAR(stationary_law(absorbing)[0], 1, 1e-14);
}

TEST(FiniteChain, ValidationNamesWhatIsWrong) {
  const FiniteChain good = BasisSelection(2, 0.8, 0.7).finite_chain();
  EXPECT_NO_THROW(validate(good, "prior"));
  const auto message = [](const FiniteChain& chain) -> std::string {
    try {
      validate(chain, "prior 'x'");
    } catch (const UsageError& error) {
      return error.what();
    }
    return "";
  };
  FiniteChain bad = good;
  bad.axes[1].transition(0, 1) = 0.5;
  EXPECT_EQ(message(bad), "prior 'x': axis 2: transition row 1: sums to 1.3; expected 1");
  bad = good;
  bad.axes[0].states(0, 0) = -1;
  EXPECT_EQ(message(bad), "prior 'x': axis 1: a state is negative or not finite");
  bad = good;
  bad.axes[0].initial[0] = -0.1;
  EXPECT_EQ(message(bad),
            "prior 'x': axis 1: initial law: entry 1 is -0.1; expected a probability in [0, 1]");
  bad = good;
  bad.axes[0].initial = Vector::Constant(3, 1.0 / 3);
  EXPECT_EQ(message(bad),
            "prior 'x': axis 1: 2 states, a 2x2 transition matrix and 3 initial probabilities; "
            "expected the same number of each");
  EXPECT_EQ(message({}), "prior 'x': has no states");
}

}  // namespace
}  // namespace headwater
