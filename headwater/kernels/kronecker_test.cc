#include "headwater/kernels/kronecker.hpp"

#include <gtest/gtest.h>

#include "headwater/finite_chain.hpp"
#include "headwater/reference/path_sums.hpp"
#include "headwater/reference/streams.hpp"

namespace headwater {
namespace {

// Axes of sizes 2, 3, 2, 1 and 4 with rows that sum to one.
FiniteChain mixed_chain() {
  FiniteChain chain;
  for (const Index size : {2, 3, 2, 1, 4}) {
    FiniteAxis axis;
    axis.states = Matrix::Ones(size, 1);
    axis.transition = (Matrix::Random(size, size).array() + 1.1).matrix();
    axis.transition.array().colwise() /= axis.transition.rowwise().sum().eval().array();
    axis.initial = Vector::Constant(size, 1.0 / static_cast<double>(size));
    chain.axes.push_back(axis);
  }
  return chain;
}

TEST(Kronecker, PushIsTheTransposedDenseProduct) {
  const FiniteChain chain = mixed_chain();
  const Matrix dense = reference::dense_transition(chain);
  Vector law = Vector::Random(chain.num_states()).cwiseAbs();
  const Vector expected = dense.transpose() * law;
  chain.joint_transition().push(as_span(law));
  EXPECT_LT(reference::largest_relative_difference(law, expected), 1e-14);
}

TEST(Kronecker, PullIsTheDenseProduct) {
  const FiniteChain chain = mixed_chain();
  const Matrix dense = reference::dense_transition(chain);
  Vector values = Vector::Random(chain.num_states());
  const Vector expected = dense * values;
  chain.joint_transition().pull(as_span(values));
  EXPECT_LT(reference::largest_relative_difference(values, expected), 1e-14);
}

TEST(Kronecker, SeveralNumbersAStateMoveAlike) {
  const FiniteChain chain = mixed_chain();
  const KroneckerOperator transition = chain.joint_transition();
  RowMatrix together = RowMatrix::Random(chain.num_states(), 3);
  Matrix alone = together;
  transition.push(as_span(together), 3);
  for (Index d = 0; d < 3; ++d) transition.push(as_span(alone.col(d)));
  EXPECT_LT(reference::largest_relative_difference(together, alone), 1e-14);
}

// Expected transitions of an axis = sum over all pairs of joint states of law(x') P(x', x)
// values(x).
TEST(Kronecker, MovesAreSumsOverPairsOfJointStates) {
  const FiniteChain chain = mixed_chain();
  const KroneckerOperator transition = chain.joint_transition();
  const Matrix dense = reference::dense_transition(chain);
  const Index n = chain.num_states();
  const Vector law = Vector::Random(n).cwiseAbs();
  const Vector values = Vector::Random(n).cwiseAbs();
  Vector pushed = law;
  for (Index axis = 0; axis < transition.num_axes(); ++axis) {
    Vector pulled = values;
    for (Index k = transition.num_axes() - 1; k > axis; --k) {
      transition.pull_axis(k, as_span(pulled));
    }
    const Index size = transition.size(axis);
    Vector moves = Vector::Zero(size * size);
    transition.add_moves(axis, as_span(pushed), as_span(pulled), 0.5, as_span(moves));

    Vector expected = Vector::Zero(size * size);
    const Index stride = transition.stride(axis);
    for (Index before = 0; before < n; ++before) {
      for (Index x = 0; x < n; ++x) {
        expected[before / stride % size * size + x / stride % size] +=
            0.5 * law[before] * dense(before, x) * values[x];
      }
    }
    EXPECT_LT(reference::largest_relative_difference(moves, expected), 1e-14) << "axis " << axis;
    transition.push_axis(axis, as_span(pushed));
  }
}

TEST(Kronecker, ALawStaysNonnegativeThroughManyPushes) {
  const KroneckerOperator transition({(Matrix(2, 2) << 1 - 1e-9, 1e-9, 1e-9, 1 - 1e-9).finished(),
                                      (Matrix(2, 2) << 0.5, 0.5, 0.25, 0.75).finished()});
  Vector law(4);
  law << 1, 0, 0, 0;
  for (int i = 0; i < 1000; ++i) transition.push(as_span(law));
  EXPECT_GE(law.minCoeff(), 0);
  EXPECT_NEAR(law.sum(), 1, 1e-12);
}

// Of the mixture of a constant row and a random matrix, part .3 of the latter.
TEST(Kronecker, ContractionOfManyStatesIsABound) {
  const Index states = KroneckerOperator::kMostCompared + 1;
  Matrix p = (Matrix::Random(states, states).array() + 1).matrix();
  p.array().colwise() /= p.rowwise().sum().array();
  p = 0.3 * p + Matrix::Constant(states, states, 0.7 / static_cast<double>(states));
  double exact = 0;
  for (Index i = 0; i < states; ++i) {
    for (Index j = 0; j < i; ++j) {
      exact = std::max(exact, 0.5 * (p.row(i) - p.row(j)).cwiseAbs().sum());
    }
  }
  const double bound = KroneckerOperator({p}).contraction();
  EXPECT_GE(bound, exact);
  EXPECT_LE(bound, 0.3 + 1e-12);
}

TEST(Kronecker, ContractionOfTwoStatesIsTheSecondEigenvalue) {
  const double p = 0.8571;
  const double q = 0.6926;
  const KroneckerOperator transition({(Matrix(2, 2) << p, 1 - p, 1 - q, q).finished()});
  EXPECT_NEAR(transition.contraction(), p + q - 1, 1e-15);
  EXPECT_EQ(KroneckerOperator({Matrix::Identity(3, 3)}).contraction(), 1);
}

}  // namespace
}  // namespace headwater
