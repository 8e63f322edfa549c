#pragma once

#include <vector>

#include "headwater/finite_chain.hpp"
#include "headwater/models/guides/gaussian_messages.hpp"
#include "headwater/models/guides/mean_field.hpp"
#include "headwater/prior_arguments.hpp"

namespace headwater {

// The moves of a finite chain, whose states are the index on each axis, guided by a product over
// the axes of any function of the state on each. With a single axis that is the likelihood itself.
class FiniteGuide final : public ColumnwiseGuide {
 public:
  // False where the observation leaves an axis no state.
  bool look_at(const FiniteChain& chain, const Evidence& evidence, ConstStates previous,
               const Eigen::Ref<const Vector>& weights);

  std::unique_ptr<Guide> clone() const override { return std::make_unique<FiniteGuide>(*this); }
  void log_worths(ConstStates previous, Eigen::Ref<Vector> out) const override;
  void draw(const RandomBlock& random, ConstStates previous, States next) const override;
  void log_values(ConstStates states, Eigen::Ref<Vector> out) const override;

 private:
  bool fit_messages(const Evidence& evidence);

  struct AxisMoves {
    Vector log_values;  // log g~ of each state
    Matrix laws;  // column i: what follows state i, guided; or, in the only one, what is first
    Vector log_worths;  // of the states before, or the only one
  };
  std::vector<AxisMoves> axes_;
  std::vector<MeanField::Axis> predicted_;
  MeanField mean_field_;
  GaussianMessages messages_;
  Vector before_;
  Vector values_;
  Vector means_;
  Vector variances_;
  Vector largest_;
};

}  // namespace headwater
