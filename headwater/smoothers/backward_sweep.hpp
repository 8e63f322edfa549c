#pragma once

#include <memory>
#include <span>
#include <vector>

#include "headwater/filters/exact_filter.hpp"

namespace headwater {

// One step of an exact filter, kept for a backward pass.
struct ExactStep {
  void remember(const ExactFilter& filter, const Observation& observation, double step_size);
  void exchange(StateArchive& archive) { archive(filtered, ratio, observation, step_size); }

  Vector filtered;                                      // p(x_t | y_1..t)
  Vector ratio;                                         // g(y_t | x) / p(y_t | y_1..t-1)
  std::shared_ptr<const KroneckerOperator> transition;  // that led to this step
  Observation observation;
  double step_size = 0;
};

// Goes backward over filter steps and turns filtered laws into smoothed ones. With
//   beta_t(x) = p(y_t+1..T | x_t = x) / p(y_t+1..T | y_1..t),   beta_T = 1,
//   beta_t-1 = P_t (ratio_t * beta_t),
// the smoothed law is filtered_t * beta_t: one vector travels backward where the forward recursion
// carries a vector for each statistic.
class BackwardSweep {
 public:
  // beta: in, the value at the last of `steps`; out, that before the first of them.
  // before: the filtered law before the first step, or null if the first step is the start.
  // coefficients: what each of the first coefficients.size() steps counts for; the later ones
  // only carry beta.
  // Leaves in weights() the smoothed laws of those steps times their coefficients, and adds to
  // `moves` (unless empty) the expected moves into each, times the same.
  void run(std::span<const ExactStep> steps, const Vector* before,
           std::span<const double> coefficients, Vector& beta, std::span<double> moves);

  // n x coefficients.size()
  Eigen::Ref<const Matrix> weights() const { return weights_.leftCols(num_weighted_); }

 private:
  void retreat_counting_moves(const ExactStep& step, const Vector& before, double coefficient,
                              Vector& beta, std::span<double> moves);

  Matrix weights_;
  Index num_weighted_ = 0;
  Matrix pushed_;  // n x axes: the law before a step, carried along the axes one by one
};

}  // namespace headwater
