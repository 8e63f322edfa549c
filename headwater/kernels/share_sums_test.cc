#include "headwater/kernels/share_sums.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "headwater/kernels/test_support.hpp"

namespace headwater {
namespace {

struct Case {
  Matrix x;
  Vector weights;
  RowMatrix rows;
  Vector counts;
};

// Some activations, weights and whole rows of the basis are zero.
Case make_case(Index n, Index num_components, Index num_channels) {
  Case c{(Matrix::Random(n, num_components).array() + 0.5).max(0),
         (Vector::Random(n).array() + 0.7).max(0),
         (RowMatrix::Random(num_channels, num_components).array() + 1.01),
         (Vector::Random(num_channels).array() + 1.5) * 10};
  if (n > 2) c.x.row(1).setZero();
  if (num_channels > 1) c.rows.row(1).setZero();
  return c;
}

RowMatrix by_definition(const Case& c) {
  RowMatrix out = RowMatrix::Zero(c.rows.rows(), c.rows.cols());
  for (Index j = 0; j < c.rows.rows(); ++j) {
    for (Index i = 0; i < c.x.rows(); ++i) {
      const double intensity = c.rows.row(j).dot(c.x.row(i));
      if (intensity == 0) continue;
      out.row(j) += c.counts[j] * c.weights[i] / intensity * c.rows.row(j).cwiseProduct(c.x.row(i));
    }
  }
  return out;
}

TEST(ShareSums, EqualTheirDefinition) {
  under_each_instruction_set([] {
    for (const std::size_t n : lengths_to_try()) {
      for (const Index num_components : {1, 2, 5, 9}) {
        const Case c = make_case(static_cast<Index>(n), num_components, 3);
        RowMatrix out = RowMatrix::Constant(3, num_components, 0.25);
        const RowMatrix expected = out + by_definition(c);
        add_share_sums(c.x, as_span(c.weights), as_span(c.rows), as_span(c.counts), as_span(out));
        EXPECT_LT((out - expected).cwiseAbs().maxCoeff(), 1e-13 * (1 + expected.maxCoeff())) << n;
      }
    }
  });
}

TEST(SoftenedShares, EqualTheirDefinition) {
  under_each_instruction_set([] {
    for (const std::size_t n : lengths_to_try()) {
      for (const Index num_components : {1, 2, 5, 9}) {
        const Case c = make_case(static_cast<Index>(n), num_components, 6);
        const Vector scales{{0, 1e-9, 0.02, 1, 40, 1e6}};
        RowMatrix out = RowMatrix::Constant(6, num_components, 0.25);
        RowMatrix expected = out;
        for (Index j = 0; j < 6; ++j) {
          for (Index i = 0; i < c.x.rows(); ++i) {
            const double z = scales[j] * c.rows.row(j).dot(c.x.row(i));
            expected.row(j) += c.weights[i] / (1 + z) * c.x.row(i);
          }
        }
        add_softened_shares(c.x, as_span(c.weights), {as_span(c.rows), as_span(scales)},
                            as_span(out));
        EXPECT_LT((out - expected).cwiseAbs().maxCoeff(), 1e-13 * (1 + expected.maxCoeff())) << n;
      }
    }
  });
}

TEST(ShareSums, TakeABlockOfALargerMatrix) {
  under_each_instruction_set([] {
    const Case c = make_case(41, 4, 2);
    Matrix larger = Matrix::Random(60, 4);
    larger.middleRows(7, 41) = c.x;
    RowMatrix out = RowMatrix::Zero(2, 4);
    add_share_sums(larger.middleRows(7, 41), as_span(c.weights), as_span(c.rows), as_span(c.counts),
                   as_span(out));
    EXPECT_LT((out - by_definition(c)).cwiseAbs().maxCoeff(), 1e-13);
  });
}

}  // namespace
}  // namespace headwater
