// Logarithm and exponential of vectors of doubles, for use inside kernels. Included once for each
// instruction set (Highway's foreach_target.h), hence this guard instead of #pragma once.
#if defined(HEADWATER_KERNELS_ELEMENTARY_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef HEADWATER_KERNELS_ELEMENTARY_INL_HPP
#undef HEADWATER_KERNELS_ELEMENTARY_INL_HPP
#else
#define HEADWATER_KERNELS_ELEMENTARY_INL_HPP
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>
#include <limits>

HWY_BEFORE_NAMESPACE();
namespace headwater::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// ln 2 as a sum of two parts. The first part has so few bits that its product with an exponent is
// exact.
inline constexpr double kLn2High = 0x1.62e42feep-1;
inline constexpr double kLn2Low = 0x1.a39ef35793c76p-33;

// Whether x is ordinary: normal, positive and finite. After this addition, the bits of ordinary
// numbers, and only those, are at least 2 << 52 as signed integers; the largest double becomes the
// largest integer.
template <class D>
HWY_INLINE hn::Mask<D> is_ordinary(D d, hn::Vec<D> x) {
  const hn::RebindToSigned<D> di;
  const auto moved = hn::Add(hn::BitCast(di, x), hn::Set(di, 0x0010000000000000));
  return hn::RebindMask(d, hn::Gt(moved, hn::Set(di, 0x001FFFFFFFFFFFFF)));
}

// Splits an ordinary x into 2^(exponent - 1023) mantissa, with the mantissa in [sqrt(1/2),
// sqrt(2)).
template <class D>
struct Split {
  hn::Vec<D> mantissa;
  hn::Vec<hn::RebindToUnsigned<D>> exponent;
};

template <class D>
HWY_INLINE Split<D> split(D d, hn::Vec<D> x) {
  constexpr std::uint64_t kOneBits = 0x3FF0000000000000;
  constexpr std::uint64_t kSqrtHalfBits = 0x3FE6A09E00000000;
  const hn::RebindToUnsigned<D> du;
  // Carries into the exponent exactly if the fraction is at least that of sqrt(2).
  const auto shifted = hn::Add(hn::BitCast(du, x), hn::Set(du, kOneBits - kSqrtHalfBits));
  const auto fraction = hn::And(shifted, hn::Set(du, 0x000FFFFFFFFFFFFF));
  return {hn::BitCast(d, hn::Add(fraction, hn::Set(du, kSqrtHalfBits))),
          hn::ShiftRight<52>(shifted)};
}

// Converts an integer below 2^52 to a double and subtracts `bias`: the integer becomes the low bits
// of 2^52, and then 2^52 + bias is subtracted.
template <class D, class VU>
HWY_INLINE hn::Vec<D> whole_to_double(D d, VU whole, double bias) {
  constexpr std::uint64_t kTwo52Bits = 0x4330000000000000;
  const hn::RebindToUnsigned<D> du;
  const auto above = hn::BitCast(d, hn::Or(whole, hn::Set(du, kTwo52Bits)));
  return hn::Sub(above, hn::Set(d, 0x1p52 + bias));
}

// e ln 2 + log(1 + f) for 1 + f = mantissa. With s = f / (2 + f),
//   log(1 + f) = f - (f^2 / 2 - s (f^2 / 2 + R(s^2))),
// where R is the minimax polynomial of FreeBSD's e_log.c, evaluated in two independent chains.
template <class D>
HWY_INLINE hn::Vec<D> log_of_parts(D d, hn::Vec<D> mantissa, hn::Vec<D> e) {
  const auto f = hn::Sub(mantissa, hn::Set(d, 1.0));
  const auto s = hn::Div(f, hn::Add(f, hn::Set(d, 2.0)));
  const auto z = hn::Mul(s, s);
  const auto w = hn::Mul(z, z);
  auto even = hn::Set(d, 1.531383769920937332e-01);
  even = hn::MulAdd(even, w, hn::Set(d, 2.222219843214978396e-01));
  even = hn::MulAdd(even, w, hn::Set(d, 3.999999999940941908e-01));
  auto odd = hn::Set(d, 1.479819860511658591e-01);
  odd = hn::MulAdd(odd, w, hn::Set(d, 1.818357216161805012e-01));
  odd = hn::MulAdd(odd, w, hn::Set(d, 2.857142874366239149e-01));
  odd = hn::MulAdd(odd, w, hn::Set(d, 6.666666666666735130e-01));
  const auto half_square = hn::Mul(hn::Mul(f, hn::Set(d, 0.5)), f);
  const auto sum = hn::MulAdd(even, w, hn::MulAdd(odd, z, half_square));
  const auto small = hn::MulAdd(s, sum, hn::Mul(e, hn::Set(d, kLn2Low)));
  return hn::MulAdd(e, hn::Set(d, kLn2High), hn::Sub(f, hn::Sub(half_square, small)));
}

// log x for ordinary x, within 1 ulp.
template <class D>
HWY_INLINE hn::Vec<D> log_of_ordinary(D d, hn::Vec<D> x) {
  const Split<D> parts = split(d, x);
  return log_of_parts(d, parts.mantissa, whole_to_double(d, parts.exponent, 1023));
}

