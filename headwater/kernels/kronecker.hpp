#pragma once

#include <memory>
#include <span>
#include <vector>

#include "headwater/core/matrix.hpp"
#include "headwater/core/state_archive.hpp"

namespace headwater {

// The transition operator P = P_1 x P_2 x ... of independent chains on the product of their states,
// never formed: each factor is applied along its own axis, O(n sum_k S_k) instead of O(n^2).
// Axis 0 varies fastest in the joint index. For two-state axes this is the butterfly.
//
// Vectors may carry `width` numbers per joint state, contiguous; all are moved alike.
class KroneckerOperator {
 public:
  // transitions[k](i, j) = P(i -> j) on axis k.
  explicit KroneckerOperator(std::vector<Matrix> transitions);

  Index num_states() const { return num_states_; }
  Index num_axes() const { return static_cast<Index>(transitions_.size()); }
  const Matrix& transition(Index axis) const { return transitions_[axis]; }
  // sum_k S_k^2: how many moves i -> j there are on all axes together.
  Index num_moves() const;

  // values <- P^T values: carries a law one step forward in time.
  void push(std::span<double> values, Index width = 1) const;
  void push_axis(Index axis, std::span<double> values, Index width = 1) const;

  // values <- P values: carries an expectation one step backward in time.
  void pull(std::span<double> values, Index width = 1) const;
  void pull_axis(Index axis, std::span<double> values, Index width = 1) const;

  // out(i, j) += P(i -> j) * sum over the other axes of law(.. i ..) * values(.. j ..).
  // With `law` pushed along the axes before this one and `values` not yet pulled along this one
  // (but along all after it), this is the expected number of moves i -> j of the axis.
  void add_moves(Index axis, std::span<const double> law, std::span<const double> values,
                 double weight, std::span<double> out) const;

  // The largest total-variation distance between two rows of any factor: how much of a difference
  // between two laws survives one step, at most (Dobrushin's coefficient).
  double contraction() const;

  Index stride(Index axis) const { return strides_[axis]; }
  Index size(Index axis) const { return transitions_[axis].rows(); }

 private:
  enum class Direction { kForward, kBackward };
  void apply_axis(Index axis, std::span<double> values, Index width, Direction direction) const;

  std::vector<Matrix> transitions_;
  std::vector<Index> strides_;
  Index num_states_ = 1;
};

// An operator that others may share is replaced, not changed, when it is read.
void exchange_operator(StateArchive& archive, std::shared_ptr<const KroneckerOperator>& value);

}  // namespace headwater
