#pragma once

#include <memory>

#include "headwater/block_law.hpp"
#include "headwater/clone_pointer.hpp"
#include "headwater/emission/statistics.hpp"

namespace headwater {

// The sums of a law under a season. For the basis, an activation is x times its gain. For the
// profiles, each phase has sums of its own: see PhaseSums.
class SeasonalSums final : public EmissionSums {
 public:
  explicit SeasonalSums(std::unique_ptr<EmissionSums> of_law) : of_law_(std::move(of_law)) {}

  std::unique_ptr<EmissionSums> clone() const override {
    return std::make_unique<SeasonalSums>(*this);
  }
  // Observations of the same phase are added together.
  void add(const Matrix& states, const Emission& emission, const Eigen::Ref<const Matrix>& weights,
           std::span<const Observation* const> observations, Statistics& out) override;
  void add_one(const Eigen::Ref<const Matrix>& states, const Emission& emission,
               const Eigen::Ref<const Vector>& weights, const Observation& y,
               Statistics& out) override;
  // Adds nothing to the sums of the phases. Only smoothers that cannot go with a season call this.
  void add_counts_of_one(const Eigen::Ref<const Matrix>& states, const Emission& emission,
                         const Eigen::Ref<const Vector>& weights, const Observation& y,
                         Statistics& out) override;
  void finish(const Emission& emission, Statistics& out) override;

 private:
  void begin(const Statistics& like);
  // Adds `one_` to `out`. It holds the sums of `visits` observations of the same phase, that of
  // this position; their weights add up to `weight`.
  void take_over(const Emission& emission, std::int64_t position, double weight, Index visits,
                 Statistics& out);

  ClonePointer<EmissionSums> of_law_;
  Statistics one_{0, 0, 0};
};

}  // namespace headwater
