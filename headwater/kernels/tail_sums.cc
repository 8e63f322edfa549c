#include "headwater/kernels/tail_sums.hpp"

#include <cassert>
#include <cstddef>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "headwater/kernels/tail_sums.cc"
#include <hwy/foreach_target.h>

#include "headwater/kernels/elementary-inl.hpp"
#include "headwater/kernels/vectors-inl.hpp"

#ifndef HEADWATER_KERNELS_TAIL_SUMS_CC_
#define HEADWATER_KERNELS_TAIL_SUMS_CC_
namespace headwater {

constexpr double kPartLeftOut = 1e-12;
constexpr int kTermsAtOnce = 4;           // between two looks at what is left
constexpr double kMostTailTerms = 20000;  // what is left after these is nearly a geometric series

}  // namespace headwater
#endif

HWY_BEFORE_NAMESPACE();
namespace headwater::HWY_NAMESPACE {

// Calls body.run<n>(first) for n vectors from `first` on, several at a time as long as there are as
// many: each vector waits for its own products only. What is left is less than a vector.
template <class Body>
HWY_INLINE std::size_t for_each_group(std::size_t size, const Body& body) {
  constexpr int kTogether = 4;
  const std::size_t lanes = hn::Lanes(Doubles());
  std::size_t i = 0;
  for (; i + kTogether * lanes <= size; i += kTogether * lanes) body.template run<kTogether>(i);
  for (; i + lanes <= size; i += lanes) body.template run<1>(i);
  return i;
}

// The same with a last vector that is filled up with zeros.
template <class Body>
HWY_INLINE void run_body(Body body, std::size_t size) {
  const Doubles d;
  const std::size_t first = for_each_group(size, body);
  if (first == size) return;
  HWY_ALIGN double factors[hn::MaxLanes(Doubles())];
  HWY_ALIGN double at[hn::MaxLanes(Doubles())];
  HWY_ALIGN double sums[hn::MaxLanes(Doubles())];
  hn::Store(load_part(d, body.factors + first, size - first), d, factors);
  hn::Store(load_part(d, body.at + first, size - first), d, at);
  Body last = body;
  last.factors = factors;
  last.at = at;
  last.sums = sums;
  last.template run<1>(0);
  store_part(d, hn::Load(d, sums), body.sums + first, size - first);
  if constexpr (Body::kChangesAt) store_part(d, hn::Load(d, at), body.at + first, size - first);
}

// From the probability of 0 in `term` to that of y; those below it are added to `sum`.
template <int kVectors>
HWY_INLINE void climb(double y, double phi, const V* factor, V* term, V* sum) {
  const Doubles d;
  for (double k = 0; k < y; ++k) {
    const V common = hn::Set(d, (1 + k * phi) / (k + 1));
    for (int v = 0; v < kVectors; ++v) {
      sum[v] = hn::Add(sum[v], term[v]);
      term[v] = hn::Mul(term[v], hn::Mul(factor[v], common));
    }
  }
}

struct Climb {
  static constexpr bool kChangesAt = true;
  double y;
  double phi;
  const double* factors;
  double* at;
  double* sums;

  template <int kVectors>
  HWY_INLINE void run(std::size_t first) const {
    const Doubles d;
    const std::size_t lanes = hn::Lanes(d);
    V term[kVectors];
    V sum[kVectors];
    V factor[kVectors];
    for (int v = 0; v < kVectors; ++v) {
      term[v] = hn::LoadU(d, at + first + v * lanes);
      factor[v] = hn::LoadU(d, factors + first + v * lanes);
      sum[v] = hn::Zero(d);
    }
    climb<kVectors>(y, phi, factor, term, sum);
    for (int v = 0; v < kVectors; ++v) {
      hn::StoreU(term[v], d, at + first + v * lanes);
      hn::StoreU(sum[v], d, sums + first + v * lanes);
    }
  }
};

struct SumAbove {
  static constexpr bool kChangesAt = false;
  double y;
  double phi;
  const double* factors;
  const double* at;
  double* sums;

