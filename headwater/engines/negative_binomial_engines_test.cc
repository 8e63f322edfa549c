#include <gtest/gtest.h>

#include "headwater/models/basis_selection.hpp"
#include "headwater/reference/engine_runs.hpp"
#include "headwater/simulate.hpp"

// Every engine under the negative binomial law, against sums over all paths.

namespace headwater {
namespace {

using reference::ShortRecord;

// 3 standard errors, two-sided, if there were one comparison.
constexpr double kThreeStandardErrors = 0.0027;

Matrix whole_counts() {
  Matrix counts(3, 6);
  counts << 5, 0, 0, 3, 6, 1,  //
      4, 6, 0, 2, 0, 3,        //
      0, 0, 0, 0, 37, 2;
  return counts;
}

// Channels of much, no and little dispersion.
std::vector<ShortRecord> with_a_background() {
  return reference::short_records(reference::negative_binomial_formulas(Vector{{2.5, 0, 0.4}}),
                                  whole_counts());
}

// While all components are off there can be no count, and no component has counts in all channels.
ShortRecord with_zeros() {
  ShortRecord r = with_a_background()[0];
  r.basis = (Matrix(3, 2) << 4, 0, 0, 5, 3, 9).finished();
  r.counts(0, 3) = 0;
  r.counts(1, 3) = 0;
  return r;
}

ShortRecord with_shared_dispersion() {
  ShortRecord r = with_a_background()[1];
  r.formulas = reference::negative_binomial_formulas(Vector::Constant(3, 0.7));
  r.formulas.law = NegativeBinomial(Vector::Constant(1, 0.7));
  return r;
}

std::vector<ShortRecord> all_records() {
  std::vector<ShortRecord> all = with_a_background();
  all.push_back(with_zeros());
  all.push_back(with_shared_dispersion());
  return all;
}

TEST(NegativeBinomialEngines, ExactEqualsSumsOverEveryPath) {
  for (const ShortRecord& r : all_records()) reference::expect_exact_equals_paths(r);
}

TEST(NegativeBinomialEngines, ABeamThatHoldsAllStatesIsExact) {
  for (const ShortRecord& r : all_records()) reference::expect_full_beam_equals_paths(r);
}

// The counts are such that an observation leaves some hundred states.
TEST(NegativeBinomialEngines, ANarrowBeamFindsTheStatesThatMatter) {
  const AnyPrior prior(BasisSelection(10, 0.8, 0.7));
  const Emission emission(random_basis(12, 10, 20, 3),
                          NegativeBinomial(Vector::Constant(12, 0.03)));
  Simulator simulator(prior, emission, 4);
  Record record;
  for (int t = 0; t < 40; ++t) {
    simulator.next();
    record.add(Observation(simulator.observation()));
  }
  reference::expect_narrow_beam_is_near(prior, emission, record);
}

// The rate of false alarms is that of 3 standard errors, once for each record: shared by Bonferroni
// among the likelihood and all statistics of the ten runs.
TEST(NegativeBinomialEngines, ParticlesAgreeWithSumsOverEveryPath) {
  for (const ShortRecord& r : {with_a_background()[1], with_zeros()}) {
    reference::expect_particles_agree_with_paths(r, 200, kThreeStandardErrors);
  }
}

}  // namespace
}  // namespace headwater
