#include "headwater/finite_chain.hpp"

#include <fmt/format.h>

#include <Eigen/QR>
#include <cmath>
#include <optional>

#include "headwater/error.hpp"
#include "headwater/kernels/kronecker.hpp"

namespace headwater {

namespace {

// The tolerance for sums of probabilities, which may have been written with few digits.
constexpr double kSumTolerance = 1e-6;

void validate_law(const Eigen::Ref<const Vector>& law, std::string_view what) {
  for (Index i = 0; i < law.size(); ++i) {
    if (!(law[i] >= 0 && law[i] <= 1 + kSumTolerance)) {
      throw UsageError(
          fmt::format("{}: entry {} is {}; expected a probability in [0, 1]", what, i + 1, law[i]));
    }
  }
  if (std::abs(law.sum() - 1) > kSumTolerance) {
    throw UsageError(fmt::format("{}: sums to {}; expected 1", what, law.sum()));
  }
}

}  // namespace

Index FiniteChain::num_components() const {
  Index sum = 0;
  for (const FiniteAxis& axis : axes) sum += axis.states.cols();
  return sum;
}

Index FiniteChain::num_states() const {
  Index product = 1;
  for (const FiniteAxis& axis : axes) product *= axis.size();
  return product;
}

Index FiniteChain::num_moves() const {
  Index sum = 0;
  for (const FiniteAxis& axis : axes) sum += axis.size() * axis.size();
  return sum;
}

Matrix FiniteChain::joint_states() const {
  Matrix joint(num_states(), num_components());
  Index column = 0;
  Index stride = 1;
  for (const FiniteAxis& axis : axes) {
    for (Index x = 0; x < joint.rows(); ++x) {
      joint.row(x).segment(column, axis.states.cols()) = axis.states.row(x / stride % axis.size());
    }
    column += axis.states.cols();
    stride *= axis.size();
  }
  return joint;
}

Vector FiniteChain::joint_initial() const {
  Vector joint = Vector::Ones(num_states());
  Index done = 1;  // so many joint states of the axes so far
  for (const FiniteAxis& axis : axes) {
    for (Index i = axis.size(); i-- > 0;) {
      joint.segment(i * done, done) = joint.head(done) * axis.initial[i];
    }
    done *= axis.size();
  }
  return joint;
}

KroneckerOperator FiniteChain::joint_transition() const {
  std::vector<Matrix> transitions;
  for (const FiniteAxis& axis : axes) transitions.push_back(axis.transition);
  return KroneckerOperator(std::move(transitions));
}

void validate(const FiniteChain& chain, std::string_view what) {
  if (chain.axes.empty()) throw UsageError(fmt::format("{}: has no states", what));
  for (std::size_t k = 0; k < chain.axes.size(); ++k) {
    const FiniteAxis& axis = chain.axes[k];
    const std::string where =
        chain.axes.size() == 1 ? std::string(what) : fmt::format("{}: axis {}", what, k + 1);
    const Index size = axis.size();
    if (size == 0 || axis.transition.cols() != size || axis.states.rows() != size ||
        axis.initial.size() != size) {
      throw UsageError(fmt::format(
          "{}: {} states, a {}x{} transition matrix and {} initial probabilities; expected the "
          "same number of each",
          where, axis.states.rows(), axis.transition.rows(), axis.transition.cols(),
          axis.initial.size()));
    }
    if (axis.states.cols() == 0) throw UsageError(fmt::format("{}: drives no component", where));
    if (!(axis.states.array().isFinite() && axis.states.array() >= 0).all()) {
      throw UsageError(fmt::format("{}: a state is negative or not finite", where));
    }
    validate_law(axis.initial, where + ": initial law");
    for (Index i = 0; i < size; ++i) {
      validate_law(axis.transition.row(i).transpose(),
                   fmt::format("{}: transition row {}", where, i + 1));
    }
  }
}

namespace {

// Up to so many states equations are solved at once: 3 ms; their number of operations is cubic.
constexpr Index kMostSolved = 256;
constexpr int kMostPowers = 200;
constexpr double kUnchanged = 1e-14;

// By steps of the chain from equal probabilities; nothing if they have not led to it soon.
std::optional<Vector> law_after_many_steps(const Matrix& transition) {
  const Matrix moves = transition.transpose();
  Vector law = Vector::Constant(transition.rows(), 1 / static_cast<double>(transition.rows()));
  for (int i = 0; i < kMostPowers; ++i) {
    const Vector next = moves * law;
    const double change = (next - law).lpNorm<1>();
    law = next / next.sum();
    if (change < kUnchanged) return law;
  }
  return std::nullopt;
}

}  // namespace

Vector stationary_law(const Matrix& transition) {
  const Index n = transition.rows();
  if (n > kMostSolved) {
    if (const std::optional<Vector> law = law_after_many_steps(transition)) return *law;
  }
  // Solves pi (P - I) = 0 and sum(pi) = 1 by least squares of minimal norm. With several recurrent
  // classes the result is their mixture with weights 1/|pi_c|^2, which is still a distribution.
  Matrix equations(n + 1, n);
  equations.topRows(n) = transition.transpose() - Matrix::Identity(n, n);
  equations.row(n).setOnes();
  Vector right = Vector::Zero(n + 1);
  right[n] = 1;
  Vector law = equations.completeOrthogonalDecomposition().solve(right).cwiseMax(0.0);
  return law / law.sum();
}

}  // namespace headwater
