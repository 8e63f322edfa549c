#pragma once

#include <cstdint>

#include "headwater/observation.hpp"

namespace headwater {

// The plainest prediction of a stream of counts: each channel is as it was on average so far, with
// negative binomial counts around that. A model that predicts worse is of no use for prediction.
//
// The rate of a channel is (S + g / 2) / (E + 1 / 2): S its counts and E its exposure so far, g the
// rate of all channels together. The dispersion of a channel comes from the squared errors of these
// predictions, drawn towards that of all channels with the weight of 20 observations.
//
// One that forgets weighs an observation `kept` times as much as the one after it, in S, in E and
// in the squared errors.
class RunningMean {
 public:
  explicit RunningMean(double kept = 1) : kept_(kept) {}

  // log p(y) given the observations before. Learns from y how counts scatter, too. Takes time in
  // proportion to the number of channels; add() to that of counts.
  double predict(const Observation& y);
  void add(const Observation& y);

  Index num_channels() const { return counts_.size(); }
  std::int64_t observations() const { return observations_; }
  void exchange(StateArchive& archive);

 private:
  void begin(Index num_channels);
  void rescale();

  double kept_;
  // All sums are in units of the first observation: forgetting costs nothing.
  double weight_ = 1;  // of the next observation
  std::int64_t observations_ = 0;
  double seen_ = 0;  // the weights of the observations so far
  double all_counts_ = 0;
  double all_exposure_ = 0;
  Vector counts_;    // S of each channel
  Vector exposure_;  // E of each channel, less seen_
  Vector excess_;    // sum of (y - mean)^2 - mean, over those predicted
  Vector squares_;   // sum of mean^2
  double all_excess_ = 0;
  double all_squares_ = 0;
  double cells_ = 0;  // the weights of cells in observations that were predicted
};

}  // namespace headwater
