#include "options.hpp"

#include <fmt/format.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <functional>
#include <map>
#include <type_traits>

#include "arrays.hpp"
#include "headwater/core/error.hpp"
#include "headwater/session/choices.hpp"

namespace headwater::python {

namespace {

// An option and its value. Error messages begin with the option's name.
struct Given {
  std::string name;
  nb::handle value;

  std::string shown() const { return nb::cast<std::string>(nb::repr(value)); }

  template <class T>
  T as(const char* kind) const {
    try {
      return nb::cast<T>(value);
    } catch (const nb::cast_error&) {
      throw UsageError(fmt::format("{}={}: expected {}", name, shown(), kind));
    }
  }
};

template <class Target>
using Setter = std::function<void(Target&, const Given&)>;
template <class Target>
using Setters = std::map<std::string, Setter<Target>>;

template <class T>
constexpr const char* kind_of() {
  if constexpr (std::is_same_v<T, bool>) return "True or False";
  if constexpr (std::is_unsigned_v<T>) return "a whole number, 0 or more";
  if constexpr (std::is_integral_v<T>) return "a whole number";
  return "a number";
}

template <class T>
void put(T& to, const Given& given) {
  to = given.as<T>(kind_of<T>());
}

template <class Target, class T>
Setter<Target> plain(T Target::*member) {
  return [member](Target& target, const Given& given) { put(target.*member, given); };
}

template <class Value>
Value choose(const Given& given, const Choices<Value>& choices) {
  const auto text = given.as<std::string>("a name");
  std::string names;
  for (const Choice<Value>& choice : choices) {
    if (text == choice.name) return choice.value;
    names += (names.empty() ? "" : ", ") + std::string(choice.name);
  }
  throw UsageError(fmt::format("{}='{}': expected one of {}", given.name, text, names));
}

template <class Target, class Value>
Setter<Target> chosen(Value Target::*member, Choices<Value> (*choices)()) {
  return [member, choices](Target& target, const Given& given) {
    target.*member = choose(given, choices());
  };
}

const Setters<EngineConfig>& engine_setters() {
  static const Setters<EngineConfig> setters = {
      {"engine", chosen(&EngineConfig::kind, engine_choices)},
      {"num_particles", plain(&EngineConfig::num_particles)},
      {"beam_width", plain(&EngineConfig::beam_width)},
      {"proposal", chosen(&EngineConfig::proposal, proposal_choices)},
      {"resampling",
       [](EngineConfig& to, const Given& given) {
         to.resampling = parse_resampling(given.as<std::string>("a name"));
       }},
      {"resample_below", plain(&EngineConfig::resample_below)},
      {"num_threads", plain(&EngineConfig::num_threads)},
  };
  return setters;
}

void hold(Config& config, const Given& given) {
  for (const std::string& name : given.as<std::vector<std::string>>("a list of names")) {
    if (name == "basis") {
      config.m_step.hold_basis = true;
    } else {
      config.m_step.held_parameters.push_back(name);
    }
  }
}

void start_from(Config& config, const Given& given) {
  if (nb::isinstance<nb::str>(given.value)) {
    config.init = choose<Init>(given, {{"auto", Init::kAuto}, {"random", Init::kRandom}});
  } else {
    config.initial_basis = as_map(given.as<RowsIn>("'auto', 'random' or an M x K array"));
  }
}

const Setters<Config>& fit_setters() {
  static const Setters<Config> setters = {
      {"num_components", plain(&Config::num_components)},
      {"init", start_from},
      {"hold", hold},
      {"background", plain(&Config::background)},
      {"method", chosen(&Config::method, method_choices)},
      {"smoother", chosen(&Config::smoother, smoother_choices)},
      {"backward", chosen(&Config::backward, backward_choices)},
      {"backward_draws", plain(&Config::backward_draws)},
      {"lag", plain(&Config::lag)},
      {"window_tolerance", plain(&Config::window_tolerance)},
      {"block", plain(&Config::block)},
      {"paper_exact", plain(&Config::paper_exact)},
      {"scale_in",
       [](Config& to, const Given& given) { to.m_step.scale = choose(given, scale_choices()); }},
      {"step",
       [](Config& to, const Given& given) {
         to.step_size = StepSize::parse(given.as<std::string>("'power:A' or 'constant:G'"));
       }},
      {"burn_in", plain(&Config::burn_in)},
      {"average", chosen(&Config::average, average_choices)},
      {"iterations", plain(&Config::iterations)},
      {"tolerance", plain(&Config::tolerance)},
      {"basis_shape", [](Config& to, const Given& given) { put(to.m_step.basis_shape, given); }},
      {"basis_rate", [](Config& to, const Given& given) { put(to.m_step.basis_rate, given); }},
      {"basis_floor", [](Config& to, const Given& given) { put(to.m_step.basis_floor, given); }},
      {"transition_weight",
       [](Config& to, const Given& given) { put(to.m_step.transition_weight, given); }},
      {"seed", plain(&Config::seed)},
      {"strict", plain(&Config::strict)},
      {"trace_every", plain(&Config::trace_every)},
  };
  return setters;
}

template <class Target>
bool set_if_known(const Setters<Target>& setters, Target& target, const Given& given) {
  const auto found = setters.find(given.name);
  if (found == setters.end()) return false;
  found->second(target, given);
  return true;
}

template <class Set>
void for_each_option(const nb::dict& options, const Set& set) {
  for (const auto& [name, value] : options) {
    const Given given{nb::cast<std::string>(name), value};
    if (!set(given)) throw UsageError(fmt::format("there is no option '{}'", given.name));
  }
}

}  // namespace

Config config_from(const nb::dict& options) {
  Config config;
  for_each_option(options, [&](const Given& given) {
    return set_if_known(fit_setters(), config, given) ||
           set_if_known(engine_setters(), config.engine, given);
  });
  return config;
}

EngineConfig engine_config_from(const nb::dict& options) {
  EngineConfig config;
  for_each_option(
      options, [&](const Given& given) { return set_if_known(engine_setters(), config, given); });
  config.validate();
  return config;
}

PriorConfig prior_config_from(const std::string& name, const nb::dict& parameters,
                              bool per_component) {
  PriorConfig config;
  config.name = name;
  config.per_component = per_component;
  for (const auto& [key, value] : parameters) {
    const Given given{nb::cast<std::string>(key), value};
    config.parameters.push_back({given.name, as_map(given.as<RowsIn>("numbers"))});
  }
  return config;
}

}  // namespace headwater::python
