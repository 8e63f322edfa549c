#include "headwater/prior_arguments.hpp"

#include <gtest/gtest.h>

#include "headwater/models/gamma_prior.hpp"
#include "headwater/models/independent_prior.hpp"
#include "headwater/models/log_gaussian.hpp"
#include "headwater/reference/prior_draws.hpp"

namespace headwater {
namespace {

std::vector<AnyPrior> affine_priors() {
  const Vector a = (Vector(2) << 0.8, 0.3).finished();
  const Vector b = (Vector(2) << 0.4, 0.7).finished();
  std::vector<AnyPrior> priors = {AnyPrior(LogGaussian(2, a, b)), AnyPrior(GammaPrior(2, b, a)),
                                  AnyPrior(IndependentPrior(2, b))};
  for (AnyPrior& prior : priors) prior.set_scale((Vector(2) << 0.5, 3).finished());
  return priors;
}

// Means over 40,000 draws. A normal variable exceeds 6 standard errors with probability 2e-9, and
// there are 24 comparisons.
TEST(AffineMoments, AreThoseOfDraws) {
  for (const AnyPrior& prior : affine_priors()) {
    const AffineMoments moments = prior.moments();
    const Matrix stationary = reference::draw(prior, 40000, 0);
    for (Index k = 0; k < 2; ++k) {
      const auto mean = reference::moments_of(stationary.col(k));
      EXPECT_LT(std::abs(mean.mean - moments.mean()[k]), 6 * mean.standard_error);
      const auto square =
          reference::moments_of((stationary.col(k).array() - moments.mean()[k]).square().matrix());
      EXPECT_LT(std::abs(square.mean - moments.variance()[k]), 6 * square.standard_error);
      const Matrix from = Matrix::Constant(40000, 2, 0.7);
      const Vector next = reference::move_on(prior, from).col(k);
      const double expected = moments.intercept[k] + moments.slope[k] * 0.7;
      const auto moved = reference::moments_of(next);
      EXPECT_LT(std::abs(moved.mean - expected), 6 * moved.standard_error) << prior.name();
      const auto spread = reference::moments_of((next.array() - expected).square().matrix());
      EXPECT_LT(std::abs(spread.mean - moments.noise[k] - moments.noise_slope[k] * 0.7),
                6 * spread.standard_error)
          << prior.name();
    }
  }
}

TEST(AffineMoments, ExpectedStatisticsAreThoseOfPoints) {
  for (const AnyPrior& prior : affine_priors()) {
    const Matrix from = reference::draw(prior, 50, 0);
    const Matrix to = reference::move_on(prior, from);
    ExpectedMoves moves;
    moves.before = from.colwise().mean();
    moves.after = to.colwise().mean();
    moves.before_square = from.cwiseAbs2().colwise().mean();
    moves.after_square = to.cwiseAbs2().colwise().mean();
    moves.product = from.cwiseProduct(to).colwise().mean();
    moves.log_after = to.array().abs().log().matrix().colwise().mean();
    Vector sums = Vector::Zero(prior.num_statistics());
    prior.add_expected_statistics(moves, 50, as_span(sums));
    const Vector expected = reference::statistics(prior, from, to);
    EXPECT_LT((sums - expected).norm(), 1e-10 * (1 + expected.norm())) << prior.name();
  }
}

}  // namespace
}  // namespace headwater
