#include "headwater/models/observation.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "headwater/reference/path_sums.hpp"

namespace headwater {
namespace {

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

TEST(StateLikelihoods, EqualThePoissonLawTermByTerm) {
  Matrix states(4, 2);
  states << 0, 0, 1, 0, 0, 1, 1, 1;
  Matrix basis(3, 2);
  basis << 4, 0, 0, 6, 2, 3;
  StateLikelihoods likelihoods(states);
  for (const Matrix& scaled : {basis, Matrix(2.5 * basis)}) {  // the table must follow the basis
    likelihoods.set_basis(scaled);
    for (const std::vector<double>& y :
         {std::vector<double>{3, 0, 2}, {0, 0, 0}, {0, 5, kMissing}, {2.5, 0.1, 7}}) {
      Vector values(4);
      likelihoods.log_likelihoods(y, values);
      for (Index x = 0; x < 4; ++x) {
        const double truth = reference::log_poisson(Eigen::Map<const Vector>(y.data(), 3),
                                                    scaled * states.row(x).transpose());
        if (std::isinf(truth)) {
          EXPECT_EQ(values[x] - log_factorials(y), truth);
        } else {
          EXPECT_NEAR(values[x] - log_factorials(y), truth, 1e-12);
        }
      }
    }
  }
}

// PO(0; 0) = 1 and PO(v > 0; 0) = 0 (erratum E15).
TEST(StateLikelihoods, ZeroIntensity) {
  StateLikelihoods likelihoods(Matrix::Zero(1, 1));
  likelihoods.set_basis(Matrix::Ones(1, 1));
  Vector value(1);
  likelihoods.log_likelihoods(std::vector<double>{0}, value);
  EXPECT_EQ(value[0], 0);
  likelihoods.log_likelihoods(std::vector<double>{1}, value);
  EXPECT_EQ(value[0], -std::numeric_limits<double>::infinity());
}

TEST(StateLikelihoods, NothingSeenSaysNothing) {
  StateLikelihoods likelihoods(Matrix::Random(5, 3).cwiseAbs());
  likelihoods.set_basis(Matrix::Random(4, 3).cwiseAbs());
  Vector values(5);
  likelihoods.log_likelihoods(std::vector<double>(4, kMissing), values);
  EXPECT_EQ(values, Vector(Vector::Zero(5)));
}

}  // namespace
}  // namespace headwater
