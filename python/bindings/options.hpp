#pragma once

#include <nanobind/nanobind.h>

#include "headwater/session/config.hpp"

namespace headwater::python {

// Options by the names that they have in Python. Throw UsageError naming the option if there is
// none of that name, or if its value is of another kind.
Config config_from(const nanobind::dict& options);
EngineConfig engine_config_from(const nanobind::dict& options);
PriorConfig prior_config_from(const std::string& name, const nanobind::dict& parameters,
                              bool per_component);

}  // namespace headwater::python
