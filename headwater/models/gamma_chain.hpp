#pragma once

namespace headwater {

// One component of an autoregressive gamma chain, x' -> x:
//   h ~ Poisson(beta x'),  x ~ Gamma(shape + h, rate),
// and, with beta 0, of one without memory.
struct GammaChain {
  double shape;
  double rate;
  double beta;
};

}  // namespace headwater
