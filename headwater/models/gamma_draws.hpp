#pragma once

#include <span>

#include "headwater/concepts.hpp"
#include "headwater/models/gamma_chain.hpp"

namespace headwater {

// `count` uniform numbers per particle, as uniform_block() draws them. They are stored in a
// thread-local buffer and are valid until the thread's next call, so that a step allocates nothing
// once the buffer is large enough.
States uniform_numbers(const RandomBlock& random, Index num_particles, Index count);

// Draws the transition of component k for a block of particles.
//
// rate x is half of a noncentral chi-square variable with 2 shape degrees of freedom and
// noncentrality 2 beta x'. With at least one degree of freedom this is the sum of (z + sqrt(2 beta
// x'))^2, z normal, and an independent central chi-square variable with the remaining degrees. No
// Poisson count is drawn, and the second part has the same distribution for all particles, which
// suits vectors. With less than one degree of freedom the transition is drawn by its definition,
// particle by particle.
//
// `uniforms` are uniform_numbers(), kGammaMoveNumbers for each component, component after
// component. Those of component k are overwritten.
void move_gammas(const GammaChain& move, Index k, const RandomBlock& random, States uniforms,
                 ConstStates previous, States next);

inline constexpr Index kGammaMoveNumbers = 4;

// Gamma variables of unit rate with these shapes, one per particle. `uniforms` has the numbers of
// all components, as above. Of those of component k, which begin at column `first`, the next
// kGammaNumbers are overwritten. `out` must not overlap them.
void draw_gammas(std::span<const double> shapes, Index k, const RandomBlock& random,
                 States uniforms, Index first, std::span<double> out);

inline constexpr Index kGammaNumbers = 4;

}  // namespace headwater
