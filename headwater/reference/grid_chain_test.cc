#include "headwater/reference/grid_chain.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "headwater/core/special.hpp"
#include "headwater/error.hpp"
#include "headwater/models/basis_selection.hpp"
#include "headwater/models/gamma_prior.hpp"
#include "headwater/models/independent_prior.hpp"
#include "headwater/models/log_gaussian.hpp"
#include "headwater/models/relaxed_selection.hpp"
#include "headwater/reference/path_sums.hpp"
#include "headwater/reference/prior_draws.hpp"
#include "headwater/reference/statistical_tests.hpp"
#include "headwater/reference/streams.hpp"
#include "headwater/simulate.hpp"

namespace headwater::reference {
namespace {

AnyPrior scaled(AnyPrior prior, double scale) {
  prior.set_scale(Vector::Constant(prior.num_components(), scale));
  return prior;
}

std::vector<AnyPrior> priors_of_one_component() {
  return {AnyPrior(LogGaussian(1, 0.9, 0.3)),
          AnyPrior(LogGaussian(1, -0.5, 0.5)),
          scaled(AnyPrior(LogGaussian(1, 0.8, 0.4)), 3),
          AnyPrior(GammaPrior(1, 2, 0.8)),
          AnyPrior(GammaPrior(1, 0.3, 0.9)),
          AnyPrior(GammaPrior(1, 0.05, 0.5)),
          scaled(AnyPrior(GammaPrior(1, 1, 0.6)), 3),
          AnyPrior(IndependentPrior(1, 0.5)),
          scaled(AnyPrior(IndependentPrior(1, 4)), 0.2),
          AnyPrior(RelaxedSelection(1, 0.95)),
          AnyPrior(RelaxedSelection(1, 0.5))};
}

std::string describe(const AnyPrior& prior) {
  std::string text = prior.name();
  for (const Parameter& parameter : prior.parameters()) {
    text += ' ' + std::to_string(parameter.value(0));
  }
  return text;
}

TEST(GridChain, StartsInItsStationaryLaw) {
  for (const AnyPrior& prior : priors_of_one_component()) {
    const FiniteAxis axis = make_grid_chain(prior, 256).chain.axes[0];
    const Vector moved = axis.transition.transpose() * axis.initial;
    EXPECT_LT((moved - axis.initial).lpNorm<1>(), 1e-9) << describe(prior);
  }
}

// Divides the cells of an axis into four parts, each with about a quarter of the stationary
// distribution.
constexpr Index kParts = 4;
std::vector<Index> parts_of_cells(const Vector& law) {
  std::vector<Index> part;
  double below = 0;
  for (const double mass : law) {
    part.push_back(std::min(kParts - 1, static_cast<Index>((below + mass / 2) * double(kParts))));
    below += mass;
  }
  return part;
}

// Transition probabilities between parts; row i is for transitions that start in part i.
Matrix law_of_moves(const FiniteAxis& axis, const std::vector<Index>& part) {
  Matrix law = Matrix::Zero(kParts, kParts);
  for (Index i = 0; i < axis.size(); ++i) {
    for (Index j = 0; j < axis.size(); ++j) {
      law(part[i], part[j]) += axis.initial[i] * axis.transition(i, j);
    }
  }
  return law;
}

// Counts of drawn transitions, in the same layout.
Matrix drawn_moves(const AnyPrior& prior, const GridAxis& axis, const std::vector<Index>& part,
                   Index draws) {
  const Matrix before = draw(prior, draws, 0);
  const Matrix after = move_on(prior, before);
  Matrix moves = Matrix::Zero(kParts, kParts);
  for (Index n = 0; n < draws; ++n) {
    moves(part[axis.cell_of(before(n, 0))], part[axis.cell_of(after(n, 0))]) += 1;
  }
  return moves;
}

// Chi-square test over the 16 kinds of transitions. A kind that expects fewer than twenty is merged
// with the following ones; the last kind, staying within a part, expects more. Alarm rate 1e-6 for
// each prior.
TEST(GridChain, MovesAsThePriorDoes) {
  constexpr Index kDraws = 20000;
  for (const AnyPrior& prior : priors_of_one_component()) {
    const GridChain grid = make_grid_chain(prior, 400);
    const std::vector<Index> part = parts_of_cells(grid.chain.axes[0].initial);
    const Matrix expected = double(kDraws) * law_of_moves(grid.chain.axes[0], part);
    const Matrix observed = drawn_moves(prior, grid.axes[0], part, kDraws);
    std::vector<double> expected_kinds{0.0};
    std::vector<double> observed_kinds{0.0};
    for (Index kind = 0; kind < expected.size(); ++kind) {
      if (expected_kinds.back() >= 20) {
        expected_kinds.push_back(0);
        observed_kinds.push_back(0);
      }
      expected_kinds.back() += expected(kind);
      observed_kinds.back() += observed(kind);
    }
    EXPECT_GE(expected_kinds.back(), 20) << describe(prior);
    EXPECT_LT(chi_square_statistic(observed_kinds, expected_kinds),
              chi_square_critical(double(expected_kinds.size()) - 1, 1e-6))
        << describe(prior);
  }
}

// Without data, the expected transitions are those of the prior, so the M-step must return its
// parameters.
TEST(GridChain, MovesWithoutDataGiveTheParametersBack) {
  const Matrix missing = Matrix::Constant(1, 5, std::numeric_limits<double>::quiet_NaN());
  for (const AnyPrior& prior : priors_of_one_component()) {
    const GridTruth truth = truth_of(prior, Matrix::Ones(1, 1), missing, 256);
    AnyPrior learned = prior;
    learned.maximise(as_span(truth.statistics.s3));
    const Parameters before = prior.parameters();
    const Parameters after = learned.parameters();
    for (std::size_t i = 0; i < before.size(); ++i) {
      EXPECT_NEAR(after[i].value(0) / before[i].value(0), 1, 1e-7) << describe(prior);
    }
    EXPECT_NEAR(learned.scale()[0] / prior.scale()[0], 1, 1e-7) << describe(prior);
  }
}

// p(y_1..3) is the mean of g(y_1 | x_1) g(y_2 | x_2) g(y_3 | x_3) over paths drawn from the prior;
// draw() with one more transition continues the same paths by one step. Alarm rate 1e-6 for each
// prior, as far as the mean of 100,000 bounded numbers is normal.
TEST(GridChain, LikelihoodIsTheMeanOverThePrior) {
  constexpr Index kDraws = 100000;
  const Matrix basis = (Matrix(2, 2) << 2, 0.5, 1, 3).finished();
  const Matrix y = (Matrix(2, 3) << 1, 3, 2, 0, 2, 4).finished();
  const Vector alphas = (Vector(2) << 0.9, 0.6).finished();
  for (const AnyPrior& prior :
       {AnyPrior(LogGaussian(2, 0.7, 0.5)), AnyPrior(GammaPrior(2, 0.8, 0.6)),
        AnyPrior(IndependentPrior(2, 0.8)), AnyPrior(RelaxedSelection(2, alphas))}) {
    Vector likelihoods = Vector::Ones(kDraws);
    Matrix x(kDraws, 2);
    for (int t = 0; t < 3; ++t) {
      prior.activations(draw(prior, kDraws, t), x);
      for (Index n = 0; n < kDraws; ++n) {
        likelihoods[n] *= std::exp(log_poisson(y.col(t), basis * x.row(n).transpose()));
      }
    }
    const Moments mean = moments_of(likelihoods);
    EXPECT_NEAR(std::exp(truth_of(prior, basis, y, 64).log_likelihood), mean.mean,
                normal_critical(1e-6) * mean.standard_error)
        << describe(prior);
  }
}

// Without memory, the counts y are negative binomial.
TEST(GridChain, IndependentPriorIsNegativeBinomial) {
  const double shape = 0.7;
  const double b = 3;
  const Matrix y = (Matrix(1, 4) << 0, 1, 5, 12).finished();
  const GridTruth truth =
      truth_of(AnyPrior(IndependentPrior(1, shape)), Matrix::Constant(1, 1, b), y, 200);
  for (Index t = 0; t < y.cols(); ++t) {
    const double count = y(0, t);
    const double log_p = log_gamma(shape + count) - log_gamma(shape) - log_factorial(count) +
                         shape * std::log(shape / (shape + b)) + count * std::log(b / (shape + b));
    EXPECT_NEAR(truth.log_predictive[t], log_p, 1e-9);
    EXPECT_NEAR(truth.filtered_means(t, 0), (shape + count) / (shape + b), 1e-9);
    EXPECT_NEAR(truth.smoothed_means(t, 0), truth.filtered_means(t, 0), 1e-12);
  }
}

void expect_near(const Matrix& a, const Matrix& b, double tolerance, const std::string& what) {
  EXPECT_LT(largest_relative_difference(a, b), tolerance) << what;
}

void expect_converged(const AnyPrior& prior, Index length, Index cells, double tolerance) {
  const Matrix basis = random_basis(4, prior.num_components(), 5, 5);
  const Matrix observations = simulate_record(prior, basis, length, 3);
  const GridTruth coarse = truth_of(prior, basis, observations, cells);
  const GridTruth fine = truth_of(prior, basis, observations, 2 * cells);
  const std::string what = describe(prior);
  EXPECT_NEAR(coarse.log_likelihood, fine.log_likelihood, tolerance) << what;
  EXPECT_NEAR(fine.log_predictive.sum(), fine.log_likelihood, 1e-9) << what;
  expect_near(coarse.log_predictive, fine.log_predictive, tolerance, what);
  expect_near(coarse.filtered_means, fine.filtered_means, tolerance, what);
  expect_near(coarse.smoothed_means, fine.smoothed_means, tolerance, what);
  expect_near(coarse.statistics.s1, fine.statistics.s1, tolerance, what);
  expect_near(coarse.statistics.s2, fine.statistics.s2, tolerance, what);
  EXPECT_EQ(fine.statistics.s3.size(), prior.num_statistics()) << what;
  for (Index i = 0; i < fine.statistics.s3.size(); ++i) {
    EXPECT_NEAR(coarse.statistics.s3[i], fine.statistics.s3[i],
                tolerance * std::max(1.0, std::abs(fine.statistics.s3[i])))
        << what << ' ' << i;
  }
}

TEST(GridChain, ConvergesForOneComponent) {
  for (const AnyPrior& prior : priors_of_one_component()) {
    const bool is_smooth = prior.name() != "relaxed-selection";
    expect_converged(prior, 40, 256, is_smooth ? 1e-8 : 1e-5);
  }
}

TEST(GridChain, ConvergesForTwoComponents) {
  const Vector shapes = (Vector(2) << 1, 3).finished();
  const Vector alphas = (Vector(2) << 0.9, 0.7).finished();
  for (const AnyPrior& prior :
       {AnyPrior(LogGaussian(2, 0.9, 0.3)), AnyPrior(GammaPrior(2, shapes, shapes / 4)),
        AnyPrior(IndependentPrior(2, shapes)), AnyPrior(RelaxedSelection(2, alphas))}) {
    expect_converged(prior, 12, 64, 1e-3);
  }
}

TEST(GridChain, KnowsItsPriors) {
  EXPECT_THROW(make_grid_chain(AnyPrior(BasisSelection(1, 0.9, 0.9)), 64), UsageError);
  EXPECT_THROW(make_grid_chain(AnyPrior(LogGaussian(1, 0.9, 0.3)), 63), UsageError);
}

}  // namespace
}  // namespace headwater::reference
