#pragma once

#include <nanobind/nanobind.h>

// Parts of the module headwater._core. They convert and hand on; what is computed is computed in
// the library.
namespace headwater::python {

void bind_options(nanobind::module_& module);
void bind_stream(nanobind::module_& module);
void bind_model(nanobind::module_& module);
void bind_simulator(nanobind::module_& module);

}  // namespace headwater::python
