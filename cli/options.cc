#include "options.hpp"

#include <fmt/format.h>

#include <charconv>
#include <filesystem>

#include "hdf5_reader.hpp"
#include "headwater/error.hpp"
#include "headwater/law_table.hpp"
#include "headwater/registry.hpp"

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
      throw UsageError(fmt::format(
          "--set {}={}: expected a number, or several with commas between them", name, text));
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

std::string name_in(const std::string& assignment) {
  return assignment.substr(0, assignment.find('='));
}

bool is_of_law(const std::string& assignment) {
  return assignment.find('=') != std::string::npos &&
         headwater::is_law_parameter(name_in(assignment));
}

}  // namespace

headwater::OptionTable<ParameterOptions> ParameterOptions::table() {
  using namespace headwater::rows;
  return in_group<ParameterOptions>(
      "Model",
      {names(
           {.name = "set",
            .value_name = "NAME=VALUE",
            .help = "value of a parameter of the prior or of the law of the counts; fit starts "
                    "from it. VALUE is a number; or several with commas between them, one for each "
                    "component (dispersion: for each channel); or, for a table, the name of a file",
            .python_name = "set"},
           &ParameterOptions::assignments, "NAME=VALUE"),
       text({.name = "states",
             .value_name = "FILE",
             .help = "prior finite: short for --set states=FILE"},
            &ParameterOptions::states, kFileName),
       text({.name = "transition",
             .value_name = "FILE",
             .help = "prior finite: short for --set transition=FILE"},
            &ParameterOptions::transition, kFileName)});
}

headwater::Parameters ParameterOptions::law_parameters() const {
  headwater::Parameters parameters;
  for (const std::string& assignment : assignments) {
    if (!is_of_law(assignment)) continue;
    const std::string name = name_in(assignment);
    parameters.push_back({name, parse_numbers(name, assignment.substr(name.size() + 1))});
  }
  return parameters;
}

void ParameterOptions::add_to(RunFiles& files) const {
  for (const std::string& assignment : assignments) {  // the value may be the name of a file
    const std::string value = assignment.substr(assignment.find('=') + 1);
    if (std::filesystem::is_regular_file(value)) files.reads("--set", value);
  }
  files.reads("--states", states);
  files.reads("--transition", transition);
}

headwater::Parameters ParameterOptions::parameters(const std::string& prior) const {
  std::vector<std::string> all = assignments;
  std::erase_if(all, is_of_law);
  if (!states.empty()) all.push_back("states=" + states);
  if (!transition.empty()) all.push_back("transition=" + transition);
  if (prior == headwater::PriorConfig::kAuto) {
    if (!all.empty()) headwater::refuse_with_auto_prior(name_in(all.front()));
    return {};
  }
  const headwater::PriorInfo& info = headwater::find_prior(prior);
  headwater::Parameters parameters;
  for (const std::string& assignment : all) {
    headwater::Parameter parameter = parse_assignment(info, assignment);
    std::erase_if(parameters, [&](const headwater::Parameter& earlier) {
      return earlier.name == parameter.name;
    });
    parameters.push_back(std::move(parameter));
  }
  return parameters;
}

std::unique_ptr<headwater::MatrixSink> sink_if_named(const std::string& name,
                                                     const std::vector<std::string>& header) {
  return name.empty() ? nullptr : headwater::create_sink(name, header);
}

std::string list_priors() {
  std::string text = "Priors and their parameters:\n";
  for (const headwater::PriorInfo& prior : headwater::prior_registry()) {
    text += fmt::format("  {:<18} {}\n", prior.name, prior.meaning);
    for (const headwater::ParameterInfo& parameter : prior.parameters) {
      text += fmt::format("    {:<16} {}\n", parameter.name, parameter.meaning);
    }
  }
  text += fmt::format("  {:<18} {}\n", headwater::PriorConfig::kAuto,
                      fmt::format("fit only: the one of {} that predicts best",
                                  fmt::join(headwater::priors_of_auto(), ", ")));
  text += "Laws of the counts and their parameters:\n";
  for (const headwater::LawInfo& law : headwater::law_table()) {
    text += fmt::format("  {:<18} {}\n", law.name, law.meaning);
    for (const auto& [name, meaning] : law.parameters) {
      text += fmt::format("    {:<16} {}\n", name, meaning);
    }
  }
  return text;
}
