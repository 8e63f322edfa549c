#include "module.hpp"

#include <nanobind/stl/string.h>

#include "headwater/error.hpp"
#include "headwater/model.hpp"
#include "python_prior.hpp"

NB_MODULE(_core, module) {
  module.doc() = "The C++ library behind headwater; use the package, which has the same by name.";
  nanobind::exception<headwater::InputError>(module, "InputError", PyExc_ValueError);
  nanobind::exception<headwater::UsageError>(module, "UsageError", PyExc_ValueError);
  module.def("version", headwater::version);
  headwater::python::bind_options(module);
  headwater::python::bind_particle_random(module);
  headwater::python::bind_model(module);
  headwater::python::bind_report(module);
  headwater::python::bind_stream(module);
  headwater::python::bind_rounds(module);
  headwater::python::bind_simulator(module);
}
