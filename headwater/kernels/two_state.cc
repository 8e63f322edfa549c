#include "headwater/kernels/two_state.hpp"

#include <cstddef>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "headwater/kernels/two_state.cc"
#include <hwy/foreach_target.h>

#include "headwater/kernels/vectors-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace headwater::HWY_NAMESPACE {

// Exchanges the two runs in each group of 2 kInner lanes.
template <std::size_t kInner>
HWY_INLINE V exchange_runs(V pairs) {
  const Doubles d;
  if constexpr (kInner == 1) {
    return hn::Reverse2(d, pairs);
  } else if constexpr (kInner == 2) {
    return hn::Reverse2(d, hn::Reverse4(d, pairs));
  } else {
    static_assert(kInner == 4);
    return hn::Reverse4(d, hn::Reverse8(d, pairs));
  }
}

// For a vector of complete pairs of runs: 1 in lanes whose axis is off, 0 in the others.
template <std::size_t kInner>
struct OffLanes {
  HWY_ALIGN double ones[hn::MaxLanes(Doubles())] = {};

  constexpr OffLanes() {
    for (std::size_t i = 0; i < hn::MaxLanes(Doubles()); ++i) ones[i] = i / kInner % 2 == 0 ? 1 : 0;
  }
};

// A vector with `off` in lanes whose axis is off and `on` in the others.
template <std::size_t kInner>
HWY_INLINE V alternating(V off, V on) {
  static constexpr OffLanes<kInner> kOffLanes;
  const Doubles d;
  return hn::IfThenElse(hn::Gt(hn::Load(d, kOffLanes.ones), hn::Zero(d)), off, on);
}

// For runs so short that a vector holds whole pairs of them.
template <std::size_t kInner>
HWY_INLINE void apply_to_short_runs(const std::array<double, 4>& m, double* values,
                                    std::size_t size) {
  const Doubles d;
  const std::size_t lanes = hn::Lanes(d);
  const V same = alternating<kInner>(hn::Set(d, m[0]), hn::Set(d, m[3]));
  const V other = alternating<kInner>(hn::Set(d, m[1]), hn::Set(d, m[2]));
  const auto apply = [=](V pairs) HWY_ATTR {
    return hn::MulAdd(pairs, same, hn::Mul(exchange_runs<kInner>(pairs), other));
  };
  std::size_t i = 0;
  for (; i + lanes <= size; i += lanes) {
    hn::StoreU(apply(hn::LoadU(d, values + i)), d, values + i);
  }
  if (i == size) return;
  store_part(d, apply(load_part(d, values + i, size - i)), values + i, size - i);
}

HWY_INLINE void apply_to_run(const std::array<double, 4>& m, double* off, double* on,
                             std::size_t inner) {
  const Doubles d;
  const std::size_t lanes = hn::Lanes(d);
  const V m00 = hn::Set(d, m[0]);
  const V m01 = hn::Set(d, m[1]);
  const V m10 = hn::Set(d, m[2]);
  const V m11 = hn::Set(d, m[3]);
  std::size_t i = 0;
  for (; i + lanes <= inner; i += lanes) {
    const V a = hn::LoadU(d, off + i);
    const V b = hn::LoadU(d, on + i);
    hn::StoreU(hn::MulAdd(m00, a, hn::Mul(m01, b)), d, off + i);
    hn::StoreU(hn::MulAdd(m10, a, hn::Mul(m11, b)), d, on + i);
  }
  for (; i < inner; ++i) {
    const double a = off[i];
    const double b = on[i];
    off[i] = m[0] * a + m[1] * b;
    on[i] = m[2] * a + m[3] * b;
  }
}

void apply_to_all(const std::array<double, 4>& m, double* values, std::size_t outer,
                  std::size_t inner) {
  constexpr std::size_t kLanes = hn::MaxLanes(Doubles());
  const std::size_t size = 2 * inner * outer;
  if constexpr (kLanes >= 2) {
    if (inner == 1) return apply_to_short_runs<1>(m, values, size);
  }
  if constexpr (kLanes >= 4) {
    if (inner == 2) return apply_to_short_runs<2>(m, values, size);
  }
  if constexpr (kLanes >= 8) {
    if (inner == 4) return apply_to_short_runs<4>(m, values, size);
  }
  for (std::size_t o = 0; o < outer; ++o, values += 2 * inner) {
    apply_to_run(m, values, values + inner, inner);
  }
}

void apply_axes(std::span<const std::array<double, 4>> axes, std::span<double> values,
                std::size_t inner, bool descends) {
  for (const std::array<double, 4>& m : axes) {
    apply_to_all(m, values.data(), values.size() / (2 * inner), inner);
    inner = descends ? inner / 2 : 2 * inner;
  }
}

