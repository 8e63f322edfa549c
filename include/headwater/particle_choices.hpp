#pragma once

namespace headwater {

// How particles are resampled in proportion to their weights w, which sum to one here. Under each
// scheme, particle i has N w_i copies on average. The schemes differ in the spread of that number:
//   systematic    one uniform number; floor(N w_i) or ceil(N w_i) copies
//   stratified    one for each of N strata; less than two away from N w_i
//   multinomial   N independent draws
//   residual      floor(N w_i) copies, and independent draws for what is left of N
enum class Resampling { kSystematic, kStratified, kMultinomial, kResidual };

// How PaRIS draws the ancestors of a particle.
enum class BackwardDraw {
  kMcmc,       // from the ancestor on, by independent Metropolis steps [DauChopin2023]
  kRejection,  // with the prior's bound; exactly after as many trials as there are particles
  kExact,      // from all the weights
};

}  // namespace headwater
