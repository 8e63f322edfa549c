#include "headwater/learning/log_moves.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "headwater/any_prior.hpp"
#include "headwater/models/gamma_prior.hpp"
#include "headwater/models/independent_prior.hpp"
#include "headwater/models/log_gaussian.hpp"

namespace headwater {
namespace {

std::vector<AnyPrior> moving_priors() {
  AnyPrior scaled(LogGaussian(1, 0.9, 0.3));
  scaled.set_scale(Vector::Constant(1, 2.5));
  AnyPrior gamma(GammaPrior(1, 2, 0.8));
  gamma.set_scale(Vector::Constant(1, 0.4));
  return {scaled, AnyPrior(LogGaussian(1, -0.4, 0.6)), gamma, AnyPrior(GammaPrior(1, 0.6, 0.95)),
          AnyPrior(IndependentPrior(1, 1.7))};
}

// The density of u is that of the prior's state, and where the state is x = exp(u), times x.
double log_density_of_move(const AnyPrior& prior, double before, double after) {
  const bool is_logarithmic = prior.moments().is_logarithmic;
  Matrix from(1, 1);
  Matrix to(1, 1);
  from(0, 0) = is_logarithmic ? before : std::exp(before);
  to(0, 0) = is_logarithmic ? after : std::exp(after);
  Vector out(1);
  prior.log_transition(from, to, out);
  return out[0] + (is_logarithmic ? 0 : after);
}

TEST(LogMoves, AreThoseOfThePrior) {
  for (const AnyPrior& prior : moving_priors()) {
    const LogMoves moves(prior.moments());
    for (const double before : {-1.5, 0.0, 1.2}) {
      for (const double after : {-2.0, 0.1, 1.0}) {
        const double truth = log_density_of_move(prior, before, after);
        EXPECT_NEAR(moves.move(0, before, after).value, truth, 1e-9 * (1 + std::abs(truth)))
            << prior.name() << " " << before << " " << after;
      }
    }
  }
}

// Central differences, of an error of h^2 = 1e-8 times a derivative two orders higher.
TEST(LogMoves, DerivativesAreThoseOfDifferences) {
  constexpr double kStep = 1e-4;
  for (const AnyPrior& prior : moving_priors()) {
    const LogMoves moves(prior.moments());
    const auto near = [&](double found, double up, double down) {
      const double slope = (up - down) / (2 * kStep);
      EXPECT_NEAR(found, slope, 2e-6 * (1 + std::abs(slope))) << prior.name();
    };
    for (const double b : {-1.5, 0.3}) {
      const LogStateTerms first = moves.first(0, b);
      const LogStateTerms up = moves.first(0, b + kStep);
      const LogStateTerms down = moves.first(0, b - kStep);
      near(first.d1, up.value, down.value);
      near(first.d2, up.d1, down.d1);
      near(first.d3, up.d2, down.d2);
      for (const double a : {-1.0, 0.8}) {
        const LogMoveTerms here = moves.move(0, b, a);
        const LogMoveTerms later = moves.move(0, b, a + kStep);
        const LogMoveTerms sooner = moves.move(0, b, a - kStep);
        near(here.a, later.value, sooner.value);
        near(here.aa, later.a, sooner.a);
        near(here.ba, later.b, sooner.b);
        near(here.aaa, later.aa, sooner.aa);
        near(here.baa, later.ba, sooner.ba);
        near(here.bba, later.bb, sooner.bb);
        const LogMoveTerms more = moves.move(0, b + kStep, a);
        const LogMoveTerms less = moves.move(0, b - kStep, a);
        near(here.b, more.value, less.value);
        near(here.bb, more.b, less.b);
        near(here.bbb, more.bb, less.bb);
      }
    }
  }
}

// By a sum over a fine grid.
TEST(LogMoves, FirstStatesHaveADensity) {
  for (const AnyPrior& prior : moving_priors()) {
    const LogMoves moves(prior.moments());
    double mass = 0;
    for (double u = -60; u < 10; u += 0.01) mass += 0.01 * std::exp(moves.first(0, u).value);
    EXPECT_NEAR(mass, 1, 1e-9) << prior.name();
  }
}

}  // namespace
}  // namespace headwater
