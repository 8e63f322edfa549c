#include "headwater/simulate.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "headwater/error.hpp"
#include "headwater/models/basis_selection.hpp"
#include "headwater/reference/statistical_tests.hpp"
#include "headwater/reference/streams.hpp"

namespace headwater {
namespace {

TEST(Simulator, SameSeedSameStream) {
  const AnyPrior prior(BasisSelection(3, 0.8, 0.7));
  const Matrix basis = random_basis(4, 3, 10, 1);
  EXPECT_EQ(reference::simulate_record(prior, basis, 50, 7),
            reference::simulate_record(prior, basis, 50, 7));
  EXPECT_NE(reference::simulate_record(prior, basis, 50, 7),
            reference::simulate_record(prior, basis, 50, 8));
}

TEST(Simulator, RefusesABasisOfAnotherWidth) {
  EXPECT_THROW(Simulator(AnyPrior(BasisSelection(3, 0.8, 0.7)), Matrix::Ones(4, 2), 1), UsageError);
}

// Moves of a component, counted over 50,000 steps, follow the transition matrix: chi-square with 2
// degrees of freedom (two free rows), alarm rate 1e-6 for each of 3 components.
TEST(Simulator, ActivationsFollowThePrior) {
  const double p = 0.8571;
  const double q = 0.6926;
  const int steps = 50000;
  Simulator simulator(AnyPrior(BasisSelection(3, p, q)), Matrix::Ones(1, 3), 3);
  Matrix counts = Matrix::Zero(4, 3);
  std::vector<double> before;
  for (int t = 0; t <= steps; ++t) {
    simulator.next();
    const std::vector<double>& now = simulator.activation();
    for (std::size_t k = 0; t > 0 && k < 3; ++k) {
      counts(static_cast<Index>(2 * before[k] + now[k]), static_cast<Index>(k)) += 1;
    }
    before = now;
  }
  for (Index k = 0; k < 3; ++k) {
    const double off = counts(0, k) + counts(1, k);
    const double on = counts(2, k) + counts(3, k);
    const std::vector<double> observed = {counts(0, k), counts(1, k), counts(2, k), counts(3, k)};
    const std::vector<double> expected = {off * p, off * (1 - p), on * (1 - q), on * q};
    EXPECT_LT(reference::chi_square_statistic(observed, expected),
              reference::chi_square_critical(2, 1e-6));
  }
}

// The mean of a channel over n steps with the activations known has variance sum of lambda / n^2:
// a normal deviate, alarm rate 1e-6 for each of 2 channels.
TEST(Simulator, CountsArePoissonAroundTheIntensity) {
  const Matrix basis = random_basis(2, 3, 10, 5);
  Simulator simulator(AnyPrior(BasisSelection(3, 0.8, 0.7)), basis, 9);
  Vector sum = Vector::Zero(2);
  Vector intensity = Vector::Zero(2);
  for (int t = 0; t < 20000; ++t) {
    simulator.next();
    sum += Eigen::Map<const Vector>(simulator.observation().data(), 2);
    intensity += basis * Eigen::Map<const Vector>(simulator.activation().data(), 3);
  }
  for (Index m = 0; m < 2; ++m) {
    EXPECT_LT(std::abs(sum[m] - intensity[m]) / std::sqrt(intensity[m]),
              reference::normal_critical(0.5e-6));
  }
}

}  // namespace
}  // namespace headwater
