#include "headwater/filters/exact_filter.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "headwater/core/test_numbers.hpp"
#include "headwater/models/basis_selection.hpp"
#include "headwater/models/finite_prior.hpp"
#include "headwater/reference/path_sums.hpp"
#include "headwater/reference/streams.hpp"

namespace headwater {
namespace {

struct Case {
  const char* name;
  FiniteChain chain;
  Matrix basis;
  Matrix observations;
};

// K = 2, T = 6: several priors and bases, zeros in y and in B, missing cells, a background.
std::vector<Case> cases() {
  Matrix y(3, 6);
  y << 3, 0, 7, 0, 0, 2,  //
      0, 0, 9, 1, 0, 4,   //
      1, 0, 4, 0, 5, 0;
  Matrix basis(3, 2);
  basis << 4, 1, 0.5, 6, 2, 2;
  Matrix with_zeros(3, 2);
  with_zeros << 4, 0, 0, 6, 2, 3;
  Matrix with_background(3, 3);
  with_background << 4, 0, 0.3, 0, 6, 0.1, 2, 3, 0.2;
  Matrix reachable = y;  // the first two channels never together with an idle third
  reachable.col(0) << 3, 0, 1;
  reachable.col(2) << 7, 9, 4;
  reachable.col(3) << 0, 1, 0;
  reachable.col(5) << 2, 4, 0;
  Matrix gappy = y;
  gappy(0, 1) = kMissing;
  gappy.col(2).setConstant(kMissing);
  gappy(2, 5) = kMissing;
  Matrix tables(3, 3);
  tables << 0.7, 0.2, 0.1, 0.0, 0.5, 0.5, 0.3, 0.3, 0.4;
  Matrix states(3, 2);
  states << 0.2, 1, 1.5, 0, 2, 2;
  const Vector own_off = (Vector(2) << 0.6, 0.95).finished();
  const Vector own_on = (Vector(2) << 0.3, 0.8).finished();
  return {
      {"paper", BasisSelection(2, 0.8571, 0.6926).finite_chain(), basis, y},
      {"sticky", BasisSelection(2, 0.99, 0.98).finite_chain(), basis, y},
      {"own parameters", BasisSelection(2, own_off, own_on).finite_chain(), basis, y},
      {"zeros in the basis", BasisSelection(2, 0.7, 0.6).finite_chain(), with_zeros, reachable},
      {"background", BasisSelection(2, 0.7, 0.6).finite_chain(), with_background, y},
      {"missing cells", BasisSelection(2, 0.7, 0.6).finite_chain(), basis, gappy},
      {"finite", FiniteStatePrior(states, tables).finite_chain(), basis, y},
  };
}

TEST(ExactFilter, EqualsSumsOverEveryPath) {
  for (const Case& c : cases()) {
    SCOPED_TRACE(c.name);
    const Matrix states = states_with_background(c.chain, c.basis.cols());
    const auto truth = reference::sum_over_paths(c.chain, states, c.basis, c.observations,
                                                 std::vector<double>(6, 1.0));
    ExactFilter filter(c.chain, c.basis);
    double log_likelihood = 0;
    for (Index t = 0; t < 6; ++t) {
      const FilterStep step = filter.step(as_span(c.observations.col(t)));
      log_likelihood += step.log_predictive;
      EXPECT_FALSE(step.impossible);
      EXPECT_NEAR(step.log_predictive, truth.log_predictive[t],
                  1e-12 * (1 + std::abs(truth.log_predictive[t])));
      EXPECT_LT((filter.filtered() - truth.filtered[t]).cwiseAbs().maxCoeff(), 1e-12);
      EXPECT_LT((filter.predicted().cwiseProduct(filter.ratio()) - filter.filtered())
                    .cwiseAbs()
                    .maxCoeff(),
                1e-14);
    }
    EXPECT_NEAR(log_likelihood, truth.log_likelihood, 1e-12 * std::abs(truth.log_likelihood));
  }
}

TEST(ExactFilter, ImpossibleObservationsAreReportedAndLeaveTheLawAsPredicted) {
  Matrix basis(2, 1);
  basis << 3, 0;  // channel 2 has no source
  ExactFilter filter(BasisSelection(1, 0.8, 0.6).finite_chain(), basis);
  const std::vector<double> fine = {4, 0};
  const std::vector<double> impossible = {4, 1};
  filter.step(fine);
  const FilterStep step = filter.step(impossible);
  EXPECT_TRUE(step.impossible);
  EXPECT_EQ(step.log_predictive, -std::numeric_limits<double>::infinity());
  EXPECT_EQ(filter.filtered(), filter.predicted());
  EXPECT_FALSE(filter.step(fine).impossible);
  EXPECT_NEAR(filter.filtered().sum(), 1, 1e-15);
}

// All sources off under a positive count is one impossible state among possible ones: no NaN.
TEST(ExactFilter, ZeroIntensityRulesAStateOut) {
  ExactFilter filter(BasisSelection(2, 0.8, 0.6).finite_chain(), Matrix::Ones(1, 2));
  filter.step(std::vector<double>{2});
  EXPECT_EQ(filter.filtered()[0], 0);
  EXPECT_TRUE(filter.filtered().allFinite());
  EXPECT_TRUE(filter.ratio().allFinite());
}

TEST(ExactFilter, AnObservationWithNothingSeenOnlyPredicts) {
  ExactFilter filter(BasisSelection(2, 0.8, 0.6).finite_chain(), Matrix::Random(3, 2).cwiseAbs());
  filter.step(std::vector<double>{1, 0, 2});
  const FilterStep step = filter.step(std::vector<double>(3, kMissing));
  // The predicted law of four states sums to one but for the rounding of its terms.
  const double rounding = 4 * 0x1p-52;
  EXPECT_NEAR(step.log_predictive, 0, rounding);
  EXPECT_LE((filter.filtered() - filter.predicted()).cwiseAbs().maxCoeff(), rounding);
}

// The state that explains the data was ruled out to 1e-300: the product of prediction and
// likelihood underflows unless it is measured from its own maximum.
TEST(ExactFilter, SurvivesDataThatContradictThePrediction) {
  const double tiny = 1e-300;
  FiniteAxis axis;
  axis.states = (Matrix(2, 1) << 0.001, 1).finished();
  axis.transition = (Matrix(2, 2) << 1 - tiny, tiny, tiny, 1 - tiny).finished();
  axis.initial = (Vector(2) << 1 - tiny, tiny).finished();
  ExactFilter filter({{axis}}, Matrix::Constant(1, 1, 1e4));
  const FilterStep step = filter.step(std::vector<double>{1e4});
  EXPECT_FALSE(step.impossible);
  EXPECT_NEAR(filter.filtered()[1], 1, 1e-12);
  const double expected = std::log(tiny) + 1e4 * std::log(1e4) - 1e4 - std::lgamma(1e4 + 1);
  EXPECT_NEAR(step.log_predictive, expected, 1e-9);
}

TEST(ExactFilter, LargeCountsStayFinite) {
  ExactFilter filter(BasisSelection(1, 0.8, 0.6).finite_chain(), Matrix::Constant(1, 1, 1e9));
  const FilterStep step = filter.step(std::vector<double>{1e9 + 12345});
  EXPECT_TRUE(std::isfinite(step.log_predictive));
  EXPECT_NEAR(filter.filtered()[1], 1, 1e-12);
}

}  // namespace
}  // namespace headwater
