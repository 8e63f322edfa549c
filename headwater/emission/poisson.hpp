#pragma once

#include "headwater/cell_law.hpp"

namespace headwater {

// y ~ Poisson(mean), independently for each channel and observation. Real numbers y are allowed,
// with Gamma(y + 1) for y!.
class Poisson {
 public:
  std::string name() const { return "poisson"; }
  double log_density(Index channel, double y, double mean) const;
  double gain(Index, double y, double mean) const { return y > 0 && mean > 0 ? y / mean : 0; }
  double loss(Index, double, double) const { return 1; }
  double information(Index, double mean) const { return mean > 0 ? 1 / mean : 0; }
  VarianceFunction variance(Index) const { return {.linear = 1}; }
  double draw(Index channel, double mean, Generator& generator) const;

  // By vector kernels: work grows with the channels that have counts.
  std::unique_ptr<BlockLaw> in_blocks() const;
};

static_assert(CellLaw<Poisson> && BlockedLaw<Poisson>);

}  // namespace headwater
