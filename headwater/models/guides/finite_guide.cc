#include "headwater/models/guides/finite_guide.hpp"

#include <cmath>
#include <limits>

#include "headwater/random.hpp"

namespace headwater {

namespace {

// The law of the state on one axis after the move. before: room for the law before it.
void predict_law(const FiniteAxis& axis, const Eigen::Ref<const Vector>& states,
                 const Eigen::Ref<const Vector>& weights, Vector& before, Vector& out) {
  if (states.size() == 0) {
    out = axis.initial;
    return;
  }
  before.setZero(axis.size());
  for (Index i = 0; i < states.size(); ++i) before[static_cast<Index>(states[i])] += weights[i];
  out.noalias() = axis.transition.transpose() * before;
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
    predicted_[k].levels = chain.axes[k].states;
    predict_law(chain.axes[k], previous.col(static_cast<Index>(k)), weights, before_,
                predicted_[k].law);
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
    values_ = moves.log_values.array().exp();
    if (previous.rows() == 0) {
      moves.laws = axis.initial.cwiseProduct(values_);
    } else {
      moves.laws.noalias() = values_.asDiagonal() * axis.transition.transpose();
    }
    moves.log_worths.resize(moves.laws.cols());
    for (Index i = 0; i < moves.laws.cols(); ++i) {
      moves.log_worths[i] = std::log(moves.laws.col(i).sum());
    }
  }
  return true;
}

// Where each axis is one component, and there are several.
bool FiniteGuide::fit_messages(const Evidence& evidence) {
  const auto size = static_cast<Index>(predicted_.size());
  means_.resize(size);
  variances_.resize(size);
  largest_.resize(size);
  for (Index k = 0; k < size; ++k) {
    const MeanField::Axis& axis = predicted_[static_cast<std::size_t>(k)];
    if (axis.levels.cols() != 1 || size == 1) return false;
    const auto levels = axis.levels.col(0);
    means_[k] = levels.dot(axis.law);
    variances_[k] = levels.cwiseAbs2().dot(axis.law) - means_[k] * means_[k];
    largest_[k] = levels.maxCoeff();
  }
  messages_.fit(evidence, means_, variances_, largest_);
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
