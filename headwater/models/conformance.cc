#include "headwater/conformance.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "headwater/any_prior.hpp"
#include "headwater/error.hpp"
#include "headwater/models/conformance_checks.hpp"

namespace headwater {

namespace {

using conformance::activations_of;
using conformance::draw_states;
using conformance::Findings;

// The number of simulation checks in one call (draws on finite axes, stationarity, scale), which
// share the alarm rate.
constexpr double kSimulationChecks = 3;
constexpr double kSameTo = 1e-9;

void check_activations(const AnyPrior& prior, const ConformanceOptions& options, Findings& out) {
  const Matrix states = draw_states(prior, options, 3);
  const Matrix x = activations_of(prior, states);
  if (!(x.array().isFinite() && x.array() >= 0).all()) {
    out.emplace_back("activations() gave a value that is negative or not finite");
  }
}

// Compares half of the draws at the start with the other half after 20 steps; the halves are
// independent.
void check_stationarity(const AnyPrior& prior, const ConformanceOptions& options, Findings& out) {
  const Index half = options.num_draws / 2;
  const Matrix first = activations_of(prior, draw_states(prior, options, 0)).topRows(half);
  const Matrix later = activations_of(prior, draw_states(prior, options, 20)).bottomRows(half);
  const double alarm_rate = options.alarm_rate / static_cast<double>(prior.num_components());
  const double most = conformance::largest_distance(half, alarm_rate);
  for (Index k = 0; k < prior.num_components(); ++k) {
    if (conformance::two_sample_distance(first.col(k), later.col(k)) > most) {
      out.push_back(fmt::format("the distribution of component {} changes after the start", k + 1));
    }
  }
}

void check_density(const AnyPrior& prior, const ConformanceOptions& options, Findings& out) {
  if (!prior.has_density()) return;
  const RandomStream random(options.seed);
  const Matrix before = draw_states(prior, options, 1);
  Matrix after(before.rows(), before.cols());
  prior.sample_transition({random, 99, 0, Purpose::transition}, before, after);
  Vector own(before.rows());
  prior.log_transition(before, after, own);
  if (!own.allFinite()) out.emplace_back("log_transition() of its own draws is not finite");
  Vector to_first(before.rows());
  prior.log_transition(before, after.topRows(1), to_first);
  if (to_first[0] != own[0]) {
    out.emplace_back("log_transition() does not pair a single row with every row of the other");
  }
  if (!prior.has_bound()) return;
  Vector bound(before.rows());
  prior.log_transition_bound(after, bound);
  const double slack = 1e-9;
  if (!bound.allFinite() || !(own.array() <= bound.array() + slack).all() ||
      !(to_first.array() <= bound[0] + slack).all()) {
    out.emplace_back("log_transition_bound() does not bound log_transition()");
  }
}

void check_parameters(const AnyPrior& prior, Findings& out) {
  if (!prior.is_learnable()) return;
  AnyPrior copy = prior;
  try {
    for (const Parameter& parameter : prior.parameters()) {
      copy.set_parameter(parameter);
      const Parameters now = copy.parameters();
      const Parameter* found = find_parameter(now, parameter.name);
      if (found == nullptr || found->value.size() != parameter.value.size() ||
          !found->value.isApprox(parameter.value, kSameTo)) {
        out.push_back(
            fmt::format("parameters() does not return the value of '{}' that set_parameter() set",
                        parameter.name));
      }
    }
  } catch (const Error& error) {
    out.push_back(fmt::format("set_parameter() refused a value of parameters(): {}", error.what()));
  }
  try {
    copy.set_parameter(scalar_parameter("no such parameter", 0.5));
    out.emplace_back("set_parameter() accepts a name that parameters() does not list");
  } catch (const UsageError&) {
  }
}

}  // namespace

ConformanceReport check_prior(const AnyPrior& prior, const ConformanceOptions& options) {
  ConformanceReport report;
  Findings& findings = report.findings;
  if (prior.name().empty()) findings.emplace_back("name() is empty");
  if (prior.num_components() < 1) {
    findings.emplace_back("num_components() is less than 1");
    return report;
  }
  ConformanceOptions each = options;
  each.alarm_rate /= kSimulationChecks;
  check_parameters(prior, findings);
  if (prior.is_finite()) {
    conformance::check_finite(prior, each, findings);
    if (!report.passed()) return report;  // further checks would only repeat these findings
  }
  check_activations(prior, each, findings);
  check_stationarity(prior, each, findings);
  check_density(prior, each, findings);
  conformance::check_learning(prior, each, findings);
  conformance::check_scale(prior, each, findings);
  conformance::check_guide(prior, each, findings);
  if (prior.has_scale()) check_density(conformance::unevenly_scaled(prior), each, findings);
  return report;
}

}  // namespace headwater