// log x for any x: -infinity for 0, NaN for negative numbers, infinity for infinity, and otherwise
// as log_of_ordinary().
template <class D>
HWY_INLINE hn::Vec<D> log_of(D d, hn::Vec<D> x) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const auto is_small = hn::Lt(x, hn::Set(d, std::numeric_limits<double>::min()));
  const Split<D> parts = split(d, hn::IfThenElse(is_small, hn::Mul(x, hn::Set(d, 0x1p54)), x));
  const auto scale = hn::IfThenElseZero(is_small, hn::Set(d, 54.0));
  const auto e = hn::Sub(whole_to_double(d, parts.exponent, 1023), scale);
  auto log = log_of_parts(d, parts.mantissa, e);
  log = hn::IfThenElse(hn::Eq(x, hn::Zero(d)), hn::Set(d, -kInfinity), log);
  log = hn::IfThenElse(hn::Lt(x, hn::Zero(d)), hn::NaN(d), log);
  return hn::IfThenElse(hn::Lt(x, hn::Set(d, kInfinity)), log, x);
}

// Logarithms of several independent vectors, which hide each other's latency. Numbers that are not
// ordinary are rare, so they are handled only if there are any.
template <class D, std::size_t U>
HWY_INLINE void take_logs(D d, hn::Vec<D> (&x)[U]) {
  auto ordinary = is_ordinary(d, x[0]);
  for (std::size_t u = 1; u < U; ++u) ordinary = hn::And(ordinary, is_ordinary(d, x[u]));
  if (HWY_LIKELY(hn::AllTrue(d, ordinary))) {
    for (std::size_t u = 0; u < U; ++u) x[u] = log_of_ordinary(d, x[u]);
  } else {
    for (std::size_t u = 0; u < U; ++u) x[u] = log_of(d, x[u]);
  }
}

// exp x for any x, within 1.1 ulp; 0 below half the smallest double, infinity above the largest.
// With n = round(x / ln 2) and r = x - n ln 2, exp x = 2^n (1 + r + r^2 p(r)), where p is a Taylor
// polynomial. 2^n is multiplied in as two normal factors, so that only the final product can
// underflow.
template <class D>
HWY_INLINE hn::Vec<D> exp_of(D d, hn::Vec<D> x) {
  const auto most = hn::Set(d, 710.0);
  const auto least = hn::Set(d, -746.0);
  x = hn::IfThenElse(hn::Gt(x, most), most, x);  // Min and Max would lose NaN
  x = hn::IfThenElse(hn::Lt(x, least), least, x);
  // Adding 1.5 * 2^52 rounds a number to an integer, which is then in the low bits of the sum.
  const auto shift = hn::Set(d, 0x1.8p52);
  const auto shifted = hn::MulAdd(x, hn::Set(d, 0x1.71547652b82fep0), shift);  // x / ln 2
  const auto n = hn::Sub(shifted, shift);
  const auto shifted_half = hn::MulAdd(n, hn::Set(d, 0.5), shift);
  auto r = hn::NegMulAdd(n, hn::Set(d, kLn2High), x);
  r = hn::NegMulAdd(n, hn::Set(d, kLn2Low), r);
  const auto r2 = hn::Mul(r, r);
  const auto r4 = hn::Mul(r2, r2);
  const auto pair = [&](double constant, double slope)
                        HWY_ATTR { return hn::MulAdd(hn::Set(d, slope), r, hn::Set(d, constant)); };
  const auto low = hn::MulAdd(pair(1.0 / 24, 1.0 / 120), r2, pair(1.0 / 2, 1.0 / 6));
  const auto middle = hn::MulAdd(pair(1.0 / 40320, 1.0 / 362880), r2, pair(1.0 / 720, 1.0 / 5040));
  const auto high =
      hn::MulAdd(pair(1.0 / 479001600, 1.0 / 6227020800), r2, pair(1.0 / 3628800, 1.0 / 39916800));
  const auto p = hn::MulAdd(hn::MulAdd(high, r4, middle), r4, low);
  const auto fraction = hn::Add(hn::MulAdd(p, r2, r), hn::Set(d, 1.0));
  const hn::RebindToUnsigned<D> du;
  const auto half = hn::BitCast(du, shifted_half);
  const auto rest = hn::Sub(hn::BitCast(du, shifted), half);
  const auto power_of_two = [&](auto exponent) HWY_ATTR {
    return hn::BitCast(d, hn::ShiftLeft<52>(hn::Add(exponent, hn::Set(du, 1023))));
  };
  return hn::Mul(hn::Mul(fraction, power_of_two(half)), power_of_two(rest));
}

// 1 - exp x for x <= 0. Near 0, where the difference would lose digits, by the power series
//   -x (1 + x / 2 (1 + x / 3 (...))).
template <class D>
HWY_INLINE hn::Vec<D> one_minus_exp(D d, hn::Vec<D> x) {
  constexpr double kNear = -0.4;
  constexpr int kTerms = 14;
  const auto one = hn::Set(d, 1.0);
  auto series = one;
  for (int n = kTerms; n >= 2; --n) {
    series = hn::MulAdd(hn::Mul(x, hn::Set(d, 1.0 / n)), series, one);
  }
  return hn::IfThenElse(hn::Gt(x, hn::Set(d, kNear)), hn::Neg(hn::Mul(x, series)),
                        hn::Sub(one, exp_of(d, x)));
}

}  // namespace headwater::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
