#pragma once

#include <memory>

#include "headwater/models/any_prior.hpp"
#include "headwater/models/observation.hpp"

namespace headwater {

// How a particle filter draws the next states. With a look ahead at the observation, particle i of
// the step before is worth C_i: ancestors are chosen by W_i C_i, and a state x drawn from
// q(x | x_i) then weighs g(y | x) f(x | x_i) / (C_i q(x | x_i)). For the smoothers to work
// unchanged, q must be such that this weight depends on x alone: q = f g~ / C_i for some g~(x).
class Proposal {
 public:
  virtual ~Proposal() = default;
  virtual std::unique_ptr<Proposal> clone() const = 0;

  // Called once a step, before the others, with the cloud that is to move.
  virtual void look_ahead(const AnyPrior& prior, const Matrix& basis, Observation y,
                          ConstStates previous, const Eigen::Ref<const Vector>& weights) = 0;
  // Whether there are worths at all; without them they are all one.
  virtual bool has_worths() const = 0;
  // out(i) = log C_i, for a block of the cloud.
  virtual void log_worths(const AnyPrior& prior, ConstStates previous,
                          Eigen::Ref<Vector> out) const = 0;
  // Draws next_i from q( . | previous_i); log_correction(i) = log f / (C_i q).
  virtual void draw(const AnyPrior& prior, const RandomBlock& random, ConstStates previous,
                    States next, Eigen::Ref<Vector> log_correction) const = 0;
};

// The bootstrap filter's: the next state is drawn from the prior, whatever the observation.
class PriorProposal final : public Proposal {
 public:
  std::unique_ptr<Proposal> clone() const override {
    return std::make_unique<PriorProposal>(*this);
  }
  void look_ahead(const AnyPrior&, const Matrix&, Observation, ConstStates,
                  const Eigen::Ref<const Vector>&) override {}
  bool has_worths() const override { return false; }
  void log_worths(const AnyPrior&, ConstStates, Eigen::Ref<Vector> out) const override {
    out.setZero();
  }
  void draw(const AnyPrior& prior, const RandomBlock& random, ConstStates previous, States next,
            Eigen::Ref<Vector> log_correction) const override {
    prior.sample_transition(random, previous, next);
    log_correction.setZero();
  }
};

}  // namespace headwater