template <std::size_t kInner>
HWY_INLINE std::array<double, 4> products_of_short_runs(const double* law, const double* values,
                                                        std::size_t size) {
  const Doubles d;
  const std::size_t lanes = hn::Lanes(d);
  V same = hn::Zero(d);
  V other = hn::Zero(d);
  const auto add = [&](V from, V to) HWY_ATTR {
    same = hn::MulAdd(from, to, same);
    other = hn::MulAdd(from, exchange_runs<kInner>(to), other);
  };
  std::size_t i = 0;
  for (; i + lanes <= size; i += lanes) add(hn::LoadU(d, law + i), hn::LoadU(d, values + i));
  if (i < size) add(load_part(d, law + i, size - i), load_part(d, values + i, size - i));
  HWY_ALIGN double sames[hn::MaxLanes(Doubles())];
  HWY_ALIGN double others[hn::MaxLanes(Doubles())];
  hn::Store(same, d, sames);
  hn::Store(other, d, others);
  std::array<double, 4> sums = {0, 0, 0, 0};
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    const bool is_on = lane / kInner % 2 != 0;
    sums[is_on ? 3 : 0] += sames[lane];
    sums[is_on ? 2 : 1] += others[lane];
  }
  return sums;
}

HWY_INLINE std::array<double, 4> products_of_runs(const double* law, const double* values,
                                                  std::size_t outer, std::size_t inner) {
  const Doubles d;
  const std::size_t lanes = hn::Lanes(d);
  V vectors[4] = {hn::Zero(d), hn::Zero(d), hn::Zero(d), hn::Zero(d)};
  std::array<double, 4> sums = {0, 0, 0, 0};
  for (std::size_t o = 0; o < outer; ++o, law += 2 * inner, values += 2 * inner) {
    std::size_t i = 0;
    for (; i + lanes <= inner; i += lanes) {
      const V off = hn::LoadU(d, law + i);
      const V on = hn::LoadU(d, law + inner + i);
      const V to_off = hn::LoadU(d, values + i);
      const V to_on = hn::LoadU(d, values + inner + i);
      vectors[0] = hn::MulAdd(off, to_off, vectors[0]);
      vectors[1] = hn::MulAdd(off, to_on, vectors[1]);
      vectors[2] = hn::MulAdd(on, to_off, vectors[2]);
      vectors[3] = hn::MulAdd(on, to_on, vectors[3]);
    }
    for (; i < inner; ++i) {
      sums[0] += law[i] * values[i];
      sums[1] += law[i] * values[inner + i];
      sums[2] += law[inner + i] * values[i];
      sums[3] += law[inner + i] * values[inner + i];
    }
  }
  for (std::size_t s = 0; s < 4; ++s) sums[s] += hn::GetLane(hn::SumOfLanes(d, vectors[s]));
  return sums;
}

std::array<double, 4> products_of_all(const double* law, const double* values, std::size_t outer,
                                      std::size_t inner) {
  constexpr std::size_t kLanes = hn::MaxLanes(Doubles());
  const std::size_t size = 2 * inner * outer;
  if constexpr (kLanes >= 2) {
    if (inner == 1) return products_of_short_runs<1>(law, values, size);
  }
  if constexpr (kLanes >= 4) {
    if (inner == 2) return products_of_short_runs<2>(law, values, size);
  }
  if constexpr (kLanes >= 8) {
    if (inner == 4) return products_of_short_runs<4>(law, values, size);
  }
  return products_of_runs(law, values, outer, inner);
}

}  // namespace headwater::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headwater {

HWY_EXPORT(apply_to_all);
HWY_EXPORT(apply_axes);
HWY_EXPORT(products_of_all);

void apply_two_state(const std::array<double, 4>& m, double* values, Index outer, Index inner) {
  HWY_DYNAMIC_DISPATCH(apply_to_all)
  (m, values, static_cast<std::size_t>(outer), static_cast<std::size_t>(inner));
}

void apply_two_states(std::span<const std::array<double, 4>> axes, std::span<double> values,
                      Index inner, bool descends) {
  HWY_DYNAMIC_DISPATCH(apply_axes)(axes, values, static_cast<std::size_t>(inner), descends);
}

std::array<double, 4> two_state_products(const double* law, const double* values, Index outer,
                                         Index inner) {
  return HWY_DYNAMIC_DISPATCH(products_of_all)(law, values, static_cast<std::size_t>(outer),
                                               static_cast<std::size_t>(inner));
}

}  // namespace headwater
#endif
