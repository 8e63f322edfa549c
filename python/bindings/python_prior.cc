#include "python_prior.hpp"

#include <fmt/format.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>

#include <memory>

#include "arrays.hpp"
#include "headwater/error.hpp"
#include "headwater/registry.hpp"
#include "options.hpp"
#include "particle_random.hpp"

namespace headwater::python {

namespace {

bool has(nb::handle object, const char* name) { return nb::hasattr(object, name); }

// A Python object that a thread may release without holding the GIL.
std::shared_ptr<const nb::object> share(nb::object object) {
  return {new nb::object(std::move(object)), [](const nb::object* owned) {
            const nb::gil_scoped_acquire gil;
            delete owned;
          }};
}

// The common part of all kinds of priors. Copies share the Python object until one of them changes;
// that one first makes a deep copy.
class Wrapped {
 public:
  explicit Wrapped(nb::object prior) {
    name_ = has(prior, "name") ? nb::cast<std::string>(prior.attr("name"))
                               : nb::cast<std::string>(prior.type().attr("__name__"));
    num_components_ = whole_number(prior, "num_components");
    object_ = share(std::move(prior));
  }

  std::string name() const { return name_; }
  Index num_components() const { return num_components_; }

 protected:
  Index whole_number(nb::handle prior, const char* what) const {
    if (!has(prior, what)) {
      throw UsageError(fmt::format("prior '{}' lacks {}, a whole number", name_, what));
    }
    try {
      return nb::cast<Index>(prior.attr(what));
    } catch (const nb::cast_error&) {
      throw UsageError(fmt::format("prior '{}': {} is not a whole number", name_, what));
    }
  }

  nb::object method(const char* what) const { return object_->attr(what); }

  void own() {
    if (object_.use_count() == 1) return;
    object_ = share(nb::module_::import_("copy").attr("deepcopy")(*object_));
  }

  // Converts a method's return value to an array of doubles, rows x columns.
  RowMatrix table(const nb::object& returned, const char* what, Index rows, Index columns) const {
    const nb::object array =
        nb::module_::import_("numpy").attr("ascontiguousarray")(returned, nb::str("float64"));
    RowsIn found;
    if (nb::cast<int>(array.attr("ndim")) == 2) found = nb::cast<RowsIn>(array);
    const bool fits = found.is_valid() && static_cast<Index>(found.shape(0)) == rows &&
                      (columns < 0 || static_cast<Index>(found.shape(1)) == columns);
    if (!fits) {
      throw UsageError(
          fmt::format("prior '{}': {} returned an array of shape {}; expected ({}, {})", name_,
                      what, nb::cast<std::string>(nb::repr(array.attr("shape"))), rows,
                      columns < 0 ? "any" : std::to_string(columns)));
    }
    return as_map(found);
  }

  Vector vector(const nb::object& returned, const char* what, Index size) const {
    const nb::object array =
        nb::module_::import_("numpy").attr("ascontiguousarray")(returned, nb::str("float64"));
    const bool fits =
        nb::cast<int>(array.attr("ndim")) == 1 && nb::cast<Index>(array.attr("size")) == size;
    if (!fits) {
      throw UsageError(fmt::format("prior '{}': {} returned an array of shape {}; expected ({},)",
                                   name_, what,
                                   nb::cast<std::string>(nb::repr(array.attr("shape"))), size));
    }
    const auto found = nb::cast<RowIn>(array);
    return Eigen::Map<const Vector>(found.data(), size);
  }

  std::shared_ptr<const nb::object> object_;

 private:
  std::string name_ = "?";
  Index num_components_ = 0;
};

// Rows are paired; a single row is paired with every row of the other block.
RowMatrix repeated(ConstStates states, Index rows) {
  if (states.rows() == rows) return states;
  return states.replicate(rows, 1);
}

// A prior with arbitrary states, for particles.
class Sampled : public Wrapped {
 public:
  explicit Sampled(nb::object prior)
      : Wrapped(prior), state_size_(whole_number(prior, "state_size")) {}

  Index state_size() const { return state_size_; }

  void sample_initial(const RandomBlock& random, States next) const {
    const nb::gil_scoped_acquire gil;
    next = table(method("sample_initial")(numbers(random, next.rows()), next.rows()),
                 "sample_initial", next.rows(), state_size_);
  }
  void sample_transition(const RandomBlock& random, ConstStates previous, States next) const {
    const nb::gil_scoped_acquire gil;
    next = table(method("sample_transition")(numbers(random, next.rows()), to_numpy(previous)),
                 "sample_transition", next.rows(), state_size_);
  }
  void activations(ConstStates states, Eigen::Ref<Matrix> x) const {
    const nb::gil_scoped_acquire gil;
    x = table(method("activations")(to_numpy(states)), "activations", x.rows(), num_components());
  }

 protected:
  nb::object ask_density(ConstStates previous, ConstStates next, Index size) const {
    return method("log_transition")(to_numpy(repeated(previous, size)),
                                    to_numpy(repeated(next, size)));
  }

  void add_statistics_of(ConstStates previous, ConstStates next,
                         const Eigen::Ref<const Vector>& weights, std::span<double> out) const {
    const nb::gil_scoped_acquire gil;
    const Index n = weights.size();
    const RowMatrix each =
        table(method("statistics")(to_numpy(repeated(previous, n)), to_numpy(repeated(next, n))),
              "statistics", n, static_cast<Index>(out.size()));
    Eigen::Map<Vector>(out.data(), static_cast<Index>(out.size())) += each.transpose() * weights;
  }

