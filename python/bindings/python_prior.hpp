#pragma once

#include <nanobind/nanobind.h>

#include "headwater/models/any_prior.hpp"

namespace headwater::python {

// A prior that is written in Python, as the library knows priors. What it can be used for follows
// from the methods that the object has; see headwater.Prior in Python. Needs the GIL; the prior
// that is returned does not: it takes the GIL for each call, and copies of it share nothing that
// changes.
AnyPrior wrap_prior(nanobind::object prior);

// One of ours by its name, with parameters that start elsewhere than at their defaults, or one in
// Python.
AnyPrior prior_for(const nanobind::object& prior, Index num_components,
                   const nanobind::dict& parameters, bool per_component);

// Random numbers for a block of particles, handed to a prior's sample functions. Each particle has
// numbers of its own, so that threads change no bit.
void bind_particle_random(nanobind::module_& module);

}  // namespace headwater::python
