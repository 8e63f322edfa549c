#include <gtest/gtest.h>

#include "headwater/models/basis_selection.hpp"
#include "headwater/reference/engine_runs.hpp"
#include "headwater/simulate.hpp"

// Every engine under the hurdle law, with dispersed intensities and without, against sums over all
// paths.

namespace headwater {
namespace {

using reference::ShortRecord;

// 3 standard errors, two-sided, if there were one comparison.
constexpr double kHurdleAlarmRate = 0.0027;

const Vector kHurdleExcess{{0.2, 0.05, 1.5}};
const Vector kHurdleDispersion{{2.5, 0, 0.4}};

Matrix mostly_ones_counts() {
  Matrix counts(3, 6);
  counts << 1, 0, 0, 1, 2, 1,  //
      1, 1, 0, 1, 0, 1,        //
      0, 0, 0, 0, 5, 1;
  return counts;
}

// The basis is such that each cell is about as often 0 as not.
std::vector<ShortRecord> hurdle_records_of(const reference::LawFormulas& formulas) {
  std::vector<ShortRecord> records = reference::short_records(formulas, mostly_ones_counts());
  for (ShortRecord& r : records) r.basis *= 0.3;
  // While all components are off there can be no count.
  ShortRecord with_zeros = records[0];
  with_zeros.basis = (Matrix(3, 2) << 1, 0, 0, 1.5, 0.8, 2).finished();
  with_zeros.counts(0, 3) = 0;
  with_zeros.counts(1, 3) = 0;
  records.push_back(with_zeros);
  return records;
}

std::vector<ShortRecord> hurdle_records() {
  std::vector<ShortRecord> all = hurdle_records_of(reference::hurdle_formulas(kHurdleExcess));
  for (ShortRecord& r :
       hurdle_records_of(reference::hurdle_formulas(kHurdleExcess, kHurdleDispersion))) {
    all.push_back(r);
  }
  return all;
}

TEST(HurdleEngines, ExactEqualsSumsOverEveryPath) {
  for (const ShortRecord& r : hurdle_records()) reference::expect_exact_equals_paths(r);
}

TEST(HurdleEngines, ABeamThatHoldsAllStatesIsExact) {
  for (const ShortRecord& r : hurdle_records()) reference::expect_full_beam_equals_paths(r);
}

// The rate of false alarms is that of 3 standard errors, once for each record: shared by Bonferroni
// among the likelihood and all statistics of the ten runs.
TEST(HurdleEngines, ParticlesAgreeWithSumsOverEveryPath) {
  for (const ShortRecord& r : {hurdle_records()[1], hurdle_records()[4]}) {
    reference::expect_particles_agree_with_paths(r, 100, kHurdleAlarmRate);
  }
}

}  // namespace
}  // namespace headwater
