#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "headwater/any_prior.hpp"
#include "headwater/core/cholesky.hpp"
#include "headwater/core/growing.hpp"
#include "headwater/emission.hpp"
#include "headwater/reports.hpp"

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
  // The emission has K columns, or K + 1 when the prior has K components and there is a background.
  FastFilter(const AnyPrior& prior, const Emission& emission, const FastFilterOptions& options);

  // Parameters for the steps to come; the law so far stays.
  void set_prior(const AnyPrior& prior);
  void set_basis(const Matrix& basis) { emission_.set_basis(basis); }
  void set_law(const AnyLaw& law) { emission_.set_law(law); }
  void set_season(const Season& season) { emission_.set_season(season); }

  FilterStep step(const Observation& y);
  bool has_started() const { return time_ >= first_time_; }
  // The next step begins a new sequence: from the stationary law. Time goes on, so that no random
  // number is used twice.
  void restart() { first_time_ = time_ + 1; }
  // The same for a step that is made elsewhere; the next one here begins a new sequence.
  void pass_over() { ++time_; }
  // Whether the last step was a move, and not the first of its sequence.
  bool has_moved() const { return time_ > first_time_; }

  // Activations drawn from the law of x_t given y_1..t-1, one a row.
  void sample_predicted(Generator& generator, Matrix& out) const;
  void exchange(StateArchive& archive);

  const AnyPrior& prior() const { return prior_; }
  const Emission& emission() const { return emission_; }
  const Matrix& basis() const { return emission_.basis(); }
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
  // The variances of the components' activations given the observations so far, around the best.
  void write_activation_variance(Vector& out) const;
  // Expectations of the last move, given all observations so far.
  void expect_moves(ExpectedMoves& out) const;

  // Weighted activations that stand for the law given the observation: those of the correction, or
  // the best one alone. One row each, background included.
  const Matrix& points() const { return points_; }
  const Vector& weights() const { return weights_; }
  // What the observation says, and the forces of its listed channels at the best activation: none
  // after an impossible observation.
  const Evidence& evidence() const { return evidence_; }
  const PointForces& forces() const { return forces_; }

 private:
  void predict();
  void look_at(const Observation& y);
  void climb();                               // to the best activation
  double step_from(Index k, double u) const;  // of an EM step in log x
  bool set_slopes();                          // at u_; false if a count cannot be explained
  double settle();                            // the new law; the log-probability of the observation
  double settle_gamma(Index k, double curvature);
  double settle_normal(Index k, double curvature);
  double correct(FastReport& report);
  void draw_around();  // draws_ and log_weights_: a normal sample around the best activation
  // What stands for the law given the observation: points_ and weights_.
  void keep_best();
  void keep_draws(double trusted);
  bool corrects() const;
  double log_activation(Index k) const;  // E[log x_k] under the filtered law

  AnyPrior prior_;
  AffineMoments moments_;
  Emission emission_;
  FastFilterOptions options_;
  RandomStream random_;
  std::uint64_t time_ = 0;
  std::uint64_t first_time_ = 1;  // of the present sequence

  Law before_;
  Law predicted_;
  Law filtered_;
  Matrix points_;
  Vector weights_;

  Observation nothing_seen_;
  Evidence evidence_;
  PointForces forces_;
  Vector total_;    // K: what is linear in x, and never negative
  Vector u_;        // log x, of the components
  Vector last_;     // u_ before the momentum of the last step
  Vector x_;        // padded, background included
  Vector squares_;  // padded

  // Of the correction by weighted draws.
  GrowingMatrix scaled_rows_;
  Matrix precision_;
  Cholesky root_;
  Vector normals_;
  Matrix draws_;
  Matrix draw_activations_;
  Vector log_weights_;
  Vector draw_likelihoods_;
  Vector draw_weights_;
  Vector draw_mean_;
};

}  // namespace headwater
