#include "headwater/models/relaxed_selection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "headwater/core/error.hpp"

namespace headwater {

namespace {

double side_of(double state) { return state > 0 ? 1 : -1; }
double log_distance(double state) { return -std::abs(state); }
double distance(double state) { return std::exp(log_distance(state)); }

// Nearer to the edge on the same side.
bool moved_towards(double previous, double next) {
  return side_of(previous) == side_of(next) && std::abs(next) >= std::abs(previous);
}

// By rejection from d^-alpha on (0, 1/2], drawn by its inverse in logarithms: accepted with
// probability (2 (1 - d))^-(1 - alpha), at least one half.
double draw_stationary(Generator& generator, double alpha) {
  while (true) {
    const double log_d = -std::numbers::ln2 + std::log(generator.uniform()) / (1 - alpha);
    const double side = generator.uniform() < 0.5 ? 1 : -1;
    const double log_acceptance = -(1 - alpha) * (std::numbers::ln2 + std::log1p(-std::exp(log_d)));
    if (std::log(generator.uniform()) < log_acceptance) return -side * log_d;
  }
}

double draw_next(Generator& generator, double alpha, double previous) {
  const double side = side_of(previous);
  const bool goes_towards = generator.uniform() < alpha;
  const double u = generator.uniform();
  if (goes_towards) return previous - side * std::log(u);
  // Away: uniform between the old place and the far edge, measured from the old side's edge.
  const double d = distance(previous);
  const double place = d + (1 - d) * u;
  if (place <= 0.5) return -side * std::log(place);
  return side * std::log((1 - d) * (1 - u));
}

}  // namespace

RelaxedSelection::RelaxedSelection(Index num_components, double alpha)
    : RelaxedSelection(num_components, Vector::Constant(1, alpha)) {}

RelaxedSelection::RelaxedSelection(Index num_components, Vector alpha)
    : num_components_(num_components), alpha_("alpha", std::move(alpha), num_components, 0, 1) {}

void RelaxedSelection::sample_initial(const RandomBlock& random, States next) const {
  for (Index i = 0; i < next.rows(); ++i) {
    Generator generator = random.particle(i);
    for (Index k = 0; k < num_components_; ++k) next(i, k) = draw_stationary(generator, alpha_[k]);
  }
}

void RelaxedSelection::sample_transition(const RandomBlock& random, ConstStates previous,
                                         States next) const {
  for (Index i = 0; i < next.rows(); ++i) {
    Generator generator = random.particle(i);
    for (Index k = 0; k < num_components_; ++k) {
      next(i, k) = draw_next(generator, alpha_[k], previous(i, k));
    }
  }
}

void RelaxedSelection::activations(ConstStates states, Eigen::Ref<Matrix> x) const {
  x = (-states.array().abs()).exp();
  x = (states.array() > 0).select(x, 1 - x.array());
}

// In x: alpha / d' towards the edge, (1 - alpha) / (1 - d') away from it, where d' is the distance
// before the move; the density of w is that times d.
void RelaxedSelection::log_transition(ConstStates previous, ConstStates next,
                                      Eigen::Ref<Vector> out) const {
  out.setZero();
  for (Index k = 0; k < num_components_; ++k) {
    const double log_towards = std::log(alpha_[k]);
    const double log_away = std::log1p(-alpha_[k]);
    for (Index i = 0; i < out.size(); ++i) {
      const double from = paired_row(previous, i)[k];
      const double to = paired_row(next, i)[k];
      out[i] +=
          log_distance(to) + (moved_towards(from, to) ? log_towards - log_distance(from)
                                                      : log_away - std::log1p(-distance(from)));
    }
  }
}

// alpha d / d' <= alpha, since d <= d'; (1 - alpha) d / (1 - d') <= 2 (1 - alpha) d.
void RelaxedSelection::log_transition_bound(ConstStates next, Eigen::Ref<Vector> out) const {
  out.setZero();
  for (Index k = 0; k < num_components_; ++k) {
    for (Index i = 0; i < out.size(); ++i) {
      out[i] += std::log(std::max(alpha_[k], 2 * (1 - alpha_[k]) * distance(next(i, k))));
    }
  }
}

void RelaxedSelection::add_statistics(ConstStates previous, ConstStates next,
                                      const Eigen::Ref<const Vector>& weights,
                                      std::span<double> out) const {
  for (Index k = 0; k < num_components_; ++k) {
    for (Index i = 0; i < weights.size(); ++i) {
      const bool towards = moved_towards(paired_row(previous, i)[k], paired_row(next, i)[k]);
      out[2 * k + (towards ? 0 : 1)] += weights[i];
    }
  }
}

void RelaxedSelection::set_parameter(const Parameter& parameter) {
  if (parameter.name != "alpha") {
    throw UsageError(fmt::format("prior 'relaxed-selection' has no parameter '{}'; it has alpha",
                                 parameter.name));
  }
  alpha_ = SharedOrOwn("alpha", parameter.value.reshaped(), num_components_, 0, 1);
}

void RelaxedSelection::maximise(std::span<const double> statistics) {
  alpha_.update(statistics, 2, [](const Vector& moves, double before) {
    if (!(moves.sum() > 0)) return before;
    return std::clamp(moves[0] / moves.sum(), std::numeric_limits<double>::min(),
                      1 - std::numeric_limits<double>::epsilon() / 2);
  });
}

}  // namespace headwater
