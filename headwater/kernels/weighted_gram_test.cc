#include "headwater/kernels/weighted_gram.hpp"

#include <gtest/gtest.h>

#include "headwater/kernels/test_support.hpp"

namespace headwater {
namespace {

// Errors of a sum of n products: n 2^-52 times the largest sum of their sizes, which is n here.
TEST(WeightedGram, IsItsDefinitionBelowTheDiagonal) {
  under_each_instruction_set([] {
    for (const std::size_t length : lengths_to_try()) {
      for (const Index count : {1, 2, 3, 4, 5, 6, 7, 8, 9, 13}) {
        const auto rows = static_cast<Index>(length);
        const Matrix all = Matrix::Random(rows + 1, count);  // misaligned by one number
        const auto columns = all.bottomRows(rows);
        const Vector weights = Vector::Random(rows).cwiseAbs();
        Matrix out = Matrix::Random(count, count);
        Matrix expected = out;
        expected.triangularView<Eigen::Lower>() +=
            Matrix(columns.transpose() * weights.asDiagonal() * columns);
        add_weighted_gram(columns, as_span(weights), out.data());
        const auto n = static_cast<double>(rows + 1);
        EXPECT_LT((out - expected).cwiseAbs().maxCoeff(), 0x1p-52 * n * n) << rows << "x" << count;
      }
    }
  });
}

}  // namespace
}  // namespace headwater
