#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "headwater/any_prior.hpp"
#include "headwater/evidence.hpp"
#include "headwater/parallel/thread_pool.hpp"

namespace headwater {

// Particles are worked on in chunks of this many, whatever the number of threads.
inline constexpr Index kParticleChunk = 512;

// How a particle filter draws the next states. With a look ahead at the observation, a function
// g~ of the state stands for the likelihood g, and particle i of the step before is worth C_i, the
// integral of f(x | x_i) g~(x): ancestors are chosen by W_i C_i, and a state x drawn from
// f(x | x_i) g~(x) / C_i weighs g(x) / g~(x). That depends on x alone, whatever its ancestor, and
// so the smoothers need not know.
class Proposal {
 public:
  virtual ~Proposal() = default;
  virtual std::unique_ptr<Proposal> clone() const = 0;

  // Called once a step, before the others, with the cloud that is to move; it has no rows before
  // the first step.
  virtual void look_ahead(const AnyPrior& prior, const Evidence& evidence, ConstStates previous,
                          const Eigen::Ref<const Vector>& weights, const ThreadPool& pool) = 0;
  // Whether there is a g~ in this step; without, it is one.
  virtual bool has_worths() const = 0;
  // log C_i of each particle; before the first step, the only one.
  virtual const Vector& log_worths() const = 0;

  // Draws next_i from f(x | parent_i) g~(x) / C_i for a block of particles; their parents have
  // these indices in the cloud. Neither has any before the first step.
  virtual void draw(const AnyPrior& prior, const RandomBlock& random, ConstStates parents,
                    std::span<const std::int32_t> ancestors, States next) const = 0;
  // out(i) = log g~(state_i). Needs has_worths().
  virtual void log_values(ConstStates states, Eigen::Ref<Vector> out) const = 0;

  // What bridging needs: draws near `states`, reversible with respect to f(x | parent_i) u(x), and
  // out(i) = log u(next_i). Needs can_bridge().
  virtual bool can_bridge() const { return false; }
  virtual void draw_near(const RandomBlock& /*random*/, ConstStates /*parents*/, double /*step*/,
                         ConstStates /*states*/, States /*next*/) const {}
  virtual void log_near_values(ConstStates /*states*/, Eigen::Ref<Vector> /*out*/) const {}
};

// The bootstrap filter's: the next state is drawn from the prior, whatever the observation.
class PriorProposal final : public Proposal {
 public:
  std::unique_ptr<Proposal> clone() const override {
    return std::make_unique<PriorProposal>(*this);
  }
  void look_ahead(const AnyPrior&, const Evidence&, ConstStates, const Eigen::Ref<const Vector>&,
                  const ThreadPool&) override {}
  bool has_worths() const override { return false; }
  const Vector& log_worths() const override { return no_worths_; }
  void draw(const AnyPrior& prior, const RandomBlock& random, ConstStates parents,
            std::span<const std::int32_t> ancestors, States next) const override;
  void log_values(ConstStates, Eigen::Ref<Vector> out) const override { out.setZero(); }

 private:
  Vector no_worths_;
};

}  // namespace headwater
