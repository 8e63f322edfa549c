#pragma once

#include <nanobind/nanobind.h>

// The parts of module headwater._core. They only convert arguments and results; the library does
// all computations.
namespace headwater::python {

void bind_options(nanobind::module_& module);
void bind_stream(nanobind::module_& module);
void bind_rounds(nanobind::module_& module);
void bind_model(nanobind::module_& module);
void bind_report(nanobind::module_& module);
void bind_simulator(nanobind::module_& module);

}  // namespace headwater::python
