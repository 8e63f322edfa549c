#pragma once

#include <nanobind/nanobind.h>

#include "headwater/config.hpp"

namespace headwater::python {

// Converts options by their Python names. Throws a UsageError that names the option if it is
// unknown or if its value has the wrong type.
Config config_from(const nanobind::dict& options);
// Sets those options that are given.
void change_config(const nanobind::dict& options, Config& config);
EngineConfig engine_config_from(const nanobind::dict& options);
PriorConfig prior_config_from(const std::string& name, const nanobind::dict& parameters,
                              bool per_component);
// The parameters of the law of the counts among them.
Parameters law_parameters_from(const nanobind::dict& parameters);

}  // namespace headwater::python
