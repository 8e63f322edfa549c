#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "headwater/filters/filter_step.hpp"
#include "headwater/kernels/poisson_slopes.hpp"
#include "headwater/models/any_prior.hpp"
#include "headwater/models/observation.hpp"

namespace headwater {

struct FastFilterOptions {
  std::uint64_t seed = 1;
  // Up to so many components the fit to an observation is corrected by weighted draws, where the
  // state is a logarithm.
  Index most_corrected = 12;
  // Steps towards the best activation: until all logarithms move by less than the tolerance.
  int most_steps = 12;
  double tolerance = 1e-3;
};

// The law of the activations given the observations so far, taken to be a product of laws of one
// kind: normal for the logarithms of activations, or gamma for the activations. Each step predicts
// their means and variances, finds the activation that is best given the prediction and the
// observation, and takes its surroundings for the new law: of each component alone, the law that
// has the likelihood's slope and curvature there. Few components are corrected by importance
// sampling around that place [KotechaDjuric2003].
class FastFilter {
 public:
  // basis: M x K, or M x (K + 1) when the prior has K components and there is a background.
  FastFilter(const AnyPrior& prior, const Matrix& basis, const FastFilterOptions& options);

  // Parameters for the steps to come; the law so far stays.
  void set_prior(const AnyPrior& prior);
  void set_basis(const Matrix& basis);

  FilterStep step(Observation y);

  // Activations drawn from the law of x_t given y_1..t-1, one a row.
  void sample_predicted(Generator& generator, Matrix& out) const;
  void exchange(StateArchive& archive);

  const AnyPrior& prior() const { return prior_; }
  const Matrix& basis() const { return basis_; }
  std::uint64_t time() const { return time_; }  // steps made

  // Means and variances of the states, K numbers each.
  struct Law {
    void exchange(StateArchive& archive) { archive(mean, variance); }

    Vector mean;
    Vector variance;
  };
  const Law& before() const { return before_; }  // filtered, at the step before
  const Law& predicted() const { return predicted_; }
  const Law& filtered() const { return filtered_; }
  // Expected activations under such a law, background included.
  Vector activation(const Law& law) const;
  // E[log x], for states that are activations; the mean for states that are logarithms.
  Vector log_activation(const Law& law) const;
  // Expectations of the last move, given all observations so far.
  ExpectedMoves moves() const;

  // Weighted activations that stand for the law given the observation: those of the correction, or
  // the best one alone. One row each, background included.
  const Matrix& points() const { return points_; }
  const Vector& weights() const { return weights_; }
  // The channels with counts, and counts over intensities at the best activation.
  std::span<const Index> channels() const { return channels_; }
  std::span<const double> ratios() const { return ratios_; }

 private:
  void predict();
  bool look_at(Observation y);                // whether anything was seen
  void climb();                               // to the best activation
  double step_from(Index k, double u) const;  // of an EM step in log x
  bool set_slopes();                          // at u_; false if a count cannot be explained
  double settle();                            // the new law; the log-probability of the observation
  double settle_gamma(Index k, double curvature);
  double settle_normal(Index k, double curvature);
  double correct(Observation y, FilterStep& step);
  bool corrects() const;

  AnyPrior prior_;
  AffineMoments moments_;
  Matrix basis_;
  PaddedRows rows_;
  Vector column_sums_;
  FastFilterOptions options_;
  RandomStream random_;
  std::uint64_t time_ = 0;

  Law before_;
  Law predicted_;
  Law filtered_;
  Matrix points_;
  Vector weights_;

  std::vector<Index> channels_;
  std::vector<double> counts_;
  std::vector<double> ratios_;
  Vector total_;    // K: sum of B(m, k) over the channels seen
  Vector u_;        // log x, of the components
  Vector x_;        // padded, background included
  Vector slopes_;   // padded
  Vector squares_;  // padded
  Vector scratch_;  // of the channels with counts
  SeenChannels seen_;
};

}  // namespace headwater
