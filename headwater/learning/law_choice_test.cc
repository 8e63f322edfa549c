#include "headwater/learning/law_choice.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "headwater/emission/negative_binomial.hpp"
#include "headwater/learning/automatic_start.hpp"
#include "headwater/learning/start_trials.hpp"
#include "headwater/learning/step_choice.hpp"
#include "headwater/models/basis_selection.hpp"
#include "headwater/reference/learners.hpp"
#include "headwater/reference/streams.hpp"

namespace headwater {
namespace {

using Smoother = ExactEngineOptions::Smoother;

void add_stretch(const AnyLaw& law, double scale, Index length, std::uint64_t seed,
                 Record& record) {
  Simulator simulator(reference::three_states(), Emission(scale * reference::learned_basis(), law),
                      seed);
  for (Index t = 0; t < length; ++t) {
    simulator.next();
    record.add(Observation(simulator.observation()));
  }
}

// 90 observations of hardly any counts, and then 810 of many.
Record quiet_at_first(const AnyLaw& law) {
  Record record;
  add_stretch(law, 0.002, 90, 3, record);
  add_stretch(law, 1, 810, 4, record);
  return record;
}

// A search that can afford EM on the first 90 only.
std::string law_chosen_on(const Record& record, std::int64_t choice_iterations) {
  SearchEffort effort;
  effort.fewest_observations = 90;
  effort.share_of_cells = 1e-9;
  effort.choice_iterations = choice_iterations;
  const AnyPrior prior(BasisSelection(2, 0.9, 0.7));
  const AnyLaw dispersed(NegativeBinomial(Vector::Constant(5, 0.1)));
  const StartSearch found =
      automatic_start(record, prior, {AnyLaw(), dispersed}, false, {}, 1, {}, {}, effort);
  EXPECT_EQ(found.report.laws.empty(), found.report.too_few_for_laws);
  if (found.report.laws.empty()) return "not by comparison: " + found.estimate.law->name();
  EXPECT_EQ(found.estimate.law->name(), found.report.laws[0].chosen);
  return found.report.laws[0].chosen;
}

// With one iteration no more observations are looked at than EM is tried on, and in the quiet ones
// all laws are the same: the widest is taken.
TEST(LawChoice, LooksBeyondAQuietBeginning) {
  const Record dispersed = quiet_at_first(NegativeBinomial(Vector::Constant(1, 0.8)));
  EXPECT_EQ(law_chosen_on(dispersed, 1), "not by comparison: negative-binomial");
  EXPECT_EQ(law_chosen_on(dispersed, 15), NegativeBinomial::kName);
  EXPECT_EQ(law_chosen_on(quiet_at_first(AnyLaw()), 15), "poisson");
}

// Three standard errors are asked for, and the seeds are fixed.
TEST(LawChoice, PoissonCountsStayPoisson) {
  for (const std::uint64_t seed : {5, 6, 7}) {
    const Matrix basis = reference::learned_basis();
    Simulator simulator(AnyPrior(BasisSelection(2, 0.9, 0.7)), Emission(basis, AnyLaw()), seed);
    Record record;
    for (Index t = 0; t < 900; ++t) {
      simulator.next();
      record.add(Observation(simulator.observation()));
    }
    EXPECT_EQ(law_chosen_on(record, 15), "poisson") << seed;
  }
}

// Of Poisson's law and a dispersed one that predicts so many nats better.
std::string chosen_by(const Vector& gains) {
  const ThreadPool pool(1);
  SearchTasks tasks(pool, {});
  const AnyLaw dispersed(NegativeBinomial(Vector::Constant(5, 0.1)));
  const auto predict = [&](const AnyLaw& law) -> Vector {
    return law->name() == dispersed->name() ? gains : Vector::Zero(gains.size());
  };
  return compare_laws(AnyLaw(), dispersed, 5, predict, tasks).chosen;
}

// Predictions that gain `each` nats on each of 200 observations, give or take a millionth.
std::string chosen_by_gains_of(double each) {
  Vector gains = Vector::Constant(200, each);
  for (Index t = 0; t < gains.size(); ++t) gains[t] += t % 2 == 0 ? 1e-6 : -1e-6;
  return chosen_by(gains);
}

// A gain of a ten thousandth may be hundreds of standard errors, and is no evidence all the same.
TEST(LawChoice, ThreeNatsInAllAreAskedFor) {
  EXPECT_EQ(chosen_by_gains_of(1e-4), "poisson");
  EXPECT_EQ(chosen_by_gains_of(2.9 / 200), "poisson");
  EXPECT_EQ(chosen_by_gains_of(3.1 / 200), NegativeBinomial::kName);
}

// Ten observations that all speak for a law, from 10 nats to 10,000: the mean is 1.9 standard
// errors.
TEST(LawChoice, GainsOfDifferentSizesAreEvidence) {
  Vector gains(10);
  gains << 10, 15, 20, 50, 100, 200, 500, 2000, 5000, 10000;
  const Gain plain = gain_of(gains, Vector::Zero(10));
  ASSERT_LT(plain.mean, 2 * plain.standard_error);
  EXPECT_EQ(chosen_by(gains), NegativeBinomial::kName);
  EXPECT_EQ(chosen_by(-gains), "poisson");
  // One of ten is no evidence, however large it is.
  gains << -1, 1, -1, 1, -1, 1, -1, 1, -1, 10000;
  EXPECT_EQ(chosen_by(gains), "poisson");
}

// Twenty observations with a gain of 1 and a standard error of .6: 20 nats in all. What one of them
// says alone is left out.
TEST(LawChoice, FewObservationsMayBeDecisive) {
  Vector gains = Vector::Zero(20);
  for (Index t = 0; t < gains.size(); ++t) gains[t] = t % 4 == 0 ? 5.6 : -0.5333;
  const Gain plain = gain_of(gains, Vector::Zero(20));
  ASSERT_GT(plain.mean, plain.standard_error);
  ASSERT_LT(plain.mean, 2 * plain.standard_error);
  EXPECT_EQ(chosen_by(gains), NegativeBinomial::kName);
  gains.setConstant(0.1);
  gains[3] = 30;
  ASSERT_GT(gains.mean(), gain_of(gains, Vector::Zero(20)).standard_error);
  EXPECT_EQ(chosen_by(gains), "poisson");
}

// Three rows of one channel: c (c - 1) / 6 is 9.33 for c = 8, and 7 for c = 7. What counts for is
// the mean of a cell, whatever the exposure; half the exposure in one of two cells is worth 5/9 of
// c (c - 1) / 2.
TEST(LawChoice, InformationIsThatOfTheTotals) {
  const auto can_tell = [](const Matrix& counts, const Matrix& exposures) {
    Record record;
    for (Index t = 0; t < counts.cols(); ++t) {
      Observation y;
      y.assign(as_span(counts.col(t)), as_span(exposures.col(t)), t + 1);
      record.add(y);
    }
    return can_tell_laws(record);
  };
  for (const double exposure : {1e-3, 1.0, 1e5}) {
    const Matrix exposures = Matrix::Constant(1, 3, exposure);
    EXPECT_TRUE(can_tell((Matrix(1, 3) << 3, 2, 3).finished(), exposures)) << exposure;
    EXPECT_FALSE(can_tell((Matrix(1, 3) << 3, 2, 2).finished(), exposures)) << exposure;
  }
  const Matrix uneven = (Matrix(1, 2) << 2, 1).finished();
  EXPECT_FALSE(can_tell((Matrix(1, 2) << 4, 2).finished(), uneven));  // 30 * 5 / 18 = 8.33
  EXPECT_TRUE(can_tell((Matrix(1, 2) << 5, 2).finished(), uneven));   // 42 * 5 / 18 = 11.67
  EXPECT_FALSE(can_tell_laws(Record(Matrix::Zero(5, 40))));
}

TEST(LawChoice, GainsAreTemperedBeyondOneNatACell) {
  const Vector tempered = tempered_gains(Eigen::Vector4d(3, -4, 4 * std::exp(1.0), -4e10), 4);
  const Eigen::Vector4d expected(3, -4, 8, -4 * (1 + 10 * std::log(10.0)));
  EXPECT_LT((tempered - expected).cwiseAbs().maxCoeff(), 1e-12);
}

// A fit that may learn nothing predicts as a filter does.
TEST(PredictionsWhileLearning, AreThoseOfAFilterIfAllIsHeld) {
  Record record;
  add_stretch(AnyLaw(), 1, 120, 9, record);
  const Estimate truth{reference::learned_basis(), reference::three_states()};
  MStepOptions options;
  options.hold_basis = true;
  for (const Parameter& parameter : truth.prior.parameters()) {
    options.held_parameters.push_back(parameter.name);
  }
  const Vector held =
      predictions_while_learning(exact_engines(Smoother::kWindow, false)(truth, 1), truth, record,
                                 40, 80, steps_after_search(40, Memory::kShort), options, [] {});
  const auto filter = exact_engines(Smoother::kNone, false)(truth, 1);
  const Vector expected = held_out_predictions(*filter, record, 80);
  ASSERT_EQ(held.size(), 40);
  EXPECT_LT((held - expected).cwiseAbs().maxCoeff(), 1e-10);
}

// From a poor basis it predicts better than the filter that stays there, and tells of its progress.
TEST(PredictionsWhileLearning, Learn) {
  Record record;
  add_stretch(AnyLaw(), 1, 600, 9, record);
  const Estimate poor{reference::perturbed(reference::learned_basis(), 0.5, 2),
                      reference::three_states()};
  int told = 0;
  const Vector learned =
      predictions_while_learning(exact_engines(Smoother::kWindow, true)(poor, 1), poor, record, 40,
                                 400, steps_after_search(40, Memory::kShort), {}, [&] { ++told; });
  const auto filter = exact_engines(Smoother::kNone, true)(poor, 1);
  const Gain gain = gain_of(learned, held_out_predictions(*filter, record, 400));
  EXPECT_GT(gain.mean, 5 * gain.standard_error);
  EXPECT_GT(told, 10);
}

}  // namespace
}  // namespace headwater
