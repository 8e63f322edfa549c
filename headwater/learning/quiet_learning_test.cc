#include <gtest/gtest.h>

#include <cmath>

#include "headwater/core/test_numbers.hpp"
#include "headwater/emission/quiet_channels.hpp"
#include "headwater/reference/learners.hpp"
#include "headwater/reference/plain_negative_binomial.hpp"
#include "headwater/reference/streams.hpp"

// Learning from many channels with few counts, where the negative binomial law sums up the channels
// without a count by polynomials: as if every cell were computed.

namespace headwater {
namespace {

constexpr Index kWide = 700;

Record wide_record(const AnyPrior& prior, const Matrix& basis, const NegativeBinomial& law,
                   Index length) {
  Simulator simulator(prior, Emission(basis, law), 7);
  Record record;
  for (Index t = 0; t < length; ++t) {
    simulator.next();
    std::vector<double> counts = simulator.observation();
    std::vector<double> exposures(counts.size(), 1);
    if (t % 4 == 1) counts[static_cast<std::size_t>(t)] = kMissing;
    if (t % 4 == 2) exposures[static_cast<std::size_t>(t)] = 0.5;
    record.add(Observation(counts, exposures));
  }
  return record;
}

struct Found {
  double log_likelihood = 0;
  Matrix basis;
  Vector dispersion;
};

Found learn_by(const reference::Learner& learner, const Record& record, const Estimate& start) {
  OnlineEm em = learner.from(start);
  for (Index t = 0; t < record.size(); ++t) em.update(record[t]);
  em.finish();
  return {em.log_likelihood(), em.last().basis, em.last().law.parameters()[0].value};
}

class QuietLearning : public testing::Test {
 protected:
  void compare(const reference::Learner& learner, double relative_of_log_likelihood) {
    const double relative = QuietChannels::kRelativeTolerance;
    const Matrix basis = (Matrix::Random(kWide, 2).cwiseAbs().array() + 0.2) / 50;
    const NegativeBinomial truth(Vector::Constant(1, 0.8));
    const Record record = wide_record(learner.prior, basis, truth, 48);
    const NegativeBinomial first(Vector::Constant(kWide, 0.3));
    const Matrix near = reference::perturbed(basis, 0.3, 2);
    const Found quick = learn_by(learner, record, {near, learner.prior, first});
    const Found plain =
        learn_by(learner, record, {near, learner.prior, reference::PlainNegativeBinomial(first)});
    EXPECT_NEAR(quick.log_likelihood, plain.log_likelihood,
                48 * QuietChannels::kTolerance +
                    relative_of_log_likelihood * std::abs(plain.log_likelihood))
        << learner.name;
    EXPECT_LT(reference::largest_relative_difference(quick.basis, plain.basis), relative)
        << learner.name;
    EXPECT_LT(reference::largest_relative_difference(quick.dispersion, plain.dispersion), relative)
        << learner.name;
    EXPECT_NE(quick.basis, plain.basis) << learner.name << " is not by polynomials";
  }
};

// Every M-step is wrong by at most the tolerances of the sums, and the log-likelihood after it by a
// little more than without one.
TEST_F(QuietLearning, ByTheExactEngineIsThatOfTheCells) {
  compare({"exact",
           reference::three_states(),
           {},
           reference::exact_by(ExactEngineOptions::Smoother::kWindow)},
          1e-5);
}

TEST_F(QuietLearning, ByTheBeamIsThatOfTheCells) {
  compare({"beam", reference::three_states(), {}, reference::make_beam}, 1e-5);
}

TEST_F(QuietLearning, ByParticlesIsThatOfTheCells) {
  // Not guided, and moves are drawn before the observation is seen: the same particles.
  const auto particles = reference::particles_by(ParticleEngineOptions::Smoother::kLag, false, 200);
  compare({"lag", reference::three_states(), {"transition"}, particles}, 1e-5);
}

// The fast engine has the count of a channel in its curvature where it had its mean. Its laws of
// the activations, and so its log-likelihood, are other approximations.
TEST_F(QuietLearning, ByTheFastEngineIsNearlyThatOfTheCells) {
  compare({"fast, gamma", reference::gammas(), {"persistence", "shape"}, reference::make_fast},
          1e-3);
  compare({"fast, log-gaussian", reference::logarithms(), {"persistence"}, reference::make_fast},
          1e-3);
}

}  // namespace
}  // namespace headwater
