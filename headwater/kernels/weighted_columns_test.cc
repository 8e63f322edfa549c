#include "headwater/kernels/weighted_columns.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "headwater/core/matrix.hpp"

namespace headwater {
namespace {

TEST(WeightedColumns, EqualTheMatrixVectorProduct) {
  for (Index rows = 1; rows <= 9; ++rows) {
    for (Index count = 0; count <= 9; ++count) {
      const Matrix matrix = Matrix::Random(rows + 1, count);
      const Vector weights = Vector::Random(count);
      Vector out = Vector::Random(rows);
      const Vector expected = out + matrix.bottomRows(rows) * weights;
      std::vector<const double*> columns;  // misaligned by one number
      for (Index j = 0; j < count; ++j) columns.push_back(matrix.col(j).data() + 1);
      add_weighted_columns(columns, as_span(weights), as_span(out));
      EXPECT_LT((out - expected).cwiseAbs().maxCoeff(), 1e-14);
    }
  }
}

}  // namespace
}  // namespace headwater
