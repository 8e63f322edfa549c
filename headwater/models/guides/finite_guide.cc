#include "headwater/models/guides/finite_guide.hpp"

#include <cmath>
#include <limits>

#include "headwater/random.hpp"

namespace headwater {

namespace {

// The law of the state on one axis after the move.
Vector predicted_law(const FiniteAxis& axis, const Eigen::Ref<const Vector>& states,
                     const Eigen::Ref<const Vector>& weights) {
  if (states.size() == 0) return axis.initial;
  Vector law = Vector::Zero(axis.size());
  for (Index i = 0; i < states.size(); ++i) law[static_cast<Index>(states[i])] += weights[i];
  return axis.transition.transpose() * law;
}

Index row_of(ConstStates previous, Index i, std::size_t axis) {
  return previous.rows() == 0 ? 0 : static_cast<Index>(previous(i, static_cast<Index>(axis)));
}

}  // namespace

bool FiniteGuide::look_at(const FiniteChain& chain, const Evidence& evidence, ConstStates previous,
                          const Eigen::Ref<const Vector>& weights) {
  axes_.resize(chain.axes.size());
  predicted_.resize(chain.axes.size());
  for (std::size_t k = 0; k < axes_.size(); ++k) {
    predicted_[k] = {chain.axes[k].states,
                     predicted_law(chain.axes[k], previous.col(static_cast<Index>(k)), weights)};
  }
  const bool is_product = fit_messages(evidence);
  if (!is_product) mean_field_.fit(evidence, predicted_);
  for (std::size_t k = 0; k < axes_.size(); ++k) {
    const FiniteAxis& axis = chain.axes[k];
    AxisMoves& moves = axes_[k];
    moves.log_values.resize(axis.size());
    const auto component = static_cast<Index>(k);
    if (is_product) {
      for (Index s = 0; s < axis.size(); ++s) {
        moves.log_values[s] = messages_.log_value(component, axis.states(s, 0));
      }
    } else {
      mean_field_.log_profile(component, axis.states, moves.log_values);
    }
    const double largest = moves.log_values.maxCoeff();
    if (!std::isfinite(largest)) return false;
    moves.log_values.array() -= largest;
    const Vector values = moves.log_values.array().exp();
    if (previous.rows() == 0) {
      moves.laws = axis.initial.cwiseProduct(values);
    } else {
      moves.laws = values.asDiagonal() * axis.transition.transpose();
    }
    moves.log_worths = moves.laws.colwise().sum().transpose().array().log();
  }
  return true;
}

// Where each axis is one component, and there are several.
bool FiniteGuide::fit_messages(const Evidence& evidence) {
  const auto size = static_cast<Index>(predicted_.size());
  Vector means(size);
  Vector variances(size);
  Vector largest(size);
  for (Index k = 0; k < size; ++k) {
    const MeanField::Axis& axis = predicted_[static_cast<std::size_t>(k)];
    if (axis.levels.cols() != 1 || size == 1) return false;
    const Vector levels = axis.levels.col(0);
    means[k] = levels.dot(axis.law);
    variances[k] = levels.cwiseAbs2().dot(axis.law) - means[k] * means[k];
    largest[k] = levels.maxCoeff();
  }
  messages_.fit(evidence, means, variances, largest);
  return true;
}

void FiniteGuide::log_worths(ConstStates previous, Eigen::Ref<Vector> out) const {
  out.setZero();
  for (std::size_t k = 0; k < axes_.size(); ++k) {
    for (Index i = 0; i < out.size(); ++i) {
      out[i] += axes_[k].log_worths[row_of(previous, i, k)];
    }
  }
}

// A particle of no worth is never drawn from; its own law would have no sum.
void FiniteGuide::draw(const RandomBlock& random, ConstStates previous, States next) const {
  for (Index i = 0; i < next.rows(); ++i) {
    Generator generator = random.particle(i);
    for (std::size_t k = 0; k < axes_.size(); ++k) {
      const AxisMoves& moves = axes_[k];
      const Index row = row_of(previous, i, k);
      const auto law = as_span(moves.laws.col(row));
      const bool is_possible = moves.log_worths[row] > -std::numeric_limits<double>::infinity();
      next(i, static_cast<Index>(k)) =
          is_possible ? static_cast<double>(categorical(generator, law)) : 0;
    }
  }
}

void FiniteGuide::log_values(ConstStates states, Eigen::Ref<Vector> out) const {
  out.setZero();
  for (std::size_t k = 0; k < axes_.size(); ++k) {
    for (Index i = 0; i < out.size(); ++i) {
      out[i] += axes_[k].log_values[static_cast<Index>(states(i, static_cast<Index>(k)))];
    }
  }
}

}  // namespace headwater
