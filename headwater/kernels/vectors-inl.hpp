// Loops over arrays of doubles, shared by the kernels. Included once for each instruction set
// (Highway's foreach_target.h), hence this guard instead of #pragma once.
#if defined(HEADWATER_KERNELS_VECTORS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef HEADWATER_KERNELS_VECTORS_INL_HPP
#undef HEADWATER_KERNELS_VECTORS_INL_HPP
#else
#define HEADWATER_KERNELS_VECTORS_INL_HPP
#endif

#include <hwy/highway.h>

#include <cstddef>

HWY_BEFORE_NAMESPACE();
namespace headwater::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Doubles = hn::ScalableTag<double>;
using V = hn::Vec<Doubles>;

// Loads `count` numbers into the first lanes and sets the others to `rest`. By a buffer where
// masked loads also read the masked-out addresses.
template <class D>
HWY_INLINE hn::Vec<D> load_part(D d, const double* from, std::size_t count, double rest = 0) {
#if HWY_MEM_OPS_MIGHT_FAULT
  HWY_ALIGN double buffer[hn::MaxLanes(D())];
  hn::Store(hn::Set(d, rest), d, buffer);
  for (std::size_t i = 0; i < count; ++i) buffer[i] = from[i];
  return hn::Load(d, buffer);
#else
  const auto is_wanted = hn::FirstN(d, count);
  return hn::IfThenElse(is_wanted, hn::MaskedLoad(is_wanted, d, from), hn::Set(d, rest));
#endif
}

template <class D>
HWY_INLINE void store_part(D d, hn::Vec<D> values, double* to, std::size_t count) {
#if HWY_MEM_OPS_MIGHT_FAULT
  HWY_ALIGN double buffer[hn::MaxLanes(D())];
  hn::Store(values, d, buffer);
  for (std::size_t i = 0; i < count; ++i) to[i] = buffer[i];
#else
  hn::BlendedStore(values, hn::FirstN(d, count), d, to);
#endif
}

// Sets out[0 .. size) vector by vector. function(load) computes one vector of results; load(run)
// returns the vector at the same position of the array `run`. `run` may be `out` itself.
template <class Function>
HWY_INLINE void map(std::size_t size, double* out, const Function& function) {
  const Doubles d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + 2 * lanes <= size; i += 2 * lanes) {
    const auto a = function([=](const double* run) HWY_ATTR { return hn::LoadU(d, run + i); });
    const auto b =
        function([=](const double* run) HWY_ATTR { return hn::LoadU(d, run + i + lanes); });
    hn::StoreU(a, d, out + i);
    hn::StoreU(b, d, out + i + lanes);
  }
  for (; i < size; i += lanes) {
    const std::size_t count = HWY_MIN(lanes, size - i);
    const auto load = [=](const double* run) HWY_ATTR { return load_part(d, run + i, count); };
    store_part(d, function(load), out + i, count);
  }
}

}  // namespace headwater::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
