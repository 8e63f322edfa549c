#include "headwater/kernels/weighted_columns.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "headwater/kernels/test_support.hpp"
#include "headwater/matrix.hpp"

namespace headwater {
namespace {

TEST(WeightedColumns, EqualTheMatrixVectorProduct) {
  under_each_instruction_set([] {
    for (const std::size_t length : lengths_to_try()) {
      for (const Index count : {0, 1, 2, 3, 8, 16, 17, 40}) {
        const auto rows = static_cast<Index>(length);
        const Matrix matrix = Matrix::Random(rows + 1, count);
        const Vector weights = Vector::Random(count);
        Vector out = Vector::Random(rows + 2);  // the first and last must not change
        Vector expected = out;
        expected.segment(1, rows) += matrix.bottomRows(rows) * weights;
        std::vector<const double*> columns;  // misaligned by one number
        for (Index j = 0; j < count; ++j) columns.push_back(matrix.col(j).data() + 1);
        add_weighted_columns(columns, as_span(weights), as_span(out.segment(1, rows)));
        EXPECT_LT((out - expected).cwiseAbs().maxCoeff(), 1e-14);
      }
    }
  });
}

}  // namespace
}  // namespace headwater
