#include "headwater/kernels/relaxed_density.hpp"

#include <cassert>
#include <cstddef>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "headwater/kernels/relaxed_density.cc"
#include <hwy/foreach_target.h>

#include "headwater/kernels/elementary-inl.hpp"
#include "headwater/kernels/vectors-inl.hpp"

#ifndef HEADWATER_KERNELS_RELAXED_DENSITY_CC_
#define HEADWATER_KERNELS_RELAXED_DENSITY_CC_
namespace headwater {

// A block of states, or a single row that is paired with every row of the other block.
struct StateBlock {
  const double* values;
  std::size_t stride;
  bool is_single;
};

}  // namespace headwater
#endif

HWY_BEFORE_NAMESPACE();
namespace headwater::HWY_NAMESPACE {

// Loads component k of states i, i + 1, ..., with zeros after the last state.
HWY_INLINE V load_states(const StateBlock& states, std::size_t k, std::size_t i,
                         std::size_t count) {
  const Doubles d;
  const double* from = states.values + k * states.stride;
  if (states.is_single) return hn::Set(d, *from);
  return count == hn::Lanes(d) ? hn::LoadU(d, from + i) : load_part(d, from + i, count);
}

// Same side and no larger distance: for a positive `next`, previous >= next; mirrored otherwise.
HWY_INLINE auto is_towards(V previous, V next) {
  const Doubles d;
  const auto sign = hn::And(next, hn::Set(d, -0.0));
  return hn::Ge(hn::Xor(previous, sign), hn::Xor(next, sign));
}

// log alpha and log(1 - alpha) of each component.
struct LogRates {
  std::size_t num_components;
  const double* towards;
  const double* away;
};

// U vectors of pairs from pair i, which hide each other's latency; the last vector has `count`
// pairs. Distances are multiplied and powers of two split off, so that nothing underflows.
template <std::size_t U>
HWY_INLINE void log_densities_from(const StateBlock& previous, const StateBlock& next,
                                   std::size_t i, std::size_t count, const LogRates& rates,
                                   double* out) {
  const Doubles d;
  const std::size_t lanes = hn::Lanes(d);
  const auto one = hn::Set(d, 1.0);
  V sum[U];
  V mantissa[U];
  V exponent[U];
  for (std::size_t u = 0; u < U; ++u) {
    sum[u] = exponent[u] = hn::Zero(d);
    mantissa[u] = one;
  }
  for (std::size_t k = 0; k < rates.num_components; ++k) {
    const auto log_towards = hn::Set(d, rates.towards[k]);
    const auto log_away = hn::Set(d, rates.away[k]);
    for (std::size_t u = 0; u < U; ++u) {
      const auto from = load_states(previous, k, i + u * lanes, count);
      const auto to = load_states(next, k, i + u * lanes, count);
      const auto distance = hn::Abs(from);
      const auto towards = is_towards(from, to);
      sum[u] = hn::Add(sum[u], hn::IfThenElse(towards, log_towards, log_away));
      const auto length = hn::IfThenElse(towards, distance, hn::Sub(one, distance));
      const Split<Doubles> parts = split(d, hn::Mul(mantissa[u], length));
      mantissa[u] = parts.mantissa;
      exponent[u] = hn::Add(exponent[u], whole_to_double(d, parts.exponent, 1023));
    }
  }
  for (std::size_t u = 0; u < U; ++u) {
    const auto result = hn::Sub(sum[u], log_of_parts(d, mantissa[u], exponent[u]));
    if (count == lanes) {
      hn::StoreU(result, d, out + i + u * lanes);
    } else {
      store_part(d, result, out + i + u * lanes, count);
    }
  }
}

void log_densities(const StateBlock& previous, const StateBlock& next, std::size_t size,
                   std::size_t num_components, const double* log_towards, const double* log_away,
                   double* out) {
  constexpr std::size_t kTogether = 4;
  const std::size_t lanes = hn::Lanes(Doubles());
  const LogRates rates{num_components, log_towards, log_away};
  std::size_t i = 0;
  for (; i + kTogether * lanes <= size; i += kTogether * lanes) {
    log_densities_from<kTogether>(previous, next, i, lanes, rates, out);
  }
  for (; i < size; i += lanes) {
    log_densities_from<1>(previous, next, i, HWY_MIN(lanes, size - i), rates, out);
  }
}

// sums[c] = the weight of the moves of component k + c towards the edge. Several components at a
// time, whose sums hide each other's latency.
template <std::size_t C>
HWY_INLINE void sum_towards(const StateBlock& previous, const StateBlock& next, std::size_t k,
                            std::size_t size, const double* weights, double* sums) {
  const Doubles d;
  const std::size_t lanes = hn::Lanes(d);
  V towards[C];
  for (V& sum : towards) sum = hn::Zero(d);
  for (std::size_t i = 0; i < size; i += lanes) {
    const std::size_t count = HWY_MIN(lanes, size - i);
    const auto weight =
        count == lanes ? hn::LoadU(d, weights + i) : load_part(d, weights + i, count);
    for (std::size_t c = 0; c < C; ++c) {
      const auto is_wanted =
          is_towards(load_states(previous, k + c, i, count), load_states(next, k + c, i, count));
      towards[c] = hn::Add(towards[c], hn::IfThenElseZero(is_wanted, weight));
    }
  }
  for (std::size_t c = 0; c < C; ++c) sums[k + c] = hn::GetLane(hn::SumOfLanes(d, towards[c]));
}

void sum_all_towards(const StateBlock& previous, const StateBlock& next, std::size_t size,
                     std::size_t num_components, const double* weights, double* sums) {
  std::size_t k = 0;
  for (; k + 3 <= num_components; k += 3) sum_towards<3>(previous, next, k, size, weights, sums);
  if (k + 2 == num_components) sum_towards<2>(previous, next, k, size, weights, sums);
  if (k + 1 == num_components) sum_towards<1>(previous, next, k, size, weights, sums);
}

}  // namespace headwater::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headwater {

HWY_EXPORT(log_densities);
HWY_EXPORT(sum_all_towards);

namespace {

StateBlock block_of(const Eigen::Ref<const Matrix>& states, std::size_t size) {
  assert(states.rows() == 1 || static_cast<std::size_t>(states.rows()) == size);
  return {states.data(), static_cast<std::size_t>(states.outerStride()),
          states.rows() == 1 && size != 1};
}

}  // namespace

void relaxed_log_densities(const Eigen::Ref<const Matrix>& previous,
                           const Eigen::Ref<const Matrix>& next,
                           std::span<const double> log_towards, std::span<const double> log_away,
                           std::span<double> out) {
  assert(static_cast<Index>(log_towards.size()) == previous.cols());
  assert(log_away.size() == log_towards.size());
  HWY_DYNAMIC_DISPATCH(log_densities)
  (block_of(previous, out.size()), block_of(next, out.size()), out.size(), log_towards.size(),
   log_towards.data(), log_away.data(), out.data());
}

void weights_towards(const Eigen::Ref<const Matrix>& previous, const Eigen::Ref<const Matrix>& next,
                     std::span<const double> weights, std::span<double> out) {
  assert(static_cast<Index>(out.size()) == previous.cols() && next.cols() == previous.cols());
  HWY_DYNAMIC_DISPATCH(sum_all_towards)
  (block_of(previous, weights.size()), block_of(next, weights.size()), weights.size(), out.size(),
   weights.data(), out.data());
}

}  // namespace headwater
#endif
