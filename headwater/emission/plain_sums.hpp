#pragma once

#include "headwater/block_law.hpp"
#include "headwater/emission/statistics.hpp"

namespace headwater {

// The sums of the M-step for any law, cell by cell: what a law's own sums are tested against.
class PlainSums final : public EmissionSums {
 public:
  std::unique_ptr<EmissionSums> clone() const override {
    return std::make_unique<PlainSums>(*this);
  }
  void add_counts_of_one(const Eigen::Ref<const Matrix>& states, const Emission& emission,
                         const Eigen::Ref<const Vector>& weights, const Observation& y,
                         Statistics& out) override;

 private:
  Vector intensities_;
  Vector gains_;
  Vector losses_;
};

// Log-likelihoods on finitely many states for any law, computed anew for each observation.
class PlainStateLikelihoods final : public StateLikelihoods {
 public:
  using StateLikelihoods::StateLikelihoods;
  std::unique_ptr<StateLikelihoods> clone() const override;
  void set_emission(const Emission& emission) override;
  void log_likelihoods(const Observation& y, Eigen::Ref<Vector> out) override;

 private:
  std::shared_ptr<const Emission> emission_;
  Evidence evidence_;
};

}  // namespace headwater
