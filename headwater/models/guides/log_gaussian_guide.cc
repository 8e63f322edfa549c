#include "headwater/models/guides/log_gaussian_guide.hpp"

#include "headwater/kernels/weighted_gram.hpp"
#include "headwater/models/normal_block.hpp"

namespace headwater {

// Of the moves: those of the first state are draws of the stationary law.
void LogGaussianGuide::set_variance(bool is_first) {
  variance_ = chain_.noise.array().square();
  if (is_first) variance_.array() /= 1 - chain_.persistence.array().square();
}

// The mean of the states to come and the inverse of their covariance, or of their variances alone.
void LogGaussianGuide::predict(ConstStates previous, const Eigen::Ref<const Vector>& weights) {
  const Index components = chain_.mean.size();
  const bool is_full = GaussianSurrogate::uses_full(components);
  predicted_mean_ = chain_.mean;
  deviations_.resize(previous.rows(), components);
  for (Index k = 0; k < components && previous.rows() > 0; ++k) {
    const double mean = weights.dot(previous.col(k));
    predicted_mean_[k] += chain_.persistence[k] * (mean - chain_.mean[k]);
    deviations_.col(k) = chain_.persistence[k] * (previous.col(k).array() - mean);
  }
  if (is_full) {
    covariance_.setZero(components, components);
    covariance_.diagonal() = variance_;
    if (previous.rows() > 0) {
      add_weighted_gram(deviations_, as_span(weights), covariance_.data());
    }
    factor_.compute(covariance_);
    predicted_precision_.setIdentity(components, components);
    factor_.solveInPlace(predicted_precision_);
  } else {
    predicted_precision_ = variance_;
    if (previous.rows() > 0) {
      predicted_precision_ += deviations_.cwiseAbs2().transpose() * weights;
    }
    predicted_precision_ = predicted_precision_.cwiseInverse();
  }
}

void LogGaussianGuide::look_at(const Chain& chain, const Evidence& evidence, ConstStates previous,
                               const Eigen::Ref<const Vector>& weights) {
  chain_ = chain;
  set_variance(previous.rows() == 0);
  predict(previous, weights);
  surrogate_.fit(evidence, predicted_mean_, predicted_precision_, variance_);
}

States LogGaussianGuide::means_after(ConstStates previous, Index rows) const {
  thread_local Matrix all;
  const Index components = chain_.mean.size();
  if (all.rows() < rows || all.cols() != components) all.resize(rows, components);
  auto means = all.topRows(rows);
  for (Index k = 0; k < components; ++k) {
    if (previous.rows() == 0) {
      means.col(k).setConstant(chain_.mean[k]);
    } else {
      means.col(k) =
          chain_.mean[k] + chain_.persistence[k] * (previous.col(k).array() - chain_.mean[k]);
    }
  }
  return means;
}

void LogGaussianGuide::log_worths(ConstStates previous, Eigen::Ref<Vector> out) const {
  surrogate_.log_worths(means_after(previous, out.size()), out);
}

void LogGaussianGuide::draw(const RandomBlock& random, ConstStates previous, States next) const {
  const auto normals = normal_block(random, next.rows(), next.cols());
  surrogate_.draw(means_after(previous, next.rows()), normals.leftCols(next.cols()), next);
}

void LogGaussianGuide::draw_near(const RandomBlock& random, ConstStates previous, double step,
                                 ConstStates states, States next) const {
  const auto normals = normal_block(random, next.rows(), next.cols());
  surrogate_.draw_near(means_after(previous, next.rows()), normals.leftCols(next.cols()), step,
                       states, next);
}

}  // namespace headwater
