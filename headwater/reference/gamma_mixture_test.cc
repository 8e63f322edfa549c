#include "headwater/reference/gamma_mixture.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "headwater/core/special.hpp"
#include "headwater/models/gamma_prior.hpp"
#include "headwater/reference/grid_chain.hpp"
#include "headwater/reference/streams.hpp"
#include "headwater/simulate.hpp"

namespace headwater::reference {
namespace {

// For the first observation, the counts of all channels are multinomial given their sum, and the
// sum is negative binomial.
TEST(GammaMixtureFilter, FirstObservationIsNegativeBinomial) {
  const double shape = 0.7;
  const Vector basis = (Vector(2) << 1, 3).finished();
  const std::vector<double> y = {2, 5};
  GammaMixtureFilter filter(shape, 0.8, basis);
  const double multinomial = log_factorial(7) - log_factorial(2) - log_factorial(5) +
                             2 * std::log(0.25) + 5 * std::log(0.75);
  const double negative_binomial = log_gamma(shape + 7) - log_gamma(shape) - log_factorial(7) +
                                   shape * std::log(shape / (shape + 4)) +
                                   7 * std::log(4 / (shape + 4));
  EXPECT_NEAR(filter.step(y), multinomial + negative_binomial, 1e-12);
  EXPECT_NEAR(filter.mean(), (shape + 7) / (shape + 4), 1e-12);
}

// Without counts the mean returns to 1 at the rate of the persistence.
TEST(GammaMixtureFilter, ForgetsWithoutCounts) {
  GammaMixtureFilter filter(2, 0.9, Vector::Constant(1, 4.0));
  filter.step(std::vector<double>{20});
  const std::vector<double> missing = {std::numeric_limits<double>::quiet_NaN()};
  double mean = filter.mean();
  for (int t = 0; t < 20; ++t) {
    EXPECT_NEAR(filter.step(missing), 0, 1e-12);
    mean = 1 + 0.9 * (mean - 1);
    EXPECT_NEAR(filter.mean(), mean, 1e-10);
  }
}

void expect_same_as_grid(double shape, double persistence, Index num_channels) {
  const AnyPrior prior(GammaPrior(1, shape, persistence));
  const Matrix basis = random_basis(num_channels, 1, 5, 5);
  Matrix observations = simulate_record(prior, basis, 60, 3);
  observations(0, 7) = std::numeric_limits<double>::quiet_NaN();
  const GridTruth grid = truth_of(prior, basis, observations, 400);
  GammaMixtureFilter filter(shape, persistence, basis.col(0));
  for (Index t = 0; t < observations.cols(); ++t) {
    EXPECT_NEAR(filter.step(as_span(observations.col(t))), grid.log_predictive[t], 1e-9) << t;
    EXPECT_NEAR(filter.mean(), grid.filtered_means(t, 0), 1e-9 * std::max(1.0, filter.mean())) << t;
  }
}

// Two methods that share nothing but the model.
TEST(GammaMixtureFilter, AgreesWithTheGrid) {
  expect_same_as_grid(2, 0.8, 1);
  expect_same_as_grid(2, 0.8, 4);
  expect_same_as_grid(0.3, 0.9, 4);
  expect_same_as_grid(0.05, 0.5, 4);
  expect_same_as_grid(40, 0.6, 3);
}

}  // namespace
}  // namespace headwater::reference
