#pragma once

#include "headwater/any_prior.hpp"
#include "headwater/emission/statistics.hpp"
#include "headwater/smoothers/particle_step.hpp"

namespace headwater {

// The statistics T of the paths that end in given particles, one table of M x K numbers and more a
// particle, carried forward with them [YildirimCemgilSingh2012, Algorithm 1].
class LineageStatistics {
 public:
  explicit LineageStatistics(const Statistics& like);  // of the same sizes

  void exchange(StateArchive& archive);
  Index num_paths() const { return table_.rows(); }

  // Paths without any past.
  void start(Index num_paths);
  // Path i goes on from what was path parents[i]; all it has is multiplied by `factor`.
  void follow(const Ancestors& parents, double factor);
  // Paths of a new sequence, to which no path leads: each has the mean of all so far, times
  // `factor`.
  void follow_mean(const Vector& weights, Index num_paths, double factor);

  // s1 += weight x. Row i is path i's. Where the losses are the exposures, `unseen` too.
  void add_activations(const Eigen::Ref<const Matrix>& activations, const Emission& emission,
                       const Observation& y, double weight);
  // s2, s4 and, where losses depend on the activations, `unseen`: see EmissionSums.
  void add_counts(const Eigen::Ref<const Matrix>& activations, const Emission& emission,
                  const Observation& y, double weight);
  // s3 += weight s3(previous, next).
  void add_moves(const AnyPrior& prior, const Eigen::Ref<const Matrix>& previous,
                 const Eigen::Ref<const Matrix>& next, double weight);

  // out += sum_i weights(i) T_i.
  void add_to(Statistics& out, const Vector& weights) const;

 private:
  Index offset_s2() const { return num_components_; }
  Index offset_s3() const { return num_components_ * (1 + num_channels_); }
  Index offset_s4() const { return offset_s3() + num_moves_; }
  Index offset_unseen() const { return offset_s4() + num_law_statistics_; }
  void make_room_for_unseen();

  Index num_channels_;
  Index num_components_;
  Index num_moves_;
  Index num_law_statistics_;
  // One row a path: s1 (K), s2 (M K, channel by channel), s3, s4, and unseen (M K, once
  // a cell is missing).
  RowMatrix table_;
  RowMatrix gathered_;
};

}  // namespace headwater
