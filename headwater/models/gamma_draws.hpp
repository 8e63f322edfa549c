#pragma once

#include "headwater/models/concepts.hpp"
#include "headwater/models/gamma_chain.hpp"

namespace headwater {

// Moves component k of a block of particles, from one column to another.
//
// rate x is half of a noncentral chi-square variable of 2 shape degrees of freedom and
// noncentrality 2 beta x'. From one degree on that is (z + sqrt(2 beta x'))^2, z normal, and,
// independently, a central one of the other degrees: no count is drawn, and the law of the second
// part is the same for all particles, which suits vectors. With less than one degree, it is drawn
// as defined, one particle after another.
//
// `uniforms` has a row for each particle: the first kGammaMoveNumbers of each component, from
// uniform_block() at the address `random`, all components after each other. Its columns of
// component k are used up.
void move_gammas(const GammaChain& move, Index k, const RandomBlock& random, States uniforms,
                 ConstStates previous, States next);

inline constexpr Index kGammaMoveNumbers = 4;

}  // namespace headwater
