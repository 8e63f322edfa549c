#include <gtest/gtest.h>

#include "headwater/engines/exact_engine.hpp"
#include "headwater/learning/online_em.hpp"
#include "headwater/matching.hpp"
#include "headwater/models/basis_selection.hpp"
#include "headwater/random.hpp"
#include "headwater/simulate.hpp"

namespace headwater {
namespace {

constexpr Index kTrackingLength = 6000;

AnyPrior tracking_selection() { return AnyPrior(BasisSelection(3, 0.8571, 0.6926)); }

// Counts around B_t x_t, where B_t goes in a straight line from one basis to another.
Matrix drifting_record(const Matrix& from, const Matrix& to, std::uint64_t seed) {
  Simulator simulator(tracking_selection(), from, seed);
  const RandomStream random(seed);
  Matrix record(from.rows(), kTrackingLength);
  for (Index t = 0; t < kTrackingLength; ++t) {
    simulator.next();
    const double way = static_cast<double>(t + 1) / static_cast<double>(kTrackingLength);
    const Vector intensity = (from + way * (to - from)) *
                             Eigen::Map<const Vector>(simulator.activation().data(), from.cols());
    Generator generator = random.at(static_cast<std::uint64_t>(t), 0, Purpose::observation);
    for (Index m = 0; m < from.rows(); ++m) record(m, t) = poisson(generator, intensity[m]);
  }
  return record;
}

OnlineEm learn(const Matrix& record, const Matrix& start, const StepSize& step_size) {
  OnlineEmOptions options;
  options.step_size = step_size;
  OnlineEm learner(std::make_unique<ExactEngine>(tracking_selection(), start, ExactEngineOptions{}),
                   {start, tracking_selection()}, options);
  for (Index t = 0; t < kTrackingLength; ++t) learner.update(as_span(record.col(t)));
  learner.finish();
  return learner;
}

// Constant steps of .02 average over some 50 observations, in which the basis goes 1/120 of its
// way: what is left is noise, .04 to .07 over these seeds. The way is .4 to .7 long; an average
// over the stream is more than half of it behind, and so are steps of 1 / t. (The last iterate with
// steps of t^-.6 averages over 180 observations here, and follows as well; only in a longer stream
// would it be left behind.)
TEST(Tracking, ConstantStepsFollowADriftWhereDecreasingOnesLagBehind) {
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    const Matrix from = random_basis(6, 3, 20, seed);
    const Matrix to = random_basis(6, 3, 20, seed + 100);
    const Matrix record = drifting_record(from, to, seed);
    const auto error = [&](const Estimate& e) { return relative_error(e.basis, to); };
    const double followed = error(learn(record, from, StepSize::constant(0.02)).last());
    EXPECT_LT(followed, 0.1);
    EXPECT_GT(error(learn(record, from, StepSize::power(0.6)).averaged()), 2 * followed);
    EXPECT_GT(error(learn(record, from, StepSize::power(1)).last()), 4 * followed);
  }
}

}  // namespace
}  // namespace headwater
