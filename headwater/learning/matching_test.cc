#include "headwater/matching.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "headwater/simulate.hpp"

namespace headwater {
namespace {

double cost_of(const Matrix& cost, const std::vector<Index>& columns) {
  double sum = 0;
  for (Index i = 0; i < cost.rows(); ++i) sum += cost(i, columns[i]);
  return sum;
}

TEST(Assignment, IsTheBestOfAllPermutations) {
  for (Index n = 1; n <= 6; ++n) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      const Matrix cost = random_basis(n, n, 1, seed).array() - 0.3;
      std::vector<Index> permutation(n);
      std::iota(permutation.begin(), permutation.end(), 0);
      double best = cost_of(cost, permutation);
      while (std::ranges::next_permutation(permutation).found) {
        best = std::min(best, cost_of(cost, permutation));
      }
      EXPECT_NEAR(cost_of(cost, least_cost_assignment(cost)), best, 1e-12);
    }
  }
}

TEST(BestCosines, AreThoseOfTheMostSimilarColumn) {
  const Matrix basis = random_basis(6, 3, 10, 2);
  Matrix other(6, 4);
  other << 7 * basis.col(2), random_basis(6, 2, 10, 3), basis.col(0) + 0.1 * basis.col(1);
  const Vector found = best_cosines(basis, other);
  for (Index k = 0; k < 3; ++k) {
    double best = 0;
    for (Index j = 0; j < 4; ++j) {
      const double cosine =
          basis.col(k).dot(other.col(j)) / (basis.col(k).norm() * other.col(j).norm());
      best = std::max(best, cosine);
    }
    EXPECT_NEAR(found[k], best, 1e-14);
  }
  EXPECT_NEAR(found[2], 1, 1e-14);
  EXPECT_EQ(best_cosines(Matrix::Zero(6, 1), other)[0], 0);
}

TEST(MatchedCosines, GiveNoColumnTwoPartners) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    for (const auto& [here, there] : {std::pair<Index, Index>{3, 4}, {4, 3}, {4, 4}}) {
      const Matrix basis = random_basis(5, here, 10, seed);
      const Matrix other = random_basis(5, there, 10, seed + 100);
      // The largest sum over all ways to give columns different partners.
      std::vector<Index> partner(static_cast<std::size_t>(std::max(here, there)));
      std::iota(partner.begin(), partner.end(), 0);
      double most = 0;
      do {
        double sum = 0;
        for (Index k = 0; k < here; ++k) {
          if (partner[k] < there) sum += best_cosines(basis.col(k), other.col(partner[k]))[0];
        }
        most = std::max(most, sum);
      } while (std::ranges::next_permutation(partner).found);
      EXPECT_NEAR(matched_cosines(basis, other).sum(), most, 1e-12);
      EXPECT_TRUE(
          (matched_cosines(basis, other).array() <= best_cosines(basis, other).array()).all());
    }
  }
  // Two columns alike are found once where the other basis has one of them.
  Matrix twice(3, 2);
  twice << 1, 1, 2, 2, 0, 0;
  const Vector found = matched_cosines(twice, twice.leftCols(1));
  EXPECT_NEAR(found.maxCoeff(), 1, 1e-14);
  EXPECT_EQ(found.minCoeff(), 0);
}

TEST(Matching, UndoesAPermutation) {
  const Matrix truth = random_basis(8, 5, 10, 1);
  Matrix shuffled(8, 5);
  const std::vector<Index> order = {3, 0, 4, 1, 2};
  for (Index k = 0; k < 5; ++k) shuffled.col(order[k]) = truth.col(k);
  EXPECT_EQ(match_columns(shuffled, truth), order);
  EXPECT_EQ(in_order_of(shuffled, truth), truth);
  EXPECT_EQ(relative_error(truth, truth), 0);
  EXPECT_DOUBLE_EQ(root_mean_square_error(truth.array() + 2, truth), 2);
}

}  // namespace
}  // namespace headwater
