#include "headwater/kernels/kronecker.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <utility>

#include "headwater/core/state_checks.hpp"
#include "headwater/kernels/two_state.hpp"

namespace headwater {

namespace {

// What apply_two_state() multiplies by, to push a law through a transition and to pull a function.
std::array<double, 4> pushed(const Matrix& p) { return {p(0, 0), p(1, 0), p(0, 1), p(1, 1)}; }
std::array<double, 4> pulled(const Matrix& p) { return {p(0, 0), p(0, 1), p(1, 0), p(1, 1)}; }

}  // namespace

KroneckerOperator::KroneckerOperator(std::vector<Matrix> transitions)
    : transitions_(std::move(transitions)) {
  for (const Matrix& transition : transitions_) {
    assert(transition.rows() == transition.cols() && transition.rows() > 0);
    strides_.push_back(num_states_);
    num_states_ *= transition.rows();
    if (transition.rows() != 2) continue;
    forward_.push_back(pushed(transition));
    backward_.insert(backward_.begin(), pulled(transition));
  }
}

Index KroneckerOperator::num_moves() const {
  Index sum = 0;
  for (const Matrix& transition : transitions_) sum += transition.size();
  return sum;
}

void KroneckerOperator::apply_axis(Index axis, std::span<double> values, Index width,
                                   Direction direction) const {
  assert(static_cast<Index>(values.size()) == num_states_ * width);
  const Matrix& p = transitions_[axis];
  const Index states = p.rows();
  const Index inner = strides_[axis] * width;
  const Index outer = num_states_ / (strides_[axis] * states);
  if (states == 2) {
    apply_two_state(direction == Direction::kForward ? pushed(p) : pulled(p), values.data(), outer,
                    inner);
    return;
  }
  // Thread-local, so that filters in several threads can share an operator. Static, so that no step
  // allocates memory once the size is reached.
  thread_local Vector scratch;
  if (scratch.size() < inner * states) scratch.resize(inner * states);
  Eigen::Map<Matrix> moved(scratch.data(), inner, states);
  for (Index o = 0; o < outer; ++o) {
    Eigen::Map<Matrix> block(values.data() + o * inner * states, inner, states);
    if (direction == Direction::kForward) {
      moved.noalias() = block * p;
    } else {
      moved.noalias() = block * p.transpose();
    }
    block = moved;
  }
}

void KroneckerOperator::push_axis(Index axis, std::span<double> values, Index width) const {
  apply_axis(axis, values, width, Direction::kForward);
}

void KroneckerOperator::pull_axis(Index axis, std::span<double> values, Index width) const {
  apply_axis(axis, values, width, Direction::kBackward);
}

void KroneckerOperator::push(std::span<double> values, Index width) const {
  if (all_have_two_states()) return apply_two_states(forward_, values, width, false);
  for (Index axis = 0; axis < num_axes(); ++axis) push_axis(axis, values, width);
}

void KroneckerOperator::pull(std::span<double> values, Index width) const {
  if (all_have_two_states()) {
    return apply_two_states(backward_, values, num_states_ / 2 * width, true);
  }
  for (Index axis = num_axes() - 1; axis >= 0; --axis) pull_axis(axis, values, width);
}

void KroneckerOperator::add_moves(Index axis, std::span<const double> law,
                                  std::span<const double> values, double weight,
                                  std::span<double> out) const {
  const Matrix& p = transitions_[axis];
  const Index states = p.rows();
  const Index inner = strides_[axis];
  const Index outer = num_states_ / (inner * states);
  if (states == 2) {
    const std::array<double, 4> sums = two_state_products(law.data(), values.data(), outer, inner);
    for (Index i = 0; i < 4; ++i) out[i] += weight * p(i / 2, i % 2) * sums[i];
    return;
  }
  for (Index i = 0; i < states; ++i) {
    for (Index j = 0; j < states; ++j) {
      if (p(i, j) == 0) continue;
      double sum = 0;
      for (Index o = 0; o < outer; ++o) {
        const double* from = law.data() + (o * states + i) * inner;
        const double* to = values.data() + (o * states + j) * inner;
        for (Index r = 0; r < inner; ++r) sum += from[r] * to[r];
      }
      out[i * states + j] += weight * p(i, j) * sum;
    }
  }
}

double KroneckerOperator::contraction() const {
  double largest = 0;
  for (const Matrix& p : transitions_) {
    if (p.rows() > kMostCompared) {
      // Two rows share at least the smallest entry of each column (Doeblin's condition).
      largest = std::max(largest, 1 - p.colwise().minCoeff().sum());
      continue;
    }
    for (Index i = 0; i < p.rows(); ++i) {
      for (Index j = 0; j < i; ++j) {
        largest = std::max(largest, 0.5 * (p.row(i) - p.row(j)).cwiseAbs().sum());
      }
    }
  }
  return largest;
}

void exchange_operator(StateArchive& archive, const KroneckerOperator& like,
                       std::shared_ptr<const KroneckerOperator>& value) {
  std::vector<Matrix> transitions;
  for (Index k = 0; value && k < value->num_axes(); ++k)
    transitions.push_back(value->transition(k));
  archive(transitions);
  if (!archive.is_reading()) return;
  archive.expect(static_cast<Index>(transitions.size()) == like.num_axes(),
                 "a chain of the wrong size");
  for (Index k = 0; k < like.num_axes(); ++k) {
    const Matrix& transition = transitions[static_cast<std::size_t>(k)];
    archive.expect(transition.rows() == like.size(k) && transition.cols() == like.size(k),
                   "a chain of the wrong size");
    for (Index i = 0; i < transition.rows(); ++i) {
      archive.expect(is_law(transition.row(i)), "an invalid transition matrix");
    }
  }
  value = std::make_shared<const KroneckerOperator>(std::move(transitions));
}

}  // namespace headwater
