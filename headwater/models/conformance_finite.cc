#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "headwater/error.hpp"
#include "headwater/models/conformance_checks.hpp"

namespace headwater::conformance {

namespace {

// The relative change of a parameter in the search for a better one, and the smallest relative gain
// that is reported.
constexpr double kNudge = 1e-3;
constexpr double kNegligibleGain = 1e-10;
constexpr double kSameTo = 1e-9;

// An upper bound of the value that a chi-square variable exceeds with probability `alarm_rate`: P(X
// >= d + 2 sqrt(d a) + 2 a) <= exp(-a) [LaurentMassart2000, lemma 1].
double chi_square_bound(double degrees, double alarm_rate) {
  const double a = -std::log(alarm_rate);
  return degrees + 2 * std::sqrt(degrees * a) + 2 * a;
}

void check_laws(const AnyPrior& prior, const FiniteChain& chain, Findings& out) {
  try {
    validate(chain, "finite_chain()");
  } catch (const UsageError& error) {
    out.emplace_back(error.what());
    return;
  }
  if (chain.num_components() != prior.num_components()) {
    out.push_back(fmt::format("finite_chain() has {} components, num_components() is {}",
                              chain.num_components(), prior.num_components()));
  }
  for (std::size_t k = 0; k < chain.axes.size(); ++k) {
    const FiniteAxis& axis = chain.axes[k];
    if (!(axis.transition.transpose() * axis.initial).isApprox(axis.initial, 1e-6)) {
      out.push_back(
          fmt::format("finite_chain(): the initial law of axis {} is not stationary", k + 1));
    }
  }
}

// Counts the drawn transitions on one axis; nothing if a draw is not a state of the axis.
std::optional<Matrix> count_moves(const FiniteAxis& axis, const Matrix& before, const Matrix& after,
                                  Index column) {
  const auto is_state = [&](double value) {
    return value >= 0 && value < static_cast<double>(axis.size()) && value == std::floor(value);
  };
  Matrix counts = Matrix::Zero(axis.size(), axis.size());
  for (Index i = 0; i < before.rows(); ++i) {
    if (!is_state(before(i, column)) || !is_state(after(i, column))) return std::nullopt;
    counts(static_cast<Index>(before(i, column)), static_cast<Index>(after(i, column))) += 1;
  }
  return counts;
}

void check_moves(const FiniteAxis& axis, const Matrix& counts, double alarm_rate, std::size_t k,
                 Findings& out) {
  double statistic = 0;
  double cells = 0;
  for (Index i = 0; i < axis.size(); ++i) {
    for (Index j = 0; j < axis.size(); ++j) {
      if (axis.transition(i, j) == 0 && counts(i, j) > 0) {
        out.push_back(fmt::format("draws on axis {} make a move of probability zero", k + 1));
        return;
      }
      const double expected = counts.sum() * axis.initial[i] * axis.transition(i, j);
      if (expected < 5) continue;  // too few for the chi-square approximation
      statistic += (counts(i, j) - expected) * (counts(i, j) - expected) / expected;
      cells += 1;
    }
  }
  if (statistic > chi_square_bound(cells, alarm_rate)) {
    out.push_back(fmt::format("draws do not follow the transition matrix of axis {}", k + 1));
  }
}

// A FinitePrior with its own sampler must draw from its chain. The check requires that states are
// the indices on the axes.
void check_draws(const AnyPrior& prior, const FiniteChain& chain, const ConformanceOptions& options,
                 Findings& out) {
  if (prior.state_size() != static_cast<Index>(chain.axes.size())) {
    out.push_back(fmt::format("state_size() is {}; expected {}, one number for each axis",
                              prior.state_size(), chain.axes.size()));
    return;
  }
  const RandomStream random(options.seed);
  const Matrix before = draw_states(prior, options, 0);
  Matrix after(before.rows(), before.cols());
  prior.sample_transition({random, 99, 0, Purpose::transition}, before, after);
  const double alarm_rate = options.alarm_rate / static_cast<double>(chain.axes.size());
  for (std::size_t k = 0; k < chain.axes.size(); ++k) {
    const auto counts = count_moves(chain.axes[k], before, after, static_cast<Index>(k));
    if (!counts) {
      out.push_back(
          fmt::format("a draw on axis {} is a state that the chain does not have", k + 1));
      return;
    }
    check_moves(chain.axes[k], *counts, alarm_rate, k, out);
  }
  Matrix own(after.rows(), prior.num_components());
  Matrix expected = own;
  prior.activations(after, own);
  detail::finite_activations(chain, after, expected);
  if (own != expected) out.emplace_back("activations() disagrees with finite_chain()");
}

// sum of n_ij log P(i -> j), which the M-step maximises.
double expected_log_density(const AnyPrior& prior, const Vector& moves) {
  double sum = 0;
  Index at = 0;
  for (const FiniteAxis& axis : prior.finite_chain().axes) {
    for (Index i = 0; i < axis.size(); ++i) {
      for (Index j = 0; j < axis.size(); ++j, ++at) {
        if (moves[at] > 0) sum += moves[at] * std::log(axis.transition(i, j));
      }
    }
  }
  return sum;
}

Vector stationary_moves(const FiniteChain& chain) {
  Vector moves(chain.num_moves());
  Index at = 0;
  for (const FiniteAxis& axis : chain.axes) {
    for (Index i = 0; i < axis.size(); ++i) {
      for (Index j = 0; j < axis.size(); ++j) {
        moves[at++] = axis.initial[i] * axis.transition(i, j);
      }
    }
  }
  return moves;
}

// Changes one element of a parameter slightly. Returns false if the prior refuses the value.
bool nudge(AnyPrior& prior, Parameter parameter, Index entry, double factor) {
  parameter.value(entry) *= factor;
  try {
    prior.set_parameter(parameter);
    return true;
  } catch (const UsageError&) {
    return false;
  }
}

void check_m_step(const AnyPrior& prior, const FiniteChain& chain, Findings& out) {
  const Vector expected = stationary_moves(chain);
  AnyPrior again = prior;
  again.maximise(as_span(expected));
  const double value = expected_log_density(again, expected);
  if (std::abs(value - expected_log_density(prior, expected)) > kSameTo * std::abs(value)) {
    out.emplace_back("maximise() does not recover the parameters from their expected transitions");
  }

  // Perturbed counts, whose maximum is at other parameters.
  Vector uneven = expected;
  for (Index i = 0; i < uneven.size(); ++i) uneven[i] *= 1 + 0.5 * std::sin(3.0 * double(i) + 1);
  AnyPrior best = prior;
  best.maximise(as_span(uneven));
  const double maximum = expected_log_density(best, uneven);
  for (const Parameter& parameter : best.parameters()) {
    for (Index entry = 0; entry < parameter.value.size(); ++entry) {
      for (const double factor : {1 - kNudge, 1 + kNudge}) {
        AnyPrior other = best;
        if (!nudge(other, parameter, entry, factor)) continue;
        const double gain = expected_log_density(other, uneven) - maximum;
        if (gain > kNegligibleGain * std::abs(maximum)) {
          out.push_back(fmt::format(
              "maximise() is not at a maximum: another value of '{}' is likelier", parameter.name));
          return;
        }
      }
    }
  }
}

}  // namespace

void check_finite(const AnyPrior& prior, const ConformanceOptions& options, Findings& out) {
  const FiniteChain chain = prior.finite_chain();
  check_laws(prior, chain, out);
  if (!out.empty()) return;  // further checks would only repeat these findings
  check_draws(prior, chain, options, out);
  if (!out.empty()) return;
  if (prior.is_learnable()) check_m_step(prior, chain, out);
}

}  // namespace headwater::conformance
