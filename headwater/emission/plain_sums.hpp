#pragma once

#include "headwater/block_law.hpp"
#include "headwater/emission/statistics.hpp"

namespace headwater {

// Calls visit(channel, count, exposure) for the cells that a law looks at one by one: those with a
// count, or all that were seen.
template <class Visit>
void for_each_cell_of(const BlockLaw& law, const Observation& y, const Visit& visit) {
  if (!law.has_plain_losses()) return for_each_seen(y, visit);
  for_each_count(
      y, [&](std::size_t j, double exposure) { visit(y.channels()[j], y.counts()[j], exposure); });
}

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
