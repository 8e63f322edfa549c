#include <fmt/format.h>

#include <cmath>

#include "headwater/error.hpp"
#include "headwater/models/conformance_checks.hpp"

namespace headwater::conformance {

namespace {

AnyPrior with_scale(AnyPrior prior, const Vector& scale) {
  prior.set_scale(scale);
  return prior;
}

AnyPrior with_unit_scale(const AnyPrior& prior) {
  return with_scale(prior, Vector::Ones(prior.num_components()));
}

void check_held_parameters(const AnyPrior& prior, const Vector& statistics, Findings& out) {
  for (const Parameter& parameter : prior.parameters()) {
    AnyPrior learned = prior;
    learned.maximise(as_span(statistics), {{parameter.name}});
    const Parameters now = learned.parameters();
    if (find_parameter(now, parameter.name)->value != parameter.value) {
      out.push_back(fmt::format("maximise() changes '{}' though it is held", parameter.name));
    }
  }
}

void check_setting_of_scale(const AnyPrior& prior, Findings& out) {
  const Index num_components = prior.num_components();
  const AnyPrior unit = with_unit_scale(prior);
  const Vector twos = Vector::Constant(num_components, 2);
  if (with_scale(unit, twos).scale() != twos || unit.scale() != Vector::Ones(num_components)) {
    out.emplace_back("scale() does not give back what set_scale() was given");
  }
  for (const Vector& bad : {Vector(Vector::Ones(num_components + 1)),
                            Vector(Vector::Zero(num_components)), Vector(-twos)}) {
    try {
      with_scale(unit, bad);
      out.emplace_back("set_scale() accepts values that are not a valid scale");
      return;
    } catch (const UsageError&) {
    }
  }
}

// Compares half of the scaled prior's draws with the other half of the unit prior's, multiplied by
// the scale.
void check_scaled_law(const AnyPrior& scaled, const ConformanceOptions& options, double alarm_rate,
                      Findings& out) {
  const AnyPrior unit = with_unit_scale(scaled);
  const Vector scale = scaled.scale();
  const Index half = options.num_draws / 2;
  const double most = largest_distance(half, alarm_rate / static_cast<double>(2 * scale.size()));
  for (const int steps : {0, 3}) {
    const Matrix own = activations_of(scaled, draw_states(scaled, options, steps));
    const Matrix other = activations_of(unit, draw_states(unit, options, steps));
    for (Index k = 0; k < scale.size(); ++k) {
      const Vector expected = scale[k] * other.col(k).tail(half);
      if (two_sample_distance(own.col(k).head(half), expected) > most) {
        out.push_back(
            fmt::format("after {} steps the activations of component {} do not have the "
                        "scale that was set",
                        steps, k + 1));
        return;
      }
    }
  }
}

// Over draws from the prior, the mean ratio of another density to the prior's own is at most 1. By
// Markov's inequality the product of the ratios exceeds 1 / a with probability at most a.
void check_scaled_density(const AnyPrior& scaled, const Moves& moves, double alarm_rate,
                          Findings& out) {
  const double own = moves.log_density(scaled);
  for (const AnyPrior& other :
       {with_unit_scale(scaled), with_scale(scaled, scaled.scale().cwiseInverse())}) {
    const double gain = moves.log_density(other) - own;
    if (!(gain <= -std::log(alarm_rate / 2)) || gain == 0) {
      out.emplace_back("log_transition() does not depend on the scale as it should");
      return;
    }
  }
}

// Starts once from the scale of the draws and once from another scale.
void check_learned_scale(const AnyPrior& scaled, const Moves& moves, Findings& out) {
  AnyPrior kept = scaled;
  kept.maximise(as_span(moves.statistics(scaled)), {});
  if (kept.scale() != scaled.scale()) {
    out.emplace_back("maximise() changes the scale though it is held");
  }
  for (const AnyPrior& start : {scaled, with_unit_scale(scaled)}) {
    AnyPrior learned = start;
    learned.maximise(as_span(moves.statistics(start)), {{}, false});
    if (learned.scale() == start.scale()) {
      out.emplace_back("maximise() does not learn the scale though it is free");
      return;
    }
    if (!(moves.log_density(learned) >= moves.log_density(start) - kMostLoss)) {
      out.emplace_back("maximise() with a free scale decreases the likelihood of the transitions");
      return;
    }
  }
}

}  // namespace

Moves::Moves(const AnyPrior& prior, const ConformanceOptions& options)
    : before(draw_states(prior, options, 1)), after(before.rows(), before.cols()) {
  const RandomStream random(options.seed);
  prior.sample_transition({random, 98, 0, Purpose::transition}, before, after);
}

Vector Moves::statistics(const AnyPrior& prior) const {
  Vector sums = Vector::Zero(prior.num_statistics());
  prior.add_statistics(before, after, Vector::Ones(before.rows()), as_span(sums));
  return sums;
}

double Moves::log_density(const AnyPrior& prior) const {
  Vector densities(before.rows());
  prior.log_transition(before, after, densities);
  return densities.sum();
}

AnyPrior unevenly_scaled(AnyPrior prior) {
  Vector scale(prior.num_components());
  for (Index k = 0; k < scale.size(); ++k) scale[k] = k % 2 == 0 ? 3 + 0.1 * double(k) : 0.25;
  prior.set_scale(scale);
  return prior;
}

void check_learning(const AnyPrior& prior, const ConformanceOptions& options, Findings& out) {
  if (!prior.is_learnable() || !prior.has_density()) return;
  const Moves moves(prior, options);
  const Vector statistics = moves.statistics(prior);
  AnyPrior learned = prior;
  learned.maximise(as_span(statistics));
  if (!(moves.log_density(learned) >= moves.log_density(prior) - kMostLoss)) {
    out.emplace_back("maximise() decreases the likelihood of the transitions");
  }
  check_held_parameters(prior, statistics, out);
}

void check_scale(const AnyPrior& prior, const ConformanceOptions& options, Findings& out) {
  if (!prior.has_scale()) return;
  check_setting_of_scale(prior, out);
  if (!out.empty()) return;
  const AnyPrior scaled = unevenly_scaled(prior);
  check_scaled_law(scaled, options, options.alarm_rate / 2, out);
  if (!prior.has_density()) return;
  const Moves moves(scaled, options);
  check_scaled_density(scaled, moves, options.alarm_rate / 2, out);
  check_learned_scale(scaled, moves, out);
}

}  // namespace headwater::conformance
