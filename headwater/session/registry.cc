#include "headwater/registry.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "headwater/error.hpp"
#include "headwater/law_table.hpp"
#include "headwater/models/basis_selection.hpp"
#include "headwater/models/finite_prior.hpp"
#include "headwater/models/gamma_prior.hpp"
#include "headwater/models/independent_prior.hpp"
#include "headwater/models/log_gaussian.hpp"
#include "headwater/models/relaxed_selection.hpp"

namespace headwater {

namespace {

constexpr double kStayOff = 0.9;
constexpr double kStayOn = 0.7;
constexpr double kStayInState = 0.9;
constexpr double kAlpha = 0.95;
constexpr double kPersistence = 0.9;
constexpr double kNoise = 0.3;
constexpr double kShape = 1;

Vector starting_values(const PriorConfig& config, std::string_view name, double standard,
                       Index num_components) {
  const Parameter* given = find_parameter(config.parameters, name);
  Vector values =
      given != nullptr ? Vector(given->value.reshaped()) : Vector::Constant(1, standard);
  if (config.per_component && values.size() == 1) {
    values = Vector::Constant(num_components, values[0]);
  }
  return values;
}

AnyPrior make_basis_selection(Index num_components, const PriorConfig& config) {
  return AnyPrior(BasisSelection(num_components,
                                 starting_values(config, "stay_off", kStayOff, num_components),
                                 starting_values(config, "stay_on", kStayOn, num_components)));
}

AnyPrior make_relaxed_selection(Index num_components, const PriorConfig& config) {
  return AnyPrior(
      RelaxedSelection(num_components, starting_values(config, "alpha", kAlpha, num_components)));
}

AnyPrior make_log_gaussian(Index num_components, const PriorConfig& config) {
  return AnyPrior(LogGaussian(num_components,
                              starting_values(config, "persistence", kPersistence, num_components),
                              starting_values(config, "noise", kNoise, num_components)));
}

AnyPrior make_gamma(Index num_components, const PriorConfig& config) {
  return AnyPrior(GammaPrior(num_components,
                             starting_values(config, "shape", kShape, num_components),
                             starting_values(config, "persistence", kPersistence, num_components)));
}

AnyPrior make_independent(Index num_components, const PriorConfig& config) {
  return AnyPrior(
      IndependentPrior(num_components, starting_values(config, "shape", kShape, num_components)));
}

AnyPrior make_finite(Index num_components, const PriorConfig& config) {
  if (config.per_component) {
    throw UsageError("prior 'finite' has no parameters for each component");
  }
  const Parameter* states = find_parameter(config.parameters, "states");
  const Parameter* transition = find_parameter(config.parameters, "transition");
  if (states == nullptr) {
    FiniteStatePrior prior = FiniteStatePrior::one_hot(num_components, kStayInState);
    if (transition != nullptr) prior.set_parameter(*transition);
    return AnyPrior(std::move(prior));
  }
  if (states->value.cols() != num_components) {
    throw UsageError(fmt::format(
        "prior 'finite': the states have {} columns; expected {}, one for each component",
        states->value.cols(), num_components));
  }
  const Index size = states->value.rows();
  const Matrix table =
      transition != nullptr
          ? transition->value
          : FiniteStatePrior::one_hot(size, kStayInState).finite_chain().axes[0].transition;
  return AnyPrior(FiniteStatePrior(states->value, table));
}

template <class Info>
std::string list_names(const std::vector<Info>& infos) {
  std::string names;
  for (const Info& info : infos) names += (names.empty() ? "" : ", ") + info.name;
  return names;
}

}  // namespace

const std::vector<PriorInfo>& prior_registry() {
  static const std::vector<PriorInfo> registry = {
      {"basis-selection",
       "components that are off or on, each a two-state chain",
       {{"stay_off", "P(off -> off), in (0, 1); starts at 0.9"},
        {"stay_on", "P(on -> on), in (0, 1); starts at 0.7"}},
       make_basis_selection},
      {"relaxed-selection",
       "components between off and on, which move towards either end",
       {{"alpha", "P(move towards the nearer end), in (0, 1); starts at 0.95"}},
       make_relaxed_selection},
      {"log-gaussian",
       "positive components whose logarithms are autoregressive",
       {{"persistence", "of log x, in (-1, 1); starts at 0.9"},
        {"noise",
         "standard deviation of the innovations of log x, from 1e-6 to 100; starts at 0.3"}},
       make_log_gaussian},
      {"gamma",
       "positive components of mean 1, an autoregressive gamma process",
       {{"shape", "of the stationary gamma law, from 0.001 to 1e6; starts at 1"},
        {"persistence", "correlation from one step to the next, in (0, 1); starts at 0.9"}},
       make_gamma},
      {"independent",
       "positive components of mean 1, gamma distributed, without memory",
       {{"shape", "of the gamma law, from 0.001 to 1e6; starts at 1"}},
       make_independent},
      {"finite",
       "a chain on given activation vectors; without states, exactly one component is on at a time",
       {{"states", "S x K file, one activation vector a row; never learned", true},
        {"transition", "S x S file, rows sum to 1; starts with 0.9 on the diagonal", true}},
       make_finite},
  };
  return registry;
}

const PriorInfo& find_prior(std::string_view name) {
  for (const PriorInfo& info : prior_registry()) {
    if (info.name == name) return info;
  }
  throw UsageError(
      fmt::format("unknown prior '{}'; there are: {}", name, list_names(prior_registry())));
}

const ParameterInfo& find_parameter_info(const PriorInfo& prior, std::string_view name) {
  for (const ParameterInfo& info : prior.parameters) {
    if (info.name == name) return info;
  }
  throw UsageError(fmt::format("prior '{}' has no parameter '{}'; it has: {}", prior.name, name,
                               list_names(prior.parameters)));
}

AnyPrior make_prior(Index num_components, const PriorConfig& config) {
  const PriorInfo& info = find_prior(config.name);
  if (num_components < 1 || num_components > kMostComponents) {
    throw UsageError(fmt::format("components is {}; expected a whole number from 1 to {}",
                                 num_components, kMostComponents));
  }
  for (const Parameter& parameter : config.parameters) find_parameter_info(info, parameter.name);
  return info.make(num_components, config);
}

// The first one is what fits most streams of counts: activations that are never 0 and persist.
const std::vector<std::string>& priors_of_auto() {
  static const std::vector<std::string> names = {"gamma", "log-gaussian", "basis-selection",
                                                 "relaxed-selection", "independent"};
  return names;
}

std::vector<AnyPrior> make_priors(Index num_components, const PriorConfig& config) {
  if (config.name != PriorConfig::kAuto) return {make_prior(num_components, config)};
  if (!config.parameters.empty()) refuse_with_auto_prior(config.parameters.front().name);
  std::vector<AnyPrior> priors;
  for (const std::string& name : priors_of_auto()) {
    PriorConfig named = config;
    named.name = name;
    priors.push_back(make_prior(num_components, named));
  }
  return priors;
}

void refuse_with_auto_prior(const std::string& parameter) {
  std::vector<std::string> owners;
  for (const PriorInfo& info : prior_registry()) {
    if (std::ranges::find(info.parameters, parameter, &ParameterInfo::name) !=
        info.parameters.end()) {
      owners.push_back(info.name);
    }
  }
  if (owners.empty()) throw UsageError(fmt::format("no prior has a parameter '{}'", parameter));
  throw UsageError(
      fmt::format("'{}' is a parameter of {} only, and prior auto chooses among several priors; to "
                  "give parameters, name the prior",
                  parameter, fmt::join(owners, " and ")));
}

AnyLaw make_law(Index num_channels, const CountsConfig& config) {
  AnyLaw law =
      find_law(config.law).make({num_channels, config.dispersion == DispersionOf::kShared});
  for (const Parameter& parameter : config.parameters) law.set_parameter(parameter);
  return law;
}

}  // namespace headwater
