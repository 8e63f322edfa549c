// The intensities of channels for the activations of particles. Included once for each instruction
// set (Highway's foreach_target.h), hence this guard instead of #pragma once.
#if defined(HEADWATER_KERNELS_INTENSITIES_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef HEADWATER_KERNELS_INTENSITIES_INL_HPP
#undef HEADWATER_KERNELS_INTENSITIES_INL_HPP
#else
#define HEADWATER_KERNELS_INTENSITIES_INL_HPP
#endif

#include <hwy/highway.h>

#include <cstddef>

#include "headwater/kernels/vectors-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace headwater::HWY_NAMESPACE {

// Loads the activations of consecutive particles: vector u of component k.
struct WholeVectors {
  const double* x;
  std::size_t stride;

  HWY_INLINE V operator()(std::size_t k, std::size_t u) const {
    return hn::LoadU(Doubles(), x + k * stride + u * hn::Lanes(Doubles()));
  }
  HWY_INLINE WholeVectors from(std::size_t u) const {
    return {x + u * hn::Lanes(Doubles()), stride};
  }
};

// Loads the activations of fewer particles than a vector has lanes.
struct PartOfVector {
  const double* x;
  std::size_t stride;
  std::size_t count;

  HWY_INLINE V operator()(std::size_t k, std::size_t /*u*/) const {
    return load_part(Doubles(), x + k * stride, count);
  }
  HWY_INLINE PartOfVector from(std::size_t /*u*/) const { return *this; }
};

// intensities[c][u] = sum_k rows[c K + k] x_k. Computes several channels together, so that
// activations are loaded once for all of them.
template <std::size_t C, std::size_t U, class Activations>
HWY_INLINE void intensities_of(const double* rows, std::size_t num_components,
                               const Activations& activations, V (&intensities)[C][U]) {
  const Doubles d;
  for (std::size_t c = 0; c < C; ++c) {
    const auto coefficient = hn::Set(d, rows[c * num_components]);
    for (std::size_t u = 0; u < U; ++u) {
      intensities[c][u] = hn::Mul(coefficient, activations(0, u));
    }
  }
  for (std::size_t k = 1; k < num_components; ++k) {
    V coefficients[C];
    for (std::size_t c = 0; c < C; ++c) {
      coefficients[c] = hn::Set(d, rows[c * num_components + k]);
    }
    for (std::size_t u = 0; u < U; ++u) {
      const V x = activations(k, u);
      for (std::size_t c = 0; c < C; ++c) {
        intensities[c][u] = hn::MulAdd(coefficients[c], x, intensities[c][u]);
      }
    }
  }
}

}  // namespace headwater::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
