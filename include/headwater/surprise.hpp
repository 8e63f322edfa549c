#pragma once

#include <cstdint>
#include <vector>

#include "headwater/export.hpp"
#include "headwater/prediction.hpp"

namespace headwater {

// One channel of an observation against its prediction. p: the probability of a count as far out,
// on either side, under the prediction of this channel alone. Half of the probability of the count
// itself is added on each side.
struct CellSurprise {
  Index channel = 0;
  double expected = 0;
  double seen = 0;
  double p = 1;
};

// How unusual an observation is, given all before it. Each of the three probabilities is uniform on
// (0, 1) where the model is right.
struct RowSurprise {
  double p_row = 1;       // of an observation that fits as badly, all channels together
  double p_total = 1;     // of a sum of all counts that is as far out, on either side
  double p_channels = 1;  // of one channel or more that is as far out as the worst
  double expected_total = 0;
  double seen_total = 0;
  std::vector<CellSurprise> channels;  // those of the smallest p, the smallest first
};

// Measures the surprise of observations. No random draw estimates anything: probabilities are sums
// over the points of the predicted law of the activations, or follow from its moments.
//
// Scores of channels. With F the predicted distribution function of a channel given the channels
// before it in the row, F(y) is uniform, and these numbers are independent of each other
// [Rosenblatt1952]. Because counts are whole numbers, F(y) is taken at random between P(Y < y) and
// P(Y <= y) [DunnSmyth1996], by numbers that depend on t alone and not on any seed. So the normal
// scores z = Phi^-1(F) are independent and standard normal, sum z^2 has a chi-square law of M
// degrees of freedom, and P(smallest of M p-values <= a) = 1 - (1 - a)^M. All three are exact where
// the activations have finitely many values.
//
// Where a row tells the activations much better than the prediction does, points that follow the
// prediction are too coarse for that. Then scores are those of each channel given the best
// activations, and the scores of these activations under their prediction are added: for normal
// laws the sum has the same chi-square law of M degrees of freedom, since it is the Mahalanobis
// distance of the row from its prediction. p_channels is then too large if M is not many times K,
// because every channel has a say in what the best activations are.
class HEADWATER_EXPORT SurpriseMeter {
 public:
  static constexpr Index kListed = 5;  // channels

  const RowSurprise& operator()(const Prediction& prediction, const Observation& seen);
  // Of observation t, the last one that the engine has processed. No M-step may have followed it.
  const RowSurprise& operator()(const Engine& engine, const Observation& seen, std::int64_t t) {
    return (*this)(prediction_of(engine, t), seen);
  }

  // -log P(no count) of each channel that was seen and had none, at the last observation; 0 for all
  // others.
  const Vector& log_silences() const { return log_silences_; }
  const Vector& silent_means() const { return silent_means_; }  // ... and their means

 private:
  struct Cell {
    Index channel;
    double count;
    double exposure;
    VarianceFunction variance;
  };
  void list_cells(const Prediction& prediction);
  void set_means(const Prediction& prediction);
  bool points_are_fine(const Prediction& prediction);
  void score_one_after_another(const Prediction& prediction, Generator& generator);
  void set_intensities(const Matrix& points, Index size);
  double mean_count_of_points(const VarianceFunction& law,
                              const Eigen::Ref<const Vector>& weights) const;
  Index weigh_points(Index size);
  void score_given_best(const Prediction& prediction, Generator& generator);
  void find_best(const Prediction& prediction);
  void score_activations(const PredictedActivations& activations);
  void add_score(double tail);
  void note_channel(double tail);  // of the smaller side
  void list_channels(const Prediction& prediction);
  void measure_total(const Prediction& prediction, Generator& generator);
  Vector totals_at_points(const PredictedActivations& x, const Matrix& basis) const;
  double expected_count(const Prediction& prediction, Index cell) const;

  RowSurprise surprise_;
  Observation given_;
  std::vector<Cell> cells_;
  Vector activation_means_;      // of x, not of its logarithm; background included
  Vector activation_variances_;  // ... of the components; empty without moments
  Vector means_;                 // of cells, exposures included
  Vector mixing_;                // variances of the intensities of cells, from the moments
  Vector row_;                   // of the basis, times an exposure
  Vector intensities_;
  Matrix points_;                       // one a row
  std::vector<const double*> columns_;  // of points
  std::vector<Index> kept_;             // points that no cell has ruled out
  Vector weights_;
  Vector likelihoods_;
  Vector best_;  // activations given the row
  std::vector<double> distances_;
  std::vector<std::size_t> order_;  // of cells
  Vector log_silences_;
  Vector silent_means_;
  double sum_of_squares_ = 0;
  double degrees_ = 0;
  double smallest_ = 1;   // one-sided
  double num_tests_ = 0;  // of both sides
};

}  // namespace headwater
