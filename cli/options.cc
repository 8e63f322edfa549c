#include "options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>

#include "hdf5_reader.hpp"
#include "headwater/core/error.hpp"
#include "headwater/session/registry.hpp"

using headwater::UsageError;

namespace {

// Parses "0.9" or "0.9,0.8,0.7".
headwater::Matrix parse_numbers(const std::string& name, const std::string& text) {
  std::vector<double> numbers;
  const char* at = text.data();
  const char* const last = at + text.size();
  while (true) {
    double number = 0;
    const auto [end, error] = std::from_chars(at, last, number);
    if (error != std::errc() || (end != last && *end != ',')) {
      throw UsageError(
          fmt::format("--set {}={}: expected a number, or one for each component with "
                      "commas between them",
                      name, text));
    }
    numbers.push_back(number);
    if (end == last) break;
    at = end + 1;
  }
  return Eigen::Map<const headwater::Vector>(numbers.data(),
                                             static_cast<headwater::Index>(numbers.size()));
}

headwater::Parameter parse_assignment(const headwater::PriorInfo& prior, const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) {
    throw UsageError(fmt::format("--set {}: expected NAME=VALUE", text));
  }
  const std::string name = text.substr(0, equals);
  const std::string value = text.substr(equals + 1);
  if (headwater::find_parameter_info(prior, name).is_table) {
    return {name, read_matrix_file(value)};
  }
  return {name, parse_numbers(name, value)};
}

}  // namespace

void PriorOptions::add_to(CLI::App& command) {
  command.add_option("--prior", name, "law of the activations: see below")
      ->required()
      ->type_name("NAME");
  command
      .add_option("--set", assignments, "a parameter of the prior, or where it starts (repeatable)")
      ->type_name("NAME=VALUE")
      ->take_all();
  command.add_flag("--per-component", per_component,
                   "parameters for each component instead of shared ones");
  command.add_option("--states", states, "prior finite: short for --set states=FILE")
      ->type_name("FILE");
  command.add_option("--transition", transition, "prior finite: short for --set transition=FILE")
      ->type_name("FILE");
  command.footer(list_priors());
}

headwater::PriorConfig PriorOptions::config() const {
  const headwater::PriorInfo& info = headwater::find_prior(name);
  std::vector<std::string> all = assignments;
  if (!states.empty()) all.push_back("states=" + states);
  if (!transition.empty()) all.push_back("transition=" + transition);
  headwater::PriorConfig config;
  config.name = name;
  config.per_component = per_component;
  for (const std::string& assignment : all) {
    headwater::Parameter parameter = parse_assignment(info, assignment);
    std::erase_if(config.parameters, [&](const headwater::Parameter& earlier) {
      return earlier.name == parameter.name;
    });
    config.parameters.push_back(std::move(parameter));
  }
  return config;
}

void EngineOptions::add_to(CLI::App& command) {
  const std::string group = "Engine";
  command
      .add_option("--engine", engine,
                  "exact: all states of a finite prior; beam: those that matter, of up to 2^64; "
                  "particle: any prior; fast: log-gaussian, gamma or independent, biased; auto: by "
                  "the prior and the size")
      ->type_name("auto|exact|beam|particle|fast")
      ->capture_default_str()
      ->group(group);
  command.add_option("--particles", settings.num_particles, "how many")
      ->type_name("N")
      ->capture_default_str()
      ->group(group);
  command.add_option("--beam-width", settings.beam_width, "states that engine beam keeps")
      ->type_name("N")
      ->capture_default_str()
      ->group(group);
  command
      .add_option("--proposal", proposal,
                  "where particles move: by the prior alone, or guided by the observation; auto: "
                  "guided where there are many channels and components")
      ->type_name("auto|prior|guided")
      ->capture_default_str()
      ->group(group);
  command.add_option("--resampling", resampling, "how particles are drawn anew")
      ->type_name("systematic|stratified|multinomial|residual")
      ->capture_default_str()
      ->group(group);
  command
      .add_option("--resample-below", settings.resample_below,
                  "resample when the effective number of particles is below F N; 1: every step")
      ->type_name("F")
      ->capture_default_str()
      ->group(group);
  command.add_option("--threads", settings.num_threads, "the result does not depend on it")
      ->type_name("N")
      ->capture_default_str()
      ->group(group);
}

headwater::EngineConfig EngineOptions::config() const {
  headwater::EngineConfig config = settings;
  config.kind = choose("engine", engine, headwater::engine_choices());
  config.proposal = choose("proposal", proposal, headwater::proposal_choices());
  config.resampling = headwater::parse_resampling(resampling);
  config.validate();
  return config;
}

std::unique_ptr<headwater::MatrixSink> sink_if_named(const std::string& name) {
  return name.empty() ? nullptr : headwater::create_sink(name);
}

namespace {

CLI::Validator whole_number() {
  return CLI::Validator(
      [](std::string& text) {
        std::uint64_t number = 0;
        const char* const last = text.data() + text.size();
        const auto [end, error] = std::from_chars(text.data(), last, number);
        if (error == std::errc() && end == last) return std::string();
        return fmt::format("'{}' is not a whole number from 0 to 18446744073709551615", text);
      },
      "");
}

}  // namespace

CLI::Option& add_seed_option(CLI::App& command, std::uint64_t& seed) {
  return *command.add_option("--seed", seed, "same seed, same bytes")
              ->check(whole_number())
              ->type_name("S")
              ->capture_default_str();
}

std::string list_priors() {
  std::string text = "Priors and their parameters:\n";
  for (const headwater::PriorInfo& prior : headwater::prior_registry()) {
    text += fmt::format("  {:<18} {}\n", prior.name, prior.meaning);
    for (const headwater::ParameterInfo& parameter : prior.parameters) {
      text += fmt::format("    {:<16} {}\n", parameter.name, parameter.meaning);
    }
  }
  return text;
}

void throw_unknown_choice(const char* option, const std::string& text,
                          const std::vector<std::string>& names) {
  throw UsageError(
      fmt::format("--{} {}: expected one of {}", option, text, fmt::join(names, ", ")));
}
