#pragma once

#include <array>
#include <memory>
#include <span>
#include <vector>

#include "headwater/matrix.hpp"
#include "headwater/state_archive.hpp"

namespace headwater {

// The transition matrix P = P_1 x P_2 x ... (a Kronecker product) of independent chains on their
// joint state space. It is never formed: each factor is applied along its own axis, which costs O(n
// sum_k S_k) instead of O(n^2). Axis 0 varies fastest in the joint index. For axes of two states
// this is the butterfly algorithm.
//
// Arrays may hold `width` contiguous numbers per joint state; all of them are transformed alike.
class KroneckerOperator {
 public:
  // transitions[k](i, j) = P(i -> j) on axis k.
  explicit KroneckerOperator(std::vector<Matrix> transitions);

  Index num_states() const { return num_states_; }
  Index num_axes() const { return static_cast<Index>(transitions_.size()); }
  const Matrix& transition(Index axis) const { return transitions_[axis]; }
  // sum_k S_k^2: the number of transitions i -> j on all axes together.
  Index num_moves() const;

  // values <- P^T values: propagates a distribution one step forward in time.
  void push(std::span<double> values, Index width = 1) const;
  void push_axis(Index axis, std::span<double> values, Index width = 1) const;

  // values <- P values: propagates an expectation one step backward in time.
  void pull(std::span<double> values, Index width = 1) const;
  void pull_axis(Index axis, std::span<double> values, Index width = 1) const;

  // out(i, j) += P(i -> j) * sum over the other axes of law(.. i ..) * values(.. j ..). If `law`
  // has been pushed along all axes before this one, and `values` has been pulled along all axes
  // after this one, the result is the expected number of transitions i -> j on this axis.
  void add_moves(Index axis, std::span<const double> law, std::span<const double> values,
                 double weight, std::span<double> out) const;

  // A bound on the part of a difference between two distributions that one step preserves: the
  // largest total-variation distance between two rows of any factor (Dobrushin's coefficient). Of a
  // factor with more than kMostCompared states only a bound on that, which takes no pairs of rows.
  static constexpr Index kMostCompared = 256;
  double contraction() const;

  Index stride(Index axis) const { return strides_[axis]; }
  Index size(Index axis) const { return transitions_[axis].rows(); }

 private:
  enum class Direction { kForward, kBackward };
  void apply_axis(Index axis, std::span<double> values, Index width, Direction direction) const;
  bool all_have_two_states() const { return forward_.size() == transitions_.size(); }

  std::vector<Matrix> transitions_;
  std::vector<Index> strides_;
  // Of the axes of two states: what apply_two_states() takes.
  std::vector<std::array<double, 4>> forward_;
  std::vector<std::array<double, 4>> backward_;  // from the last axis to the first
  Index num_states_ = 1;
};

// Other owners may share the operator, so reading replaces it and does not modify it. What is read
// must have the axes of `like`, and rows that are probabilities.
void exchange_operator(StateArchive& archive, const KroneckerOperator& like,
                       std::shared_ptr<const KroneckerOperator>& value);

}  // namespace headwater
