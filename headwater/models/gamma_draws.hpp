#pragma once

#include <span>

#include "headwater/models/concepts.hpp"
#include "headwater/models/gamma_chain.hpp"

namespace headwater {

// Uniform numbers, so many a particle, from uniform_block() at that address. They are this thread's
// until it asks again, so that a stream in its steady state allocates nothing.
States uniform_numbers(const RandomBlock& random, Index num_particles, Index count);

// Moves component k of a block of particles, from one column to another.
//
// rate x is half of a noncentral chi-square variable of 2 shape degrees of freedom and
// noncentrality 2 beta x'. From one degree on that is (z + sqrt(2 beta x'))^2, z normal, and,
// independently, a central one of the other degrees: no count is drawn, and the law of the second
// part is the same for all particles, which suits vectors. With less than one degree, it is drawn
// as defined, one particle after another.
//
// `uniforms` are uniform_numbers(), kGammaMoveNumbers of each component, all components after each
// other. Those of component k are used up.
void move_gammas(const GammaChain& move, Index k, const RandomBlock& random, States uniforms,
                 ConstStates previous, States next);

inline constexpr Index kGammaMoveNumbers = 4;

// Gamma variables of unit rate, one a particle, with these shapes. `uniforms` has the numbers of
// all components, as above; of those of component k, which begin with column `first`, the next
// kGammaNumbers are used up. `out` may not be among them.
void draw_gammas(std::span<const double> shapes, Index k, const RandomBlock& random,
                 States uniforms, Index first, std::span<double> out);

inline constexpr Index kGammaNumbers = 4;

}  // namespace headwater