  template <int kVectors>
  HWY_INLINE void run(std::size_t first) const {
    const Doubles d;
    const std::size_t lanes = hn::Lanes(d);
    const V zero = hn::Zero(d);
    const V one = hn::Set(d, 1);
    V term[kVectors];
    V sum[kVectors];
    V factor[kVectors];
    V limit[kVectors];  // of the ratios to come, which approach factor phi
    for (int v = 0; v < kVectors; ++v) {
      term[v] = hn::LoadU(d, at + first + v * lanes);
      factor[v] = hn::LoadU(d, factors + first + v * lanes);
      sum[v] = limit[v] = zero;
    }
    bool is_done = false;
    for (double k = y; k < y + kMostTailTerms && !is_done; k += kTermsAtOnce) {
      for (int j = 0; j < kTermsAtOnce; ++j) {
        const V common = hn::Set(d, (1 + (k + j) * phi) / (k + j + 1));
        for (int v = 0; v < kVectors; ++v) {
          limit[v] = hn::Mul(factor[v], common);
          term[v] = hn::Mul(term[v], limit[v]);
          sum[v] = hn::Add(sum[v], term[v]);
        }
      }
      auto is_enough = hn::Eq(zero, zero);
      for (int v = 0; v < kVectors; ++v) {
        limit[v] = hn::Max(limit[v], hn::Mul(factor[v], hn::Set(d, phi)));
        const V left_out =
            hn::Mul(hn::Mul(hn::Sub(one, limit[v]), hn::Set(d, kPartLeftOut)), sum[v]);
        is_enough = hn::And(
            is_enough, hn::Or(hn::Le(hn::Mul(term[v], limit[v]), left_out), hn::Eq(term[v], zero)));
      }
      is_done = hn::AllTrue(d, is_enough);
    }
    for (int v = 0; v < kVectors; ++v) {
      const auto goes_on = hn::And(hn::Gt(term[v], zero), hn::Lt(limit[v], one));
      const V rest = hn::Div(hn::Mul(term[v], limit[v]), hn::Sub(one, limit[v]));
      const V whole = hn::Add(sum[v], hn::IfThenElseZero(goes_on, rest));
      hn::StoreU(is_done ? sum[v] : whole, d, sums + first + v * lanes);
    }
  }
};

struct SumBelow {
  static constexpr bool kChangesAt = false;
  double y;
  double phi;
  const double* factors;
  const double* at;
  double* sums;

  template <int kVectors>
  HWY_INLINE void run(std::size_t first) const {
    const Doubles d;
    const std::size_t lanes = hn::Lanes(d);
    V term[kVectors];
    V sum[kVectors];
    V inverse[kVectors];
    for (int v = 0; v < kVectors; ++v) {
      term[v] = hn::LoadU(d, at + first + v * lanes);
      const V factor = hn::LoadU(d, factors + first + v * lanes);
      inverse[v] = hn::IfThenElseZero(hn::Gt(term[v], hn::Zero(d)), hn::Div(hn::Set(d, 1), factor));
      sum[v] = hn::Zero(d);
    }
    bool is_done = false;
    for (double k = y - 1; k >= 0 && !is_done; k -= kTermsAtOnce) {
      const int terms = k + 1 < kTermsAtOnce ? static_cast<int>(k) + 1 : kTermsAtOnce;
      for (int j = 0; j < terms; ++j) {
        const V common = hn::Set(d, (k - j + 1) / (1 + (k - j) * phi));
        for (int v = 0; v < kVectors; ++v) {
          term[v] = hn::Mul(term[v], hn::Mul(inverse[v], common));
          sum[v] = hn::Add(sum[v], term[v]);
        }
      }
      auto is_enough = hn::Eq(sum[0], sum[0]);
      for (int v = 0; v < kVectors; ++v) {
        const V left_out = hn::Mul(hn::Set(d, kPartLeftOut), sum[v]);
        is_enough = hn::And(is_enough, hn::Le(hn::Mul(term[v], hn::Set(d, k)), left_out));
      }
      is_done = hn::AllTrue(d, is_enough);
    }
    for (int v = 0; v < kVectors; ++v) hn::StoreU(sum[v], d, sums + first + v * lanes);
  }
};

// Weighted sums of what Climb finds. Laws that fill up the last vector have no weight.
struct Mix {
  double y;
  double phi;
  const double* factors;
  const double* log_zero;  // or null
  const double* weights;
  double* densities;
  V below, at, weight, least, most;

  template <int kVectors>
  HWY_INLINE void add(V* factor, V* term, const V* weights_now) {
    const Doubles d;
    V sum[kVectors];
    for (int v = 0; v < kVectors; ++v) {
      term[v] = exp_of(d, term[v]);
      sum[v] = hn::Zero(d);
      least = hn::Min(least, factor[v]);
      most = hn::Max(most, factor[v]);
    }
    climb<kVectors>(y, phi, factor, term, sum);
    for (int v = 0; v < kVectors; ++v) {
      below = hn::MulAdd(weights_now[v], sum[v], below);
      at = hn::MulAdd(weights_now[v], term[v], at);
      weight = hn::Add(weight, weights_now[v]);
    }
  }

