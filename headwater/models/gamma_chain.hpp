#pragma once

namespace headwater {

// One component of an autoregressive gamma chain, x' -> x:
//   h ~ Poisson(beta x'),  x ~ Gamma(shape + h, rate).
// With beta = 0, the activations are independent.
struct GammaChain {
  double shape;
  double rate;
  double beta;
};

}  // namespace headwater
