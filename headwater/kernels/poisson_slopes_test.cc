#include "headwater/kernels/poisson_slopes.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "headwater/kernels/test_support.hpp"

namespace headwater {
namespace {

// Chooses 0 to 23 of 23 channels, more than two groups of rows. One channel has zero intensity.
TEST(PoissonSlopes, EqualTheirDefinition) {
  under_each_instruction_set([] {
    for (const Index components : {1, 2, 3, 7, 8, 9, 17, 50}) {
      Matrix basis = Matrix::Random(23, components).cwiseAbs();
      basis.row(2).setZero();
      PaddedRows rows;
      rows.set(basis);
      ASSERT_EQ(rows.stride() % 8, 0);
      Vector x = Vector::Zero(rows.stride());
      x.head(components) = Vector::Random(components).cwiseAbs();
      for (Index n = 0; n < 11; ++n) {
        std::vector<Index> channels;
        for (Index j = 0; j < n; ++j) channels.push_back(2 * j);
        const Vector counts = 3 * Vector::Random(n).cwiseAbs();
        Vector ratios(n);
        Vector slopes = Vector::Ones(rows.stride());
        Vector squares = Vector::Ones(rows.stride());
        poisson_slopes(rows, channels, as_span(counts), as_span(x), as_span(ratios),
                       as_span(slopes));
        weighted_squares(rows, channels, as_span(counts), as_span(squares));
        Vector expected_slopes = Vector::Zero(rows.stride());
        Vector expected_squares = Vector::Zero(rows.stride());
        for (Index j = 0; j < n; ++j) {
          const auto row = basis.row(channels[j]);
          const double intensity = row.dot(x.head(components));
          const double ratio = intensity > 0 ? counts[j] / intensity : 0;
          EXPECT_NEAR(ratios[j], ratio, 1e-13 * (1 + ratio));
          expected_slopes.head(components) += ratio * row.transpose();
          expected_squares.head(components) += counts[j] * row.cwiseAbs2().transpose();
        }
        EXPECT_LT((slopes - expected_slopes).cwiseAbs().maxCoeff(),
                  1e-13 * (1 + expected_slopes.maxCoeff()));
        EXPECT_LT((squares - expected_squares).cwiseAbs().maxCoeff(), 1e-13 * (1 + counts.sum()));
      }
    }
  });
}

TEST(SoftenedSlopes, EqualTheirDefinition) {
  under_each_instruction_set([] {
    for (const Index components : {1, 3, 8, 9, 17}) {
      const Matrix basis = Matrix::Random(23, components).cwiseAbs();
      PaddedRows rows;
      rows.set(basis);
      Vector x = Vector::Zero(rows.stride());
      x.head(components) = Vector::Random(components).cwiseAbs();
      for (Index n = 0; n < 11; ++n) {
        std::vector<Index> channels;
        for (Index j = 0; j < n; ++j) channels.push_back(2 * j);
        const Vector factors = 3 * Vector::Random(n).cwiseAbs();
        const Vector scales = 5 * Vector::Random(n).cwiseAbs();
        Vector losses(n);
        Vector slopes = Vector::Ones(rows.stride());
        softened_slopes(rows, channels, as_span(factors), as_span(scales), as_span(x),
                        as_span(losses), as_span(slopes));
        Vector expected = Vector::Zero(rows.stride());
        for (Index j = 0; j < n; ++j) {
          const auto row = basis.row(channels[j]);
          const double loss = factors[j] / (1 + scales[j] * row.dot(x.head(components)));
          EXPECT_NEAR(losses[j], loss, 1e-13 * (1 + loss));
          expected.head(components) += loss * row.transpose();
        }
        EXPECT_LT((slopes - expected).cwiseAbs().maxCoeff(), 1e-13 * (1 + expected.maxCoeff()));
      }
    }
  });
}

}  // namespace
}  // namespace headwater
