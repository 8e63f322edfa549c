#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "headwater/any_law.hpp"
#include "headwater/any_prior.hpp"
#include "headwater/config.hpp"
#include "headwater/export.hpp"

namespace headwater {

struct ParameterInfo {
  std::string name;
  std::string meaning;
  bool is_table = false;  // given as a file, not as numbers
};

// A prior that can be asked for by name.
struct PriorInfo {
  std::string name;
  std::string meaning;
  std::vector<ParameterInfo> parameters;
  AnyPrior (*make)(Index num_components, const PriorConfig& config);
};

// All priors that can be asked for by name.
HEADWATER_EXPORT const std::vector<PriorInfo>& prior_registry();

// Both throw UsageError for an unknown name.
HEADWATER_EXPORT const PriorInfo& find_prior(std::string_view name);
HEADWATER_EXPORT const ParameterInfo& find_parameter_info(const PriorInfo& prior,
                                                          std::string_view name);

// The prior that a config asks for.
HEADWATER_EXPORT AnyPrior make_prior(Index num_components, const PriorConfig& config);

// Those that prior 'auto' chooses from, by name; the first one is used until there is a choice.
HEADWATER_EXPORT const std::vector<std::string>& priors_of_auto();
// The prior that a config asks for, or with 'auto' all that are to choose from.
HEADWATER_EXPORT std::vector<AnyPrior> make_priors(Index num_components, const PriorConfig& config);
// Throws UsageError: a parameter of some priors cannot be given where the prior is to be chosen.
[[noreturn]] HEADWATER_EXPORT void refuse_with_auto_prior(const std::string& parameter);

// A law of the counts by its name, with the parameters of the config. Throws UsageError for an
// unknown name or parameter, and for 'auto', which is no law.
HEADWATER_EXPORT AnyLaw make_law(Index num_channels, const CountsConfig& config);

}  // namespace headwater
