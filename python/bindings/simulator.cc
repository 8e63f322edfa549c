#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "arrays.hpp"
#include "headwater/conformance.hpp"
#include "headwater/registry.hpp"
#include "headwater/simulate.hpp"
#include "module.hpp"
#include "options.hpp"
#include "python_prior.hpp"

namespace headwater::python {

namespace {

void fill(Simulator& simulator, const RowsOut& observations, const RowsOut& activations) {
  const nb::gil_scoped_release release;
  auto y = as_map(observations);
  auto x = as_map(activations);
  for (Index t = 0; t < y.rows(); ++t) {
    simulator.next();
    y.row(t) = Eigen::Map<const Vector>(simulator.observation().data(), y.cols());
    x.row(t) = Eigen::Map<const Vector>(simulator.activation().data(), x.cols());
  }
}

}  // namespace

void bind_simulator(nb::module_& module) {
  nb::class_<Simulator>(module, "Simulator", "Streams drawn from a model; see headwater.simulate.")
      .def(
          "__init__",
          [](Simulator* at, const nb::object& prior, const nb::dict& parameters, bool per_component,
             const RowsIn& basis, const std::string& counts, std::uint64_t seed) {
            const auto columns = static_cast<Index>(basis.shape(1));
            CountsConfig law;
            law.law = counts;
            law.parameters = law_parameters_from(parameters);
            new (at) Simulator(
                prior_for(prior, columns, parameters, per_component),
                Emission(as_map(basis), make_law(static_cast<Index>(basis.shape(0)), law)), seed);
          },
          nb::arg("prior"), nb::arg("parameters"), nb::arg("per_component"), nb::arg("basis"),
          nb::arg("counts"), nb::arg("seed"))
      .def("fill", fill, nb::arg("observations").noconvert(), nb::arg("activations").noconvert());
  module.def(
      "random_basis",
      [](Index channels, Index components, double scale, std::uint64_t seed) {
        return to_numpy(random_basis(channels, components, scale, seed));
      },
      nb::arg("channels"), nb::arg("components"), nb::arg("scale"), nb::arg("seed"));
  module.def(
      "check_prior",
      [](const nb::object& prior, std::uint64_t seed, double alarm_rate, int num_draws) {
        const AnyPrior wrapped = wrap_prior(prior);
        const nb::gil_scoped_release release;
        return check_prior(wrapped, {seed, alarm_rate, num_draws}).findings;
      },
      nb::arg("prior"), nb::arg("seed"), nb::arg("alarm_rate"), nb::arg("num_draws"));
  module.def("list_priors", [] {
    nb::dict priors;
    for (const PriorInfo& prior : prior_registry()) {
      nb::dict parameters;
      for (const ParameterInfo& parameter : prior.parameters) {
        parameters[parameter.name.c_str()] = parameter.meaning;
      }
      priors[prior.name.c_str()] = nb::make_tuple(prior.meaning, parameters);
    }
    return priors;
  });
}

}  // namespace headwater::python
