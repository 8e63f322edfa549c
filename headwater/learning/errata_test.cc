// How the places where the paper's text is unclear or misprinted are read here, each with a test.
// The numbers are those of the table in docs/decisions/how-the-paper-is-read.md. E5 and E12 are
// tested with the relaxed prior, in models/continuous_priors_test.cc; E6 and E10 speak of
// particles; E14 is that psi has three names in the paper and one here.

#include <gtest/gtest.h>

#include "headwater/engines/exact_engine.hpp"
#include "headwater/learning/online_em.hpp"
#include "headwater/models/basis_selection.hpp"
#include "headwater/reference/path_sums.hpp"
#include "headwater/reference/streams.hpp"
#include "headwater/simulate.hpp"
#include "headwater/smoothers/forward_recursion.hpp"
#include "headwater/step_size.hpp"

namespace headwater {
namespace {

using Smoother = ExactEngineOptions::Smoother;

ExactEngine engine_for(const AnyPrior& prior, const Matrix& basis, Smoother smoother) {
  ExactEngineOptions options;
  options.smoother = smoother;
  return {prior, basis, options};
}

Statistics statistics_after(const Matrix& record, ExactEngine engine) {
  for (Index t = 0; t < record.cols(); ++t) {
    engine.step(as_span(record.col(t)), StepSize::power(0.8)(t + 1));
  }
  engine.finish();
  return engine.statistics();
}

const AnyPrior kErrataPrior(BasisSelection(2, 0.8571, 0.6926));
const Matrix kErrataBasis = (Matrix(3, 2) << 4, 1, 0.5, 6, 2, 2).finished();

// E1: p = P(0 -> 0) is counted over the state before the move. The printed normaliser, over the
// state after it, gives another number on a short record.
TEST(Errata, E1MovesAreCountedFromTheStateBefore) {
  const std::vector<double> moves = {3, 2, 1, 4};  // n00, n01, n10, n11
  AnyPrior prior(BasisSelection(1, 0.5, 0.5));
  prior.maximise(moves);
  EXPECT_DOUBLE_EQ(prior.parameters()[0].value(0), 3.0 / (3 + 2));  // printed: 3 / (n00 + n10)
}

// E2, E3: there is no move into the first state, so T observations have T - 1 moves.
TEST(Errata, E2TheFirstObservationHasNoMove) {
  const Matrix record = reference::simulate_record(kErrataPrior, kErrataBasis, 6, 1);
  EXPECT_EQ(statistics_after(record.leftCols(1),
                             engine_for(kErrataPrior, kErrataBasis, Smoother::kWindow))
                .s3,
            Vector(Vector::Zero(8)));
  const FiniteChain chain = kErrataPrior.finite_chain();
  const Statistics sums = reference::sum_over_paths(chain, chain.joint_states(), kErrataBasis,
                                                    record, std::vector<double>(6, 1.0))
                              .statistics;
  EXPECT_NEAR(sums.s3.head(4).sum(), 5, 1e-12);
}

// E4: P(0 -> 0) = p and P(1 -> 1) = q for states 0 and 1, not "1" and "2".
TEST(Errata, E4OffIsStateZero) {
  const FiniteAxis axis = kErrataPrior.finite_chain().axes[0];
  EXPECT_EQ(axis.states, (Matrix(2, 1) << 0, 1).finished());
  EXPECT_EQ(axis.transition(0, 0), 0.8571);
  EXPECT_EQ(axis.transition(1, 1), 0.6926);
}

// E7: gamma_1 = 1, so that after one observation the averages are those of that observation.
TEST(Errata, E7TheFirstStepIsOne) {
  const Matrix record = reference::simulate_record(kErrataPrior, kErrataBasis, 1, 3);
  const ExactEngine engine = engine_for(kErrataPrior, kErrataBasis, Smoother::kForward);
  EXPECT_NEAR(statistics_after(record, engine).s2.sum(), record.sum(), 1e-12);
  EXPECT_EQ(statistics_after(record, engine).effective_count(), 1);
}

// E8: with the parameters held, entering s2 at once or anew one step later is the same (E9); when
// the basis changes, the printed form sees y_t-1 with the basis of time t.
TEST(Errata, E8TheSecondStatisticAsPrintedUsesTheNewBasis) {
  const Matrix record = reference::simulate_record(kErrataPrior, kErrataBasis, 2, 4);
  const Matrix changed = (Matrix(3, 2) << 1, 3, 2, 2, 5, 1).finished();
  ExactFilter filter(kErrataPrior.finite_chain(), kErrataBasis);
  ForwardRecursion printed(filter, ForwardRecursion::SecondStatistic::kAsPrinted, false);
  filter.step(as_span(record.col(0)));
  printed.advance(filter, as_span(record.col(0)), 1);
  const Vector first_law = filter.filtered();
  filter.set_basis(changed);
  filter.step(as_span(record.col(1)));
  const double gamma = 0.25;
  printed.advance(filter, as_span(record.col(1)), gamma);

  // Smoothed law of the first state, under the likelihoods of the time, then s2 with `changed`.
  Vector backward = filter.ratio();
  filter.transition()->pull(as_span(backward));
  const Vector laws[2] = {first_law.cwiseProduct(backward), filter.filtered()};
  const double weights[2] = {(1 - gamma) * 1, gamma};
  Matrix expected = Matrix::Zero(3, 2);
  for (int t = 0; t < 2; ++t) {
    for (Index x = 0; x < 4; ++x) {
      const Vector state = filter.states().row(x);
      const Vector intensity = changed * state;
      for (Index m = 0; m < 3; ++m) {
        if (record(m, t) == 0) continue;
        for (Index k = 0; k < 2 && intensity[m] > 0; ++k) {
          expected(m, k) +=
              weights[t] * laws[t][x] * record(m, t) * changed(m, k) * state[k] / intensity[m];
        }
      }
    }
  }
  EXPECT_LT(reference::largest_relative_difference(printed.statistics().s2, expected), 1e-13);
}

TEST(Errata, E9OneStageAndTwoStagesAgreeWhileParametersAreHeld) {
  const Matrix record = reference::simulate_record(kErrataPrior, kErrataBasis, 200, 5);
  const Statistics once =
      statistics_after(record, engine_for(kErrataPrior, kErrataBasis, Smoother::kForward));
  const Statistics printed =
      statistics_after(record, engine_for(kErrataPrior, kErrataBasis, Smoother::kForwardAsPrinted));
  EXPECT_LT(reference::largest_relative_difference(once.s2, printed.s2), 1e-13);
}

// E11: before the burn-in neither the basis nor the prior moves, and the statistics run from the
// first observation on.
TEST(Errata, E11NothingMovesBeforeTheBurnIn) {
  const Matrix record = reference::simulate_record(kErrataPrior, kErrataBasis, 30, 6);
  OnlineEmOptions options;
  options.burn_in = 30;
  OnlineEm learner(std::make_unique<ExactEngine>(
                       engine_for(kErrataPrior, kErrataBasis, Smoother::kForwardAsPrinted)),
                   {kErrataBasis, kErrataPrior}, options);
  for (Index t = 0; t < 29; ++t) learner.update(as_span(record.col(t)));
  EXPECT_EQ(learner.last().basis, kErrataBasis);
  EXPECT_EQ(learner.last().prior.parameters()[0].value(0), 0.8571);
  EXPECT_EQ(learner.engine().statistics().observations, 29);
  learner.update(as_span(record.col(29)));
  EXPECT_NE(learner.last().basis, kErrataBasis);
  EXPECT_NE(learner.last().prior.parameters()[0].value(0), 0.8571);
}

// E13: the start is the stationary law, so the first predicted law is that of any later time.
TEST(Errata, E13TheStartIsStationary) {
  ExactFilter filter(kErrataPrior.finite_chain(), kErrataBasis);
  const std::vector<double> nothing(3, std::numeric_limits<double>::quiet_NaN());
  filter.step(nothing);
  const Vector first = filter.predicted();
  filter.step(nothing);
  EXPECT_LT((filter.predicted() - first).cwiseAbs().maxCoeff(), 1e-15);
}

// E15: a channel with no counts enters neither a logarithm nor a division, whatever its intensity;
// a count under zero intensity has probability zero, and such a state no weight in s2.
TEST(Errata, E15ZeroIntensities) {
  const Matrix basis = (Matrix(3, 2) << 4, 0, 0, 6, 0, 0).finished();
  const Matrix record = (Matrix(3, 3) << 4, 0, 5, 0, 6, 7, 0, 0, 0).finished();
  for (const Smoother smoother :
       {Smoother::kWindow, Smoother::kForward, Smoother::kForwardAsPrinted}) {
    const Statistics s = statistics_after(record, engine_for(kErrataPrior, basis, smoother));
    EXPECT_TRUE(s.s2.allFinite());
    EXPECT_EQ(s.s2(0, 1), 0);
    EXPECT_EQ(s.s2(1, 0), 0);
    EXPECT_EQ(s.s2.row(2).sum(), 0);
  }
}

// E16: exponents in (0.5, 1] are taken, and the default is 0.6 with averaging.
TEST(Errata, E16Exponents) {
  EXPECT_NO_THROW(StepSize::power(1));
  EXPECT_EQ(OnlineEmOptions{}.step_size.text(), "power:0.6");
  EXPECT_TRUE(OnlineEmOptions{}.average);
}

}  // namespace
}  // namespace headwater
