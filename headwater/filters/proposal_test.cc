#include "headwater/filters/proposal.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>

#include "headwater/engines/exact_batch.hpp"
#include "headwater/filters/particle_filter.hpp"
#include "headwater/models/basis_selection.hpp"
#include "headwater/reference/particle_runs.hpp"
#include "headwater/reference/streams.hpp"

namespace headwater {
namespace {

// For one component that is off or on: g~ is a power of the likelihood g, so that with power 1 the
// filter is fully adapted.
class LookAhead final : public Proposal {
 public:
  explicit LookAhead(double power) : power_(power) {}
  std::unique_ptr<Proposal> clone() const override { return std::make_unique<LookAhead>(*this); }
  void look_ahead(const AnyPrior& prior, const Evidence& seen, ConstStates previous,
                  const Eigen::Ref<const Vector>&, const ThreadPool&) override {
    const FiniteAxis axis = prior.finite_chain().axes[0];
    const bool is_first = previous.rows() == 0;
    laws_ = is_first ? Matrix(axis.initial.transpose()) : axis.transition;
    const Matrix activations = (Matrix(2, 2) << 0, 1, 1, 1).finished();
    seen.log_likelihoods(activations, as_span(log_guess_));
    log_guess_ *= power_;
    log_worths_.resize(is_first ? 1 : previous.rows());
    for (Index i = 0; i < log_worths_.size(); ++i) {
      const Index row = is_first ? 0 : static_cast<Index>(previous(i, 0));
      log_worths_[i] = std::log(joint(row, 0) + joint(row, 1));
    }
  }
  bool has_worths() const override { return true; }
  const Vector& log_worths() const override { return log_worths_; }
  void draw(const AnyPrior&, const RandomBlock& random, ConstStates parents,
            std::span<const std::int32_t>, States next) const override {
    for (Index i = 0; i < next.rows(); ++i) {
      const Index row = parents.rows() == 0 ? 0 : static_cast<Index>(parents(i, 0));
      const double on = joint(row, 1);
      const double off = joint(row, 0);
      next(i, 0) = random.particle(i).uniform() * (on + off) < on ? 1 : 0;
    }
  }
  void log_values(ConstStates states, Eigen::Ref<Vector> out) const override {
    for (Index i = 0; i < out.size(); ++i) out[i] = log_guess_[static_cast<Index>(states(i, 0))];
  }

 private:
  double joint(Index row, Index next) const {
    return laws_(row, next) * std::exp(log_guess_[next]);
  }

  double power_;
  Matrix laws_;
  Vector log_guess_ = Vector::Zero(2);
  Vector log_worths_;
};

struct Setting {
  BasisSelection prior{1, 0.85, 0.7};
  Matrix basis = (Matrix(2, 2) << 3, 1, 2, 0.5).finished();  // the second is a background
  Matrix record = (Matrix(2, 8) << 0, 1, 5, 4, 0, 0, 3, 6, 1, 0, 2, 3, 0, 1, 2, 1).finished();
};

ParticleFilter filter_for(const Setting& s, double power, double resample_below,
                          std::uint64_t seed) {
  ParticleFilter filter(AnyPrior(s.prior), s.basis,
                        {100, Resampling::kSystematic, resample_below, seed},
                        reference::threads(1));
  filter.set_proposal(std::make_unique<LookAhead>(power));
  return filter;
}

// The mean of p^ / p over 200 seeds is 1, and the means of the activations tend to the exact ones,
// here with 100 particles; an alarm rate of 1e-6 for the 9 numbers in the 6 settings together.
TEST(Proposal, LookingAheadChangesNoExpectation) {
  const Setting s;
  ExactFilter exact(s.prior.finite_chain(), s.basis);
  Vector truth(9);
  double log_likelihood = 0;
  for (Index t = 0; t < 8; ++t) {
    log_likelihood += exact.step(as_span(s.record.col(t))).log_predictive;
    truth[t] = (exact.states().transpose() * exact.filtered())[0];
  }
  truth[8] = 1;
  for (const double power : {0.5, 1.0}) {
    for (const double resample_below : {0.0, 0.5, 1.0}) {
      const Matrix found = reference::over_seeds(200, [&](std::uint64_t seed) {
        ParticleFilter filter = filter_for(s, power, resample_below, seed);
        Vector values(9);
        double log_estimate = 0;
        for (Index t = 0; t < 8; ++t) {
          log_estimate += filter.step(as_span(s.record.col(t))).log_predictive;
          values[t] = filter.filtered_activation()[0];
        }
        values[8] = std::exp(log_estimate - log_likelihood);
        return values;
      });
      EXPECT_LT(reference::largest_z(found, truth, 5e-4), reference::critical_z(found, 6))
          << power << ' ' << resample_below;
    }
  }
}

// Fully adapted, the particles weigh the same from the first observation on.
TEST(Proposal, AFullyAdaptedFilterWeighsAllTheSame) {
  const Setting s;
  ParticleFilter filter = filter_for(s, 1, 1, 1);
  for (Index t = 0; t < 8; ++t) {
    const FilterStep step = filter.step(as_span(s.record.col(t)));
    EXPECT_EQ(step.particles()->resampled, t > 0);
    EXPECT_NEAR(step.particles()->effective_size, 100, 1e-9);
  }
}

}  // namespace
}  // namespace headwater
