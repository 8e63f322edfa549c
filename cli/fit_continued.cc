#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "fit_options.hpp"
#include "hdf5_reader.hpp"
#include "headwater/error.hpp"

// headwater fit --continue MODEL, and --init MODEL.

using namespace headwater;

namespace {

// Options about the start of a fit. One that is continued has started.
constexpr const char* kOfStarts[] = {"start-on", "burn-in"};

[[noreturn]] void refuse_with_model(const std::string& option, const std::string& why) {
  throw UsageError(fmt::format("{} cannot go with a model that is continued: {}", option, why));
}

}  // namespace

std::string FitOptions::model_name() const {
  if (!continued.empty()) return continued;
  return !init_file.empty() && is_model_file(init_file) ? init_file : "";
}

std::optional<Model> FitOptions::read_continued() const {
  const std::string name = model_name();
  if (name.empty()) return std::nullopt;
  return read_model_file(name);
}

bool FitOptions::is_typed(const std::string& option) const {
  return std::ranges::find(typed, option, &std::pair<std::string, std::string>::first) !=
         typed.end();
}

Config FitOptions::config_for(const Model& model) const {
  const bool follows_on = !continued.empty();
  if (!continued.empty() && is_typed("init")) {
    refuse_with_model("--init", "the fit goes on from its estimate");
  }
  for (const char* name : kOfStarts) {
    if (is_typed(name)) refuse_with_model(fmt::format("--{}", name), "its fit has started already");
  }
  if (!parameters.empty()) {
    refuse_with_model("--set", "the fit goes on from its parameters");
  }
  if (follows_on && is_typed("phase")) {
    throw UsageError(
        "--phase cannot go with --continue, whose data follow on; --init MODEL takes other data");
  }
  Config config;
  try {
    config = config_of(model);
  } catch (const InputError& error) {
    throw InputError(fmt::format("{}: {}", model_name(), error.what()));
  }
  bool has_periods = false;
  for (const auto& [name, text] : typed) {
    if (name == "init") continue;
    if (name == "period" && !std::exchange(has_periods, true)) config.season.periods.clear();
    set_from_text(*find_by_name(config_options(), name), config, text);
  }
  check_run(config);
  return config;
}

Restarts FitOptions::start(const Config& config, const std::optional<Model>& model) const {
  if (!model && config.restarts > 1) return Restarts(config, config.restarts);
  if (!model) return Restarts(config, candidates);
  const Continuation how{.follows_on = !continued.empty(), .forget = forget};
  try {
    return Restarts(Session(*model, config, how));
  } catch (const InputError& error) {
    throw InputError(fmt::format("{}: {}", model_name(), error.what()));
  }
}
