#pragma once

#include <nanobind/nanobind.h>

#include "headwater/any_prior.hpp"

namespace headwater::python {

// Wraps a prior written in Python as a prior of the library. The methods that the object has
// determine what it can be used for; see headwater.Prior in Python. The caller must hold the GIL.
// The returned prior acquires the GIL for each call, and its copies share no mutable state.
AnyPrior wrap_prior(nanobind::object prior);

// A built-in prior by its name, with the given starting values of its parameters, or a prior
// written in Python.
AnyPrior prior_for(const nanobind::object& prior, Index num_components,
                   const nanobind::dict& parameters, bool per_component);

// Random numbers for a block of particles, passed to a prior's sample functions. Every particle has
// its own numbers, so the number of threads changes no bit.
void bind_particle_random(nanobind::module_& module);

}  // namespace headwater::python
