#pragma once

#include <span>
#include <vector>

#include "headwater/kernels/guided_relaxed.hpp"
#include "headwater/models/guides/mean_field.hpp"
#include "headwater/prior_arguments.hpp"

namespace headwater {

// The moves of prior 'relaxed-selection', each component guided by its share of the likelihood,
// tabulated.
class RelaxedGuide final : public ColumnwiseGuide {
 public:
  bool look_at(std::span<const double> alpha, const Evidence& evidence, ConstStates previous,
               const Eigen::Ref<const Vector>& weights);

  std::unique_ptr<Guide> clone() const override { return std::make_unique<RelaxedGuide>(*this); }
  void log_worths(ConstStates previous, Eigen::Ref<Vector> out) const override;
  void draw(const RandomBlock& random, ConstStates previous, States next) const override;
  void log_values(ConstStates states, Eigen::Ref<Vector> out) const override;

 private:
  std::vector<RelaxedTable> tables_;
  std::vector<Vector> initial_masses_;  // of each component, as long as nothing has moved
  std::vector<MeanField::Axis> predicted_;
  MeanField mean_field_;
  Vector values_;
};

}  // namespace headwater
