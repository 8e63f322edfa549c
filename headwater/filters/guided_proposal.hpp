#pragma once

#include "headwater/clone_pointer.hpp"
#include "headwater/filters/proposal.hpp"

namespace headwater {

// By the prior's own guide for the observation. In case the guide errs, g~ is its function plus a
// constant, so that a small part of all particles is drawn from the prior, and no weight exceeds
// the likelihood over that constant: a defensive mixture [Hesterberg1995]. Where the guide has
// nothing to say, or finds every particle worthless, all of them are.
class GuidedProposal final : public Proposal {
 public:
  explicit GuidedProposal(const AnyPrior& prior) : guide_(prior.make_guide()) {}
  std::unique_ptr<Proposal> clone() const override {
    return std::make_unique<GuidedProposal>(*this);
  }

  void look_ahead(const AnyPrior& prior, const Evidence& evidence, ConstStates previous,
                  const Eigen::Ref<const Vector>& weights, const ThreadPool& pool) override;
  bool has_worths() const override { return is_guided_; }
  const Vector& log_worths() const override { return log_worths_; }
  void draw(const AnyPrior& prior, const RandomBlock& random, ConstStates parents,
            std::span<const std::int32_t> ancestors, States next) const override;
  void log_values(ConstStates states, Eigen::Ref<Vector> out) const override;

  bool can_bridge() const override { return is_guided_; }
  void draw_near(const RandomBlock& random, ConstStates parents, double step, ConstStates states,
                 States next) const override {
    guide_->draw_near(random, parents, step, states, next);
  }
  void log_near_values(ConstStates states, Eigen::Ref<Vector> out) const override {
    guide_->log_values(states, out);
  }

 private:
  void ask_for_worths(ConstStates previous, const ThreadPool& pool);
  void redraw_defence(const AnyPrior& prior, RandomBlock random, ConstStates parents,
                      std::span<const std::int32_t> ancestors, States next) const;
  bool add_defence(const Eigen::Ref<const Vector>& weights);  // false: there are no worths at all

  ClonePointer<Guide> guide_;
  bool is_guided_ = false;
  double log_defence_ = 0;  // of the constant
  Vector log_worths_;       // the constant included
};

}  // namespace headwater