  template <int kVectors>
  HWY_INLINE void run(std::size_t first) {
    const Doubles d;
    const std::size_t lanes = hn::Lanes(d);
    V factor[kVectors];
    V term[kVectors];
    V weights_now[kVectors];
    for (int v = 0; v < kVectors; ++v) {
      const std::size_t i = first + v * lanes;
      factor[v] = hn::LoadU(d, factors + i);
      term[v] = log_zero == nullptr ? hn::Neg(factor[v]) : hn::LoadU(d, log_zero + i);
      weights_now[v] = hn::LoadU(d, weights + i);
    }
    add<kVectors>(factor, term, weights_now);
    for (int v = 0; v < kVectors; ++v) hn::StoreU(term[v], d, densities + first + v * lanes);
  }

  HWY_INLINE void run_last(std::size_t first, std::size_t count) {
    const Doubles d;
    V factor = load_part(d, factors + first, count);
    V term = log_zero == nullptr ? hn::Neg(factor) : load_part(d, log_zero + first, count);
    const V weights_now = load_part(d, weights + first, count);
    add<1>(&factor, &term, &weights_now);
    store_part(d, term, densities + first, count);
  }
};

void mix_all(double y, double phi, const double* factors, const double* log_zero,
             const double* weights, double* densities, std::size_t size, MixedSums& sums) {
  constexpr int kTogether = 4;
  const Doubles d;
  const V zero = hn::Zero(d);
  const std::size_t lanes = hn::Lanes(d);
  Mix mix{y, phi, factors, log_zero, weights, densities, zero, zero, zero, zero, zero};
  std::size_t i = 0;
  for (; i + kTogether * lanes <= size; i += kTogether * lanes) mix.run<kTogether>(i);
  for (; i + lanes <= size; i += lanes) mix.run<1>(i);
  if (i < size) mix.run_last(i, size - i);
  sums = {hn::GetLane(hn::SumOfLanes(d, mix.below)), hn::GetLane(hn::SumOfLanes(d, mix.at)),
          hn::GetLane(hn::SumOfLanes(d, mix.weight)), hn::GetLane(hn::MinOfLanes(d, mix.least)),
          hn::GetLane(hn::MaxOfLanes(d, mix.most))};
}

void climb_all(double y, double phi, const double* factors, double* at, double* below,
               std::size_t size) {
  run_body(Climb{y, phi, factors, at, below}, size);
}

void sum_all_above(double y, double phi, const double* factors, const double* at, double* above,
                   std::size_t size) {
  run_body(SumAbove{y, phi, factors, at, above}, size);
}

void sum_all_below(double y, double phi, const double* factors, const double* at, double* below,
                   std::size_t size) {
  run_body(SumBelow{y, phi, factors, at, below}, size);
}

}  // namespace headwater::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headwater {

HWY_EXPORT(climb_all);
HWY_EXPORT(mix_all);
HWY_EXPORT(sum_all_above);
HWY_EXPORT(sum_all_below);

void climb_from_zero(double y, double phi, std::span<const double> factors, std::span<double> at,
                     std::span<double> below) {
  assert(at.size() == factors.size() && below.size() == factors.size());
  HWY_DYNAMIC_DISPATCH(climb_all)
  (y, phi, factors.data(), at.data(), below.data(), factors.size());
}

MixedSums mix_from_zero(double y, double phi, std::span<const double> factors,
                        std::span<const double> log_zero, std::span<const double> weights,
                        std::span<double> densities) {
  assert(weights.size() == factors.size() && densities.size() == factors.size());
  assert(log_zero.empty() || log_zero.size() == factors.size());
  MixedSums sums;
  HWY_DYNAMIC_DISPATCH(mix_all)
  (y, phi, factors.data(), log_zero.empty() ? nullptr : log_zero.data(), weights.data(),
   densities.data(), factors.size(), sums);
  return sums;
}

void sum_above(double y, double phi, std::span<const double> factors, std::span<const double> at,
               std::span<double> above) {
  assert(at.size() == factors.size() && above.size() == factors.size());
  HWY_DYNAMIC_DISPATCH(sum_all_above)
  (y, phi, factors.data(), at.data(), above.data(), factors.size());
}

void sum_below(double y, double phi, std::span<const double> factors, std::span<const double> at,
               std::span<double> below) {
  assert(at.size() == factors.size() && below.size() == factors.size());
  HWY_DYNAMIC_DISPATCH(sum_all_below)
  (y, phi, factors.data(), at.data(), below.data(), factors.size());
}

}  // namespace headwater
#endif
