#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <span>

#include "headwater/matrix.hpp"

namespace headwater {

// Activations per tile: they stay in the L1 cache while all channels pass over them.
inline constexpr std::size_t kActivationTile = 256;

// Some weighted activations, component by component, `stride` numbers apart.
struct ActivationTile {
  const double* x;
  std::size_t stride;
  std::size_t size;
  std::size_t num_components;
  const double* weights;
};

// Cuts the rows of x and their weights into tiles.
template <class Visit>
void for_each_tile(const Eigen::Ref<const Matrix>& x, std::span<const double> weights,
                   const Visit& visit) {
  assert(static_cast<Index>(weights.size()) == x.rows());
  for (std::size_t first = 0; first < weights.size(); first += kActivationTile) {
    visit(ActivationTile{x.data() + first, static_cast<std::size_t>(x.outerStride()),
                         std::min(kActivationTile, weights.size() - first),
                         static_cast<std::size_t>(x.cols()), weights.data() + first});
  }
}

}  // namespace headwater
