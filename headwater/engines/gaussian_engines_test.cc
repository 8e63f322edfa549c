#include <gtest/gtest.h>

#include "headwater/models/basis_selection.hpp"
#include "headwater/reference/engine_runs.hpp"
#include "headwater/simulate.hpp"

// Every engine with a law of the counts that is not Poisson's, against sums over all paths.

namespace headwater {
namespace {

using reference::GaussianLaw;
using reference::ShortRecord;

std::vector<ShortRecord> gaussian_records() {
  Matrix counts(3, 6);
  counts << 5.1, 3.2, 0, 2.9, 5.6, 1.4,  //
      4.0, 5.7, 0, 4.2, 5.9, 3.3,        //
      2.9, 0, 0, 0, 8.1, 2.2;
  return reference::short_records(reference::gaussian_formulas(0.8), counts);
}

TEST(GaussianEngines, ExactEqualsSumsOverEveryPath) {
  for (const ShortRecord& r : gaussian_records()) reference::expect_exact_equals_paths(r);
}

TEST(GaussianEngines, ABeamThatHoldsAllStatesIsExact) {
  for (const ShortRecord& r : gaussian_records()) reference::expect_full_beam_equals_paths(r);
}

TEST(GaussianEngines, ANarrowBeamFindsTheStatesThatMatter) {
  const AnyPrior prior(BasisSelection(10, 0.8, 0.7));
  const AnyLaw law = GaussianLaw(1.8);  // an observation leaves some hundred states
  Matrix basis = random_basis(12, 11, 5, 3);
  basis.col(10).setConstant(3);
  Simulator simulator(prior, Emission(basis.leftCols(10), law), 4);
  Record record;
  for (int t = 0; t < 40; ++t) {
    simulator.next();
    const Vector y = Eigen::Map<const Vector>(simulator.observation().data(), 12) + basis.col(10);
    record.add(Observation(as_span(y)));
  }
  reference::expect_narrow_beam_is_near(prior, Emission(basis, law), record);
}

TEST(GaussianEngines, ParticlesAgreeWithSumsOverEveryPath) {
  for (const ShortRecord& r : gaussian_records()) {
    reference::expect_particles_agree_with_paths(r, 30, 1e-6);
  }
}

}  // namespace
}  // namespace headwater
