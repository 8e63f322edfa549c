#include "headwater/learning/basis_curvature.hpp"

#include <gtest/gtest.h>

#include <Eigen/LU>

#include "headwater/engines/exact_engine.hpp"
#include "headwater/learning/activation_law.hpp"
#include "headwater/learning/online_em.hpp"
#include "headwater/matching.hpp"
#include "headwater/models/basis_selection.hpp"
#include "headwater/models/relaxed_selection.hpp"
#include "headwater/reference/statistical_tests.hpp"
#include "headwater/simulate.hpp"

namespace headwater {
namespace {

constexpr Index kDraws = 512;  // of BasisCurvature
constexpr double kRidge = 0.05;

// Where EM's step from `now` would end if `truth` gave the counts and activations were known to be
// x: B(m, k) E[x_k lambda*_m(x) / lambda_m(x)] / E[x_k].
Matrix em_step(const Matrix& x, const Matrix& now, const Matrix& truth) {
  const Matrix ratio = (x * truth.transpose()).cwiseQuotient(x * now.transpose());  // n x M
  Matrix after = now.cwiseProduct(ratio.transpose() * x);
  after.array().rowwise() /= x.colwise().sum().array();
  return after;
}

// A small entry in a busy channel, which EM hardly moves.
Matrix uneven_basis() {
  Matrix basis(3, 3);
  basis << 0.5, 20, 30,  //
      8, 5, 2,           //
      3, 9, 12;
  return basis;
}

AnyPrior relaxed() { return AnyPrior(RelaxedSelection(3, 0.9)); }

// J and D by their definitions, one draw and one entry at a time.
TEST(BasisCurvature, LengthensByTheInverseInformation) {
  const Matrix now = uneven_basis();
  const Matrix x = draw_activations(relaxed(), kDraws);
  const Matrix by_em = 1.01 * now + Matrix::Constant(3, 3, 0.01);
  Matrix expected = now;
  for (Index m = 0; m < 3; ++m) {
    Matrix information = Matrix::Zero(3, 3);
    Matrix complete = Matrix::Zero(3, 3);
    for (Index i = 0; i < kDraws; ++i) {
      const double intensity = now.row(m).dot(x.row(i));
      for (Index j = 0; j < 3; ++j) {
        complete(j, j) += x(i, j) / now(m, j) / kDraws;
        for (Index k = 0; k < 3; ++k) {
          information(j, k) += x(i, j) * x(i, k) / intensity / kDraws;
        }
      }
    }
    const Vector gradient = complete * (by_em.row(m) - now.row(m)).transpose();
    expected.row(m) +=
        (1 + kRidge) * ((information + kRidge * complete).inverse() * gradient).transpose();
  }
  BasisCurvature curvature;
  curvature.measure({now, relaxed()}, kRidge);
  Matrix basis = by_em;
  curvature.lengthen_step(now, basis);
  EXPECT_LT((basis - expected).cwiseAbs().maxCoeff(), 1e-10);
}

// With activations known, Newton's step ends beside the truth. The ridge leaves at most
// kRidge D / (J + kRidge D) of a distance along a direction; here that is a third, and EM leaves
// nine tenths.
TEST(BasisCurvature, GoesWhereEmNeedsManySteps) {
  const Matrix truth = uneven_basis();
  Matrix now = truth;
  now(0, 0) = 0.7;
  const Matrix x = draw_activations(relaxed(), kDraws);
  Matrix basis = em_step(x, now, truth);
  const double left_by_em = (basis - truth).norm() / (now - truth).norm();
  BasisCurvature curvature;
  curvature.measure({now, relaxed()}, kRidge);
  curvature.lengthen_step(now, basis);
  EXPECT_GT(left_by_em, 0.9);
  EXPECT_LT((basis - truth).norm() / (now - truth).norm(), 0.4);
}

TEST(BasisCurvature, NoEntryIsHalvedOrDoubledUnlessByEm) {
  const Matrix now = uneven_basis();
  BasisCurvature curvature;
  curvature.measure({now, relaxed()}, kRidge);
  Matrix basis = now;
  basis(0, 0) = 0.1;   // by EM itself
  basis(0, 1) = 19.9;  // longer, this would be less than a half
  basis(1, 2) = 2.9;
  const Matrix by_em = basis;
  curvature.lengthen_step(now, basis);
  for (Index m = 0; m < 3; ++m) {
    for (Index k = 0; k < 3; ++k) {
      EXPECT_GE(basis(m, k), std::min(by_em(m, k), now(m, k) / 2));
      EXPECT_LE(basis(m, k), std::max(by_em(m, k), now(m, k) * 2));
    }
  }
  EXPECT_EQ(basis.row(2), now.row(2)) << "no step, nothing to lengthen";
}

// P(on) = 1/5001: none of the draws has it on.
TEST(BasisCurvature, AComponentThatNoDrawHasIsLeftToEm) {
  const Vector stay_off = (Vector(3) << 0.9, 0.9, 0.9999).finished();
  const Vector stay_on = (Vector(3) << 0.9, 0.9, 0.5).finished();
  const AnyPrior prior(BasisSelection(3, stay_off, stay_on));
  ASSERT_EQ(draw_activations(prior, kDraws).col(2).sum(), 0);
  BasisCurvature curvature;
  curvature.measure({uneven_basis(), prior}, kRidge);
  const Matrix by_em = 1.1 * uneven_basis();
  Matrix basis = by_em;
  curvature.lengthen_step(uneven_basis(), basis);
  EXPECT_EQ(basis, by_em);
}

TEST(BasisCurvature, AnEntryThatEmLeavesStays) {
  BasisCurvature curvature;
  curvature.measure({uneven_basis(), relaxed()}, kRidge);
  Matrix basis = 1.1 * uneven_basis();
  basis(0, 1) = uneven_basis()(0, 1);
  curvature.lengthen_step(uneven_basis(), basis);
  EXPECT_EQ(basis(0, 1), uneven_basis()(0, 1));
}

// A last column that is always on enters like any other.
TEST(BasisCurvature, TakesInABackground) {
  Matrix now(3, 4);
  now << uneven_basis(), Vector::Constant(3, 5);
  Matrix truth = now;
  truth.col(3) *= 1.1;
  Matrix x = Matrix::Ones(kDraws, 4);
  x.leftCols(3) = draw_activations(relaxed(), kDraws);
  Matrix basis = em_step(x, now, truth);
  const double left_by_em = (basis - truth).norm();
  BasisCurvature curvature;
  curvature.measure({now, relaxed()}, kRidge);
  curvature.lengthen_step(now, basis);
  EXPECT_LT((basis - truth).norm(), left_by_em / 2);
}

TEST(BasisCurvature, AChannelWithAZeroEntryIsLeftToEm) {
  Matrix now = uneven_basis();
  now(1, 1) = 0;
  BasisCurvature curvature;
  curvature.measure({now, relaxed()}, kRidge);
  const Matrix by_em = now * 1.05;
  Matrix basis = by_em;
  curvature.lengthen_step(now, basis);
  EXPECT_EQ(basis.row(1), by_em.row(1));
}

// The same stream with and without. Without, the small entry is still far away when the stream
// ends: its distance falls by exp(-lambda sum of steps), lambda below 0.02 and the sum 141.
TEST(BasisCurvature, OnlineEmForgetsAWrongSmallEntry) {
  const AnyPrior prior(BasisSelection(3, 0.3, 0.95));  // the channel is hardly ever quiet
  const Matrix truth = uneven_basis();
  Matrix wrong = truth;
  wrong(0, 0) = 4;
  std::vector<double> distance;
  for (const bool lengthen : {false, true}) {
    OnlineEmOptions options;
    options.lengthen_steps = lengthen;
    ExactEngineOptions engine;
    engine.learn_prior = true;
    OnlineEm learner(std::make_unique<ExactEngine>(prior, wrong, engine), {wrong, prior}, options);
    Simulator stream(prior, truth, 41);
    for (Index t = 0; t < 24000; ++t) {
      stream.next();
      learner.update(stream.observation());
    }
    learner.finish();
    distance.push_back(std::abs(learner.averaged().basis(0, 0) - truth(0, 0)));
  }
  // Standard errors by the information that there is with activations known, which is most of what
  // there is here, and a tenth more for the average. An alarm rate of 1e-6.
  const Matrix x = draw_activations(prior, 4096);
  Matrix information = Matrix::Zero(3, 3);
  for (Index i = 0; i < x.rows(); ++i) {
    const double intensity = truth.row(0).dot(x.row(i));
    if (intensity > 0) information += x.row(i).transpose() * x.row(i) / intensity / 4096;
  }
  const double error = 1.1 * std::sqrt(information.inverse()(0, 0) / 24000);
  EXPECT_LT(distance[1], reference::normal_critical(1e-6) * error);
  EXPECT_GT(distance[0], 6 * error);
}

}  // namespace
}  // namespace headwater
