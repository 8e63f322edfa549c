#include "headwater/learning/activation_law.hpp"

namespace headwater {

namespace {

constexpr Index kDraws = 4096;

}  // namespace

Matrix draw_activations(const AnyPrior& prior, Index count) {
  const RandomStream random(0);
  Matrix states(count, prior.state_size());
  prior.sample_initial({random, 0, 0, Purpose::initial_state}, states);
  Matrix x(count, prior.num_components());
  prior.activations(states, x);
  return x;
}

Vector mean_activation(const AnyPrior& prior) {
  if (!prior.is_finite()) return draw_activations(prior, kDraws).colwise().mean();
  const FiniteChain& chain = prior.finite_chain();
  Vector mean(chain.num_components());
  Index first = 0;
  for (const FiniteAxis& axis : chain.axes) {
    mean.segment(first, axis.states.cols()) = axis.states.transpose() * axis.initial;
    first += axis.states.cols();
  }
  return mean;
}

Vector activation_variances(const AnyPrior& prior) {
  const Matrix x = draw_activations(prior, kDraws);
  return (x.rowwise() - x.colwise().mean()).array().square().colwise().mean();
}

}  // namespace headwater
