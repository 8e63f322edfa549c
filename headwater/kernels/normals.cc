#include "headwater/kernels/normals.hpp"

#include <cassert>
#include <cstddef>
#include <numbers>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "headwater/kernels/normals.cc"
#include <hwy/foreach_target.h>

#include "headwater/kernels/elementary-inl.hpp"
#include "headwater/kernels/vectors-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace headwater::HWY_NAMESPACE {

// Sine of an angle of at most an eighth of a turn in either direction. This and small_cosine() use
// the minimax polynomials of FreeBSD's k_sin.c and k_cos.c.
HWY_INLINE V small_sine(V angle, V square) {
  const Doubles d;
  auto p = hn::Set(d, 1.58969099521155010221e-10);
  p = hn::MulAdd(p, square, hn::Set(d, -2.50507602534068634195e-08));
  p = hn::MulAdd(p, square, hn::Set(d, 2.75573137070700676789e-06));
  p = hn::MulAdd(p, square, hn::Set(d, -1.98412698298579493134e-04));
  p = hn::MulAdd(p, square, hn::Set(d, 8.33333333332248946124e-03));
  p = hn::MulAdd(p, square, hn::Set(d, -1.66666666666666324348e-01));
  return hn::MulAdd(hn::Mul(angle, square), p, angle);
}

HWY_INLINE V small_cosine(V square) {
  const Doubles d;
  auto p = hn::Set(d, -1.13596475577881948265e-11);
  p = hn::MulAdd(p, square, hn::Set(d, 2.08757232129817482790e-09));
  p = hn::MulAdd(p, square, hn::Set(d, -2.75573143513906633035e-07));
  p = hn::MulAdd(p, square, hn::Set(d, 2.48015872894767294178e-05));
  p = hn::MulAdd(p, square, hn::Set(d, -1.38888888888741095749e-03));
  p = hn::MulAdd(p, square, hn::Set(d, 4.16666666666666019037e-02));
  const auto less = hn::NegMulAdd(square, hn::Set(d, 0.5), hn::Set(d, 1.0));
  return hn::MulAdd(hn::Mul(square, square), p, less);
}

// An angle, given as a fraction of a turn in [0, 1], is split into the nearest quarter turn (in the
// low bits of `quarter`) and a remainder, of which this holds sine and cosine. As a fraction of a
// turn the remainder is exact, so the argument reduction loses no digits of pi.
struct Turned {
  hn::Vec<hn::RebindToUnsigned<Doubles>> quarter;
  V sine;
  V cosine;
};

HWY_INLINE Turned turn(V part) {
  const Doubles d;
  const hn::RebindToUnsigned<Doubles> du;
  const auto shift = hn::Set(d, 0x1.8p52);
  const auto shifted = hn::Add(hn::Mul(part, hn::Set(d, 4.0)), shift);
  const auto rest = hn::Sub(part, hn::Mul(hn::Sub(shifted, shift), hn::Set(d, 0.25)));
  const auto angle = hn::Mul(rest, hn::Set(d, 2 * std::numbers::pi));
  const auto square = hn::Mul(angle, angle);
  return {hn::BitCast(du, shifted), small_sine(angle, square), small_cosine(square)};
}

// Selects `odd` or `even` by the last bit of `quarter`; the bit before it sets the sign.
HWY_INLINE V by_quarter(hn::Vec<hn::RebindToUnsigned<Doubles>> quarter, V even, V odd) {
  const Doubles d;
  const hn::RebindToUnsigned<Doubles> du;
  const auto is_odd = hn::TestBit(quarter, hn::Set(du, 1));
  const auto sign = hn::ShiftLeft<62>(hn::And(quarter, hn::Set(du, 2)));
  return hn::Xor(hn::IfThenElse(hn::RebindMask(d, is_odd), odd, even), hn::BitCast(d, sign));
}

// In the four quarters: cos, -sin, -cos, sin.
HWY_INLINE V cosine(const Turned& turned) {
  const hn::RebindToUnsigned<Doubles> du;
  const auto next = hn::Add(turned.quarter, hn::Set(du, 1));
  return by_quarter(next, turned.sine, turned.cosine);
}

// In the four quarters: sin, cos, -sin, -cos.
HWY_INLINE V sine(const Turned& turned) {
  return by_quarter(turned.quarter, turned.sine, turned.cosine);
}

HWY_INLINE V radius(V u) {
  const Doubles d;
  return hn::Sqrt(hn::Mul(log_of_ordinary(d, u), hn::Set(d, -2.0)));
}

void draw_all(const double* u, const double* v, double* out, std::size_t size) {
  map(size, out,
      [=](auto load) HWY_ATTR { return hn::Mul(radius(load(u)), cosine(turn(load(v)))); });
}

void draw_all_pairs(const double* u, const double* v, double* cosines, double* sines,
                    std::size_t size) {
  const Doubles d;
  const std::size_t lanes = hn::Lanes(d);
  for (std::size_t i = 0; i < size; i += lanes) {
    const std::size_t count = HWY_MIN(lanes, size - i);
    const bool is_whole = count == lanes;
    const V r = radius(is_whole ? hn::LoadU(d, u + i) : load_part(d, u + i, count));
    const Turned turned = turn(is_whole ? hn::LoadU(d, v + i) : load_part(d, v + i, count));
    const V first = hn::Mul(r, cosine(turned));
    const V second = hn::Mul(r, sine(turned));
    if (is_whole) {
      hn::StoreU(first, d, cosines + i);
      hn::StoreU(second, d, sines + i);
    } else {
      store_part(d, first, cosines + i, count);
      store_part(d, second, sines + i, count);
    }
  }
}

}  // namespace headwater::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headwater {

HWY_EXPORT(draw_all);
HWY_EXPORT(draw_all_pairs);

void box_muller(std::span<const double> u, std::span<const double> v, std::span<double> out) {
  assert(u.size() == out.size() && v.size() == out.size());
  HWY_DYNAMIC_DISPATCH(draw_all)(u.data(), v.data(), out.data(), out.size());
}

void box_muller_pairs(std::span<const double> u, std::span<const double> v,
                      std::span<double> cosines, std::span<double> sines) {
  assert(u.size() == v.size() && cosines.size() == v.size() && sines.size() == v.size());
  HWY_DYNAMIC_DISPATCH(draw_all_pairs)
  (u.data(), v.data(), cosines.data(), sines.data(), v.size());
}

}  // namespace headwater
#endif