 private:
  static nb::object numbers(const RandomBlock& random, Index size) {
    return nb::cast(std::make_unique<ParticleRandom>(random, size));
  }

  Index state_size_;
};

// A prior with finitely many states, described by axes.
class Finite : public Wrapped {
 public:
  explicit Finite(nb::object prior) : Wrapped(std::move(prior)) {}

  FiniteChain finite_chain() const {
    const nb::gil_scoped_acquire gil;
    FiniteChain chain;
    for (const nb::handle axis : method("finite_chain")()) chain.axes.push_back(axis_from(axis));
    return chain;
  }

 private:
  // Converts a pair (states, transition); the chain starts in its stationary distribution.
  FiniteAxis axis_from(nb::handle given) const {
    const nb::object transition = nb::borrow(given[1]);
    const auto size = static_cast<Index>(nb::len(transition));
    FiniteAxis axis;
    axis.states = table(nb::borrow(given[0]), "finite_chain (states)", size, -1);
    axis.transition = table(transition, "finite_chain (transition)", size, size);
    axis.initial = stationary_law(axis.transition);
    return axis;
  }
};

// Adds learnable parameters to Base.
template <class Base>
class Learnable : public Base {
 public:
  using Base::Base;

  Parameters parameters() const {
    const nb::gil_scoped_acquire gil;
    Parameters parameters;
    const nb::dict given = nb::cast<nb::dict>(this->method("parameters")());
    const nb::object reshape = nb::module_::import_("numpy").attr("reshape");
    for (const auto& [name, value] : given) {
      const nb::object column = reshape(value, nb::make_tuple(-1, 1));
      parameters.push_back(
          {nb::cast<std::string>(name),
           this->table(column, "parameters", nb::cast<Index>(column.attr("size")), 1)});
    }
    return parameters;
  }
  void set_parameter(const Parameter& parameter) {
    const nb::gil_scoped_acquire gil;
    this->own();
    const nb::dict value = to_dict({parameter});
    try {
      this->method("set_parameter")(parameter.name, value[parameter.name.c_str()]);
    } catch (nb::python_error& error) {
      // A prior may raise only these to refuse a value.
      if (!error.matches(PyExc_ValueError) && !error.matches(PyExc_KeyError)) throw;
      throw UsageError(fmt::format("prior '{}': {}", this->name(),
                                   nb::cast<std::string>(nb::str(error.value()))));
    }
  }
  void maximise(std::span<const double> statistics) {
    const nb::gil_scoped_acquire gil;
    this->own();
    this->method("maximise")(vector_to_numpy(
        Eigen::Map<const Vector>(statistics.data(), static_cast<Index>(statistics.size()))));
  }
};

class LearnableSampled : public Learnable<Sampled> {
 public:
  explicit LearnableSampled(nb::object prior)
      : Learnable(prior), num_statistics_(whole_number(prior, "num_statistics")) {}
  Index num_statistics() const { return num_statistics_; }
  void add_statistics(ConstStates previous, ConstStates next,
                      const Eigen::Ref<const Vector>& weights, std::span<double> out) const {
    add_statistics_of(previous, next, weights, out);
  }

 private:
  Index num_statistics_;
};

// Adds a transition density to Base.
template <class Base>
class Dense : public Base {
 public:
  using Base::Base;
  void log_transition(ConstStates previous, ConstStates next, Eigen::Ref<Vector> out) const {
    const nb::gil_scoped_acquire gil;
    out = this->vector(this->ask_density(previous, next, out.size()), "log_transition", out.size());
  }
};

void check_methods(nb::handle prior, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    if (has(prior, name)) continue;
    throw UsageError(fmt::format("the prior lacks a method: {}", name));
  }
}

}  // namespace

AnyPrior wrap_prior(nb::object prior) {
  const bool learns = has(prior, "parameters");
  if (learns) check_methods(prior, {"set_parameter", "maximise"});
  if (has(prior, "finite_chain")) {
    return learns ? AnyPrior(Learnable<Finite>(prior)) : AnyPrior(Finite(prior));
  }
  check_methods(prior, {"sample_initial", "sample_transition", "activations"});
  if (learns) check_methods(prior, {"statistics"});
  if (has(prior, "log_transition")) {
    return learns ? AnyPrior(Dense<LearnableSampled>(prior)) : AnyPrior(Dense<Sampled>(prior));
  }
  return learns ? AnyPrior(LearnableSampled(prior)) : AnyPrior(Sampled(prior));
}

AnyPrior prior_for(const nb::object& prior, Index num_components, const nb::dict& parameters,
                   bool per_component) {
  if (!nb::isinstance<nb::str>(prior)) return wrap_prior(prior);
  return make_prior(num_components,
                    prior_config_from(nb::cast<std::string>(prior), parameters, per_component));
}

void bind_particle_random(nb::module_& module) {
  nb::class_<ParticleRandom>(module, "ParticleRandom",
                             "Random numbers for a block of particles, each with its own.")
      .def("__len__", &ParticleRandom::size)
      .def("uniform", &ParticleRandom::uniform, nb::arg("columns"),
           "n x columns numbers strictly inside (0, 1).")
      .def("normal", &ParticleRandom::normal, nb::arg("columns"), "Mean 0, variance 1.")
      .def("exponential", &ParticleRandom::exponential, nb::arg("columns"), "Rate 1.")
      .def("gamma", &ParticleRandom::gamma, nb::arg("shape"),
           "Rate 1; one draw for each entry of the n x columns array of shapes.")
      .def("poisson", &ParticleRandom::poisson, nb::arg("mean"),
           "One draw for each entry of the n x columns array of means.");
}

}  // namespace headwater::python
