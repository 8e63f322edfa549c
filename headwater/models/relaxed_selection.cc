#include "headwater/models/relaxed_selection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "headwater/error.hpp"
#include "headwater/kernels/relaxed_density.hpp"
#include "headwater/kernels/relaxed_moves.hpp"
#include "headwater/kernels/uniform_block.hpp"

namespace headwater {

namespace {

double distance(double state) { return std::abs(state); }

double at_distance(double d, double side) {
  return std::copysign(std::max(d, kLeastDistance), side);
}

// Rejection sampling from d^-alpha on (0, 1/2], which is drawn by inversion. The acceptance
// probability is (2 (1 - d))^-(1 - alpha), at least one half.
double draw_stationary(Generator& generator, double alpha) {
  while (true) {
    const double d = 0.5 * std::exp(std::log(generator.uniform()) / (1 - alpha));
    const double side = generator.uniform() < 0.5 ? 1 : -1;
    const double acceptance = std::exp(-(1 - alpha) * std::log(2 * (1 - d)));
    if (generator.uniform() < acceptance) return at_distance(d, side);
  }
}

}  // namespace

RelaxedSelection::RelaxedSelection(Index num_components, double alpha)
    : RelaxedSelection(num_components, Vector::Constant(1, alpha)) {}

RelaxedSelection::RelaxedSelection(Index num_components, Vector alpha)
    : num_components_(num_components),
      alpha_("alpha", std::move(alpha), num_components, 0, 1),
      log_towards_(num_components),
      log_away_(num_components) {
  take_logarithms();
}

void RelaxedSelection::take_logarithms() {
  for (Index k = 0; k < num_components_; ++k) {
    log_towards_[k] = std::log(alpha_[k]);
    log_away_[k] = std::log1p(-alpha_[k]);
  }
}

void RelaxedSelection::sample_initial(const RandomBlock& random, States next) const {
  for (Index i = 0; i < next.rows(); ++i) {
    Generator generator = random.particle(i);
    for (Index k = 0; k < num_components_; ++k) next(i, k) = draw_stationary(generator, alpha_[k]);
  }
}

void RelaxedSelection::sample_transition(const RandomBlock& random, ConstStates previous,
                                         States next) const {
  uniform_block(random.stream, random.time, random.first_particle, random.purpose, next);
  for (Index k = 0; k < num_components_; ++k) {
    const auto uniforms = as_span(next.col(k));
    relaxed_moves(uniforms, as_span(previous.col(k)), alpha_[k], uniforms);
  }
}

void RelaxedSelection::activations(ConstStates states, Eigen::Ref<Matrix> x) const {
  relaxed_activations(states, x);
}

// The density is alpha / d' towards the edge and (1 - alpha) / (1 - d') away from it, where d' is
// the distance before the move.
void RelaxedSelection::log_transition(ConstStates previous, ConstStates next,
                                      Eigen::Ref<Vector> out) const {
  relaxed_log_densities(previous, next, as_span(log_towards_), as_span(log_away_), as_span(out));
}

// Towards the edge alpha / d' <= alpha / d, because d <= d'. Away from it (1 - alpha) / (1 - d') <=
// 2 (1 - alpha).
void RelaxedSelection::log_transition_bound(ConstStates next, Eigen::Ref<Vector> out) const {
  out.setZero();
  for (Index k = 0; k < num_components_; ++k) {
    for (Index i = 0; i < out.size(); ++i) {
      out[i] += std::log(std::max(alpha_[k] / distance(next(i, k)), 2 * (1 - alpha_[k])));
    }
  }
}

bool RelaxedSelection::guide(const Evidence& evidence, ConstStates previous,
                             const Eigen::Ref<const Vector>& weights, Guide& guide) const {
  thread_local std::vector<double> alpha;
  alpha.clear();
  for (Index k = 0; k < num_components_; ++k) alpha.push_back(alpha_[k]);
  return guide.look_at(alpha, evidence, previous, weights);
}

void RelaxedSelection::add_statistics(ConstStates previous, ConstStates next,
                                      const Eigen::Ref<const Vector>& weights,
                                      std::span<double> out) const {
  thread_local std::vector<double> towards;
  towards.resize(static_cast<std::size_t>(num_components_));
  weights_towards(previous, next, as_span(weights), towards);
  const double all = weights.sum();
  for (Index k = 0; k < num_components_; ++k) {
    out[2 * k] += towards[k];
    out[2 * k + 1] += all - towards[k];
  }
}

void RelaxedSelection::set_parameter(const Parameter& parameter) {
  if (parameter.name != "alpha") {
    throw UsageError(fmt::format("prior 'relaxed-selection' has no parameter '{}'; it has alpha",
                                 parameter.name));
  }
  alpha_ = SharedOrOwn("alpha", parameter.value.reshaped(), num_components_, 0, 1);
  take_logarithms();
}

void RelaxedSelection::maximise(std::span<const double> statistics) {
  alpha_.update(statistics, 2, [](const Vector& moves, double before) {
    if (!(moves.sum() > 0)) return before;
    return std::clamp(moves[0] / moves.sum(), std::numeric_limits<double>::min(),
                      1 - std::numeric_limits<double>::epsilon() / 2);
  });
  take_logarithms();
}

}  // namespace headwater
