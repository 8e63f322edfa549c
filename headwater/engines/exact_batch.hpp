#pragma once

#include <cstdint>
#include <functional>

#include "headwater/emission/statistics.hpp"
#include "headwater/filters/exact_filter.hpp"
#include "headwater/observation.hpp"
#include "headwater/smoothers/backward_sweep.hpp"
#include "headwater/smoothers/smoother.hpp"

namespace headwater {

// Exact smoothing given all of a record. The forward pass keeps the filter's law at the borders of
// segments only, which end where a sequence does; the backward pass runs each segment's filter
// again, so that memory grows with the square root of the record's length and not with the length.
class ExactBatch {
 public:
  // What the record is a view of must outlive this object.
  ExactBatch(const FiniteChain& chain, const Emission& emission, const RecordView& observations);

  double log_likelihood() const { return log_likelihood_; }  // of the possible observations
  std::int64_t impossible_observations() const { return impossible_; }

  // Averages over all observations, each weighing 1/T. The moves are those between the observations
  // and, for a chain that starts in its stationary law, those of `lead_in` steps before the first:
  // such a chain has always been running, only unseen. The same for each sequence of the record.
  Statistics statistics(bool with_moves, Index lead_in = 0);
  // E[x_t | y_1..T], T x K, background included.
  Matrix smoothed_activations();

 private:
  // Observations of one sequence that follow each other.
  struct Segment {
    Index first;
    Index size;
    bool begins;    // its sequence
    bool ends;      // ... its sequence
    Vector border;  // the filtered law at its end, where its sequence goes on
  };

  // Visits the segments from the last to the first with the smoothed laws of their observations.
  using Visit = std::function<void(Index first, const Eigen::Ref<const Matrix>& laws)>;
  void sweep_back(double coefficient, Index lead_in, std::span<double> moves, const Visit& visit);
  void sweep_lead_in(BackwardSweep& sweep, double coefficient, Index lead_in, Vector& beta,
                     std::span<double> moves);

  void divide();
  void run_forward();
  bool is_impossible(Index t) const { return impossible_at_[t]; }

  RecordView observations_;
  ExactFilter filter_;
  Index segment_;
  std::vector<Segment> segments_;
  std::vector<bool> impossible_at_;
  double log_likelihood_ = 0;
  std::int64_t impossible_ = 0;
};

}  // namespace headwater
