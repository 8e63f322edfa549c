#pragma once

#include <vector>

#include "headwater/core/cholesky.hpp"
#include "headwater/emission/statistics.hpp"
#include "headwater/estimate.hpp"
#include "headwater/learning/log_moves.hpp"
#include "headwater/models/guides/laplace.hpp"
#include "headwater/observation.hpp"

namespace headwater {

// The E-step of a whole record without random numbers: Laplace's approximation of the law of all
// activations, for priors with affine moments. With u_t the logarithms of the activations at t, it
// finds the path u with the largest density p(y, u) by Newton's method. Minus the second
// derivative H of log p(y, u) has K x K blocks on its diagonal. Beside these it has diagonal
// matrices alone, since components move by themselves. So a step takes T K^3, like a Kalman
// smoother. Then
//   log p(y) = log p(y, u) - log det(H / 2 pi) / 2,
// and u_t has the covariance V_t, a block of the inverse of H. Its mean is not the mode: to the
// order that log p(y) has, it is u + H^-1 E[slope], where the slope of log p(y, u) is expected
// under N(u, H^-1). Of that, as of the statistics, expectations are means over 2 K points
// u_t +- sqrt(K) L_k, where L L' = V_t: exact to the second order for every law of the counts.
//
// The more counts there are for each activation, the better the approximation is: its error falls
// as one over their number.
class LaplacePath {
 public:
  // The record must outlive it.
  explicit LaplacePath(const RecordView& record);

  // A prior that this can be done for.
  static bool is_in_reach(const AnyPrior& prior);
  // The memory that it takes, in numbers.
  static Index numbers_kept(Index num_components, Index length) {
    return 2 * length * num_components * (num_components + 2);
  }

  // Finds the path and its law under these parameters, from the last path on. Returns log p(y).
  double fit(const Estimate& estimate);
  // After fit(), with the same estimate: averages over all observations, as an M-step wants them.
  // learn_prior: whether those of the prior are wanted.
  Statistics statistics(const Estimate& estimate, bool learn_prior) {
    return statistics_of(0, size(), estimate, learn_prior);
  }
  // The same of the observations from `first` to before `last`.
  Statistics statistics_of(Index first, Index last, const Estimate& estimate, bool learn_prior);

  // After fit().
  const Matrix& modes() const { return path_; }  // K x T: u
  const Matrix& means() const { return means_; }
  Matrix covariance(Index t) const;  // V_t
  int newton_steps() const { return newton_steps_; }

 private:
  Index size() const { return record_.size(); }
  bool begins(Index t) const { return t == 0 || record_[t].begins_sequence(); }
  Eigen::Map<Matrix> block(Matrix& blocks, Index t) const {
    return {blocks.col(t).data(), components_, components_};
  }

  void bound(Matrix& step) const;
  Vector logarithms(const Eigen::Ref<const Vector>& z) const;
  Vector slope_in(const Eigen::Ref<const Vector>& z) const;
  void begin(const Emission& emission, const LogMoves& moves);
  // log p(y, u), the slope of it, and P_t, from which H can be inverted.
  double look(const Emission& emission, const LogMoves& moves);
  void add_moves(const LogMoves& moves, Index t);
  void factorise(Index t);
  bool invert_precision(Index t);  // false if that is not to be used
  void count_determinant();
  // b becomes H^-1 b.
  void solve(Matrix& b) const;
  void find_covariances();
  Vector most_deviations(Index t) const;
  void bound_covariances();
  void find_means(const Emission& emission, const LogMoves& moves);
  void set_points(Index t);
  void add_mean_points(Index t);
  void add_moves_of(Index t, const AnyPrior& prior, double weight, Statistics& out);

  RecordView record_;
  Index components_ = 0;
  bool has_path_ = false;
  bool is_logarithmic_ = true;
  int newton_steps_ = 0;

  Matrix path_;         // K x T
  Matrix slopes_;       // K x T, of log p(y, u)
  Matrix links_;        // K x T: the diagonal of H between t and t + 1
  Matrix means_;        // K x T
  Matrix cross_;        // K x T: covariances of u_t and u_t+1, component by component
  Matrix filtered_;     // K^2 x T: P_t
  Matrix covariances_;  // K^2 x T: V_t
  Vector most_;         // variances of u, before anything is seen
  Matrix own_;          // K x T: second derivatives of the moves that t has part in, minus
  double log_determinant_ = 0;

  Evidence evidence_;
  Laplace laplace_;
  Matrix precision_;
  Cholesky factor_;
  Matrix points_;  // 2 K x K
  Vector point_weights_;
  ExpectedMoves moves_;
};

}  // namespace headwater
