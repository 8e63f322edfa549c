#include "headwater/models/packed_chain.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "headwater/kernels/kronecker.hpp"
#include "headwater/models/basis_selection.hpp"
#include "headwater/models/finite_prior.hpp"

namespace headwater {
namespace {

// Axes of 2, 3, 1 and 5 states with 1, 2, 1 and 1 components, and ten axes of 2 states: four
// groups.
FiniteChain mixed_chain() {
  FiniteChain chain;
  for (const Index size : {2, 3, 1, 5, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2}) {
    FiniteAxis axis;
    axis.states = Matrix::Random(size, size == 3 ? 2 : 1).cwiseAbs();
    axis.transition = Matrix::Random(size, size).cwiseAbs();
    for (Index i = 0; i < size; ++i) axis.transition.row(i) /= axis.transition.row(i).sum();
    axis.initial = stationary_law(axis.transition);
    chain.axes.push_back(axis);
  }
  return chain;
}

TEST(PackedChain, HasTheStatesAndProbabilitiesOfTheChain) {
  const FiniteChain chain = mixed_chain();
  ASSERT_TRUE(can_be_packed(chain));
  const PackedChain packed(chain);
  const Index n = chain.num_states();
  EXPECT_EQ(packed.num_states_up_to(n + 1), n);
  EXPECT_EQ(packed.num_states_up_to(n - 1), n - 1);
  const Matrix joint_states = chain.joint_states();
  const Vector initial = chain.joint_initial();
  const KroneckerOperator transition = chain.joint_transition();
  EXPECT_DOUBLE_EQ(packed.contraction(), transition.contraction());
  std::vector<PackedState> all;
  for (Index x = 0; x < n; ++x) all.push_back(packed.packed(x));
  Matrix activations(n, joint_states.cols() + 1);
  packed.activations(all, activations);
  EXPECT_EQ(activations.leftCols(joint_states.cols()), joint_states);
  EXPECT_EQ(activations.rightCols(1), Matrix::Ones(n, 1));
  for (const Index to : {Index{0}, n / 3, n - 1}) {
    EXPECT_DOUBLE_EQ(packed.initial_probability(all[to]), initial[to]);
    Vector column = Vector::Zero(n);
    column[to] = 1;
    transition.pull(as_span(column));
    Vector found(n);
    packed.transitions_to(all[to], all, as_span(found));
    EXPECT_LT((found - column).cwiseAbs().maxCoeff(), 1e-15);
  }
}

TEST(PackedChain, CountsMovesAlongEachAxis) {
  const FiniteChain chain = mixed_chain();
  const PackedChain packed(chain);
  PackedMoves moves;
  moves.clear(packed);
  Vector expected = Vector::Zero(chain.num_moves());
  for (Index i = 0; i < 50; ++i) {
    const PackedState from = packed.packed(i * 7919 % chain.num_states());
    const PackedState to = packed.packed(i * 104729 % chain.num_states());
    const double weight = 1.0 / static_cast<double>(i + 1);
    moves.add(packed, from, to, weight);
    Index at = 0;
    for (Index k = 0; k < packed.num_axes(); ++k) {
      const Index size = packed.axis(k).size();
      expected[at + packed.on_axis(from, k) * size + packed.on_axis(to, k)] += weight;
      at += size * size;
    }
  }
  Vector found = Vector::Zero(chain.num_moves());
  moves.add_to(packed, as_span(found));
  EXPECT_LT((found - expected).cwiseAbs().maxCoeff(), 1e-13);
}

TEST(PackedChain, TakesSixtyFourComponentsThatAreOffOrOn) {
  const FiniteChain chain = BasisSelection(64, 0.8, 0.7).finite_chain();
  ASSERT_TRUE(can_be_packed(chain));
  EXPECT_FALSE(can_be_packed(BasisSelection(65, 0.8, 0.7).finite_chain()));
  const PackedChain packed(chain);
  EXPECT_EQ(packed.num_states_up_to(1000), 1000);
  const std::vector<PackedState> from = {0, ~PackedState{0}};
  std::vector<double> out(2);
  packed.transitions_to(~PackedState{0}, from, out);
  EXPECT_NEAR(out[0] / std::pow(0.2, 64), 1, 1e-12);
  EXPECT_NEAR(out[1] / std::pow(0.7, 64), 1, 1e-12);
  EXPECT_EQ(packed.with_axis(0, 63, 1), PackedState{1} << 63);
}

// One axis that is wider than a group.
TEST(PackedChain, TakesOneLargeAxis) {
  const FiniteChain chain = FiniteStatePrior::one_hot(100, 0.9).finite_chain();
  const PackedChain packed(chain);
  EXPECT_EQ(packed.num_states_up_to(1000), 100);
  const std::vector<PackedState> from = {3, 99};
  std::vector<double> out(2);
  packed.transitions_to(99, from, out);
  EXPECT_DOUBLE_EQ(out[0], 0.1 / 99);
  EXPECT_DOUBLE_EQ(out[1], 0.9);
}

}  // namespace
}  // namespace headwater
