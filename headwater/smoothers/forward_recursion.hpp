#pragma once

#include <vector>

#include "headwater/filters/exact_filter.hpp"
#include "headwater/smoothers/smoother.hpp"

namespace headwater {

// The paper's own way [YildirimCemgilSingh2012, sec. 3.2]: every statistic is carried forward for
// every state. T_t(x) is the expected statistic given x_t = x, and U_t(x) = p(x | y_1..t) T_t(x)
// obeys
//   U_t = (1 - gamma_t) ratio_t * (P^T U_t-1) + gamma_t p(x | y_1..t) s(x, y_t),
// in which nothing is ever divided by a predicted probability, so states of probability zero are
// harmless. O(K 2^K) for each of the M K + K + ... statistics; up to date after every observation.
class ForwardRecursion final : public ExactSmoother {
 public:
  enum class SecondStatistic {
    kAtOnce,     // s2(x_t, y_t) enters with the basis of time t
    kAsPrinted,  // ... and, one step later, is entered anew with the basis of time t + 1, as
                 // Algorithm 1 prints it: C_t holds y_1..t-1 and S_2 adds y_t
  };

  ForwardRecursion(const ExactFilter& filter, SecondStatistic second, bool with_moves);

  bool advance(const ExactFilter& filter, const Observation& y, double step_size) override;
  bool finish(const ExactFilter& /*filter*/) override { return false; }
  void restart() override { begins_sequence_ = true; }
  const Statistics& statistics() const override { return statistics_; }
  std::unique_ptr<ExactSmoother> clone() const override;
  void exchange(StateArchive& archive, const ExactFilter& filter) override;

 private:
  // Statistics of one state, contiguous: s1 (K), s2 (M K, channel by channel), s3, s4, and unseen
  // (M K, once a cell is missing).
  Index offset_s2() const { return num_components_; }
  Index offset_s3() const { return num_components_ * (1 + num_channels_); }
  Index offset_s4() const { return offset_s3() + num_moves_; }
  Index offset_unseen() const { return offset_s4() + num_law_statistics_; }

  void add_activations(const ExactFilter& filter, double weight);
  void add_counts(const ExactFilter& filter, const Vector& law, const Observation& y,
                  double weight);
  void add_unexposed(const ExactFilter& filter, const Observation& y, double weight);
  void make_room_for_unseen();
  void add_moves(const ExactFilter& filter, double weight);
  void read_out(const ExactFilter& filter, const Observation& y, double step_size);

  SecondStatistic second_;
  Index num_channels_;
  Index num_components_;
  Index num_moves_;
  Index num_law_statistics_;
  Statistics statistics_;
  ClonePointer<EmissionSums> sums_;

  RowMatrix u_;                   // n x number of statistics
  Vector previous_;               // p(x_t-1 | y_1..t-1)
  bool begins_sequence_ = false;  // the step to come: no state carries anything over to it
  Observation previous_observation_;
  double previous_step_size_ = 0;
};

}  // namespace headwater
