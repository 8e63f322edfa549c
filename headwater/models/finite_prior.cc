#include "headwater/models/finite_prior.hpp"

#include <fmt/format.h>

#include <cmath>

#include "headwater/error.hpp"

namespace headwater {

namespace {

constexpr double kRowRounding = 1e-13;

}  // namespace

FiniteStatePrior::FiniteStatePrior(Matrix states, Matrix transition) {
  axis_.states = std::move(states);
  if (axis_.states.size() > 0 && axis_.states.maxCoeff() == 0) {
    throw UsageError("prior 'finite': no component is on in any state");
  }
  set_transition(std::move(transition));
}

FiniteStatePrior FiniteStatePrior::one_hot(Index num_components, double stay) {
  const Index n = num_components;
  Matrix transition = Matrix::Constant(n, n, n > 1 ? (1 - stay) / static_cast<double>(n - 1) : 1.0);
  if (n > 1) transition.diagonal().setConstant(stay);
  return {Matrix::Identity(n, n), std::move(transition)};
}

void FiniteStatePrior::set_transition(Matrix transition) {
  const Index size = axis_.states.rows();
  if (transition.rows() != size || transition.cols() != size) {
    throw UsageError(
        fmt::format("prior 'finite': the transition matrix is {}x{}; expected {}x{}, a row and a "
                    "column for each state",
                    transition.rows(), transition.cols(), size, size));
  }
  FiniteAxis axis{axis_.states, Vector::Constant(size, 1.0 / static_cast<double>(size)),
                  std::move(transition)};
  validate({{axis}}, "prior 'finite'");
  // Rows written with few digits are normalised; rows that already sum to one keep their bits.
  for (auto row : axis.transition.rowwise()) {
    const double sum = row.sum();
    if (std::abs(sum - 1) > kRowRounding) row /= sum;
  }
  axis.initial = stationary_law(axis.transition);
  axis_ = std::move(axis);
}

void FiniteStatePrior::set_parameter(const Parameter& parameter) {
  if (parameter.name != "transition") {
    throw UsageError(
        fmt::format("prior 'finite' has no parameter '{}'; it has transition", parameter.name));
  }
  set_transition(parameter.value);
}

void FiniteStatePrior::maximise(std::span<const double> moves) {
  const Index size = axis_.size();
  const Eigen::Map<const RowMatrix> counts(moves.data(), size, size);
  Matrix transition = axis_.transition;
  for (Index i = 0; i < size; ++i) {
    const double visits = counts.row(i).sum();
    if (visits > 0) transition.row(i) = counts.row(i) / visits;
  }
  set_transition(std::move(transition));
}

}  // namespace headwater
