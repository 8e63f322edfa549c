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

// A block of states, or one row that stands for all.
struct StateBlock {
  const double* values;
  std::size_t stride;
  bool is_single;
};

}  // namespace headwater
#endif

HWY_BEFORE_NAMESPACE();
namespace headwater::HWY_NAMESPACE {

using V = hn::Vec<Doubles>;

// Component k of the states i, i + 1, ... of a vector; zeros beyond the last of them.
HWY_INLINE V load_states(const StateBlock& states, std::size_t k, std::size_t i,
                         std::size_t count) {
  const Doubles d;
  const double* from = states.values + k * states.stride;
  if (states.is_single) return hn::Set(d, *from);
  return count == hn::Lanes(d) ? hn::LoadU(d, from + i) : load_part(d, from + i, count);
}

// Same sign, and no farther away: for a positive `next`, previous >= next; mirrored else.
HWY_INLINE auto is_towards(V previous, V next) {
  const Doubles d;
  const auto sign = hn::And(next, hn::Set(d, -0.0));
  return hn::Ge(hn::Xor(previous, sign), hn::Xor(next, sign));
}

// log_towards, log_away: of alpha and 1 - alpha, one for each component. The distances are
// multiplied, with the powers of two split off, so that nothing underflows.
void log_densities(const StateBlock& previous, const StateBlock& next, std::size_t size,
                   std::size_t num_components, const double* log_towards, const double* log_away,
                   double* out) {
  const Doubles d;
  const std::size_t lanes = hn::Lanes(d);
  const auto one = hn::Set(d, 1.0);
  for (std::size_t i = 0; i < size; i += lanes) {
    const std::size_t count = HWY_MIN(lanes, size - i);
    auto sum = hn::Zero(d);
    auto mantissa = one;
    auto exponent = hn::Zero(d);
    for (std::size_t k = 0; k < num_components; ++k) {
      const auto from = load_states(previous, k, i, count);
      const auto to = load_states(next, k, i, count);
      const auto distance = hn::Abs(from);
      const auto towards = is_towards(from, to);
      sum = hn::Add(sum,
                    hn::IfThenElse(towards, hn::Set(d, log_towards[k]), hn::Set(d, log_away[k])));
      const auto length = hn::IfThenElse(towards, distance, hn::Sub(one, distance));
      const Split<Doubles> parts = split(d, hn::Mul(mantissa, length));
      mantissa = parts.mantissa;
      exponent = hn::Add(exponent, whole_to_double(d, parts.exponent, 1023));
    }
    const auto result = hn::Sub(sum, log_of_parts(d, mantissa, exponent));
    if (count == lanes) {
      hn::StoreU(result, d, out + i);
    } else {
      store_part(d, result, out + i, count);
    }
  }
}

double sum_towards(const StateBlock& previous, const StateBlock& next, std::size_t size,
                   const double* weights) {
  const Doubles d;
  const std::size_t lanes = hn::Lanes(d);
  auto sum = hn::Zero(d);
  for (std::size_t i = 0; i < size; i += lanes) {
    const std::size_t count = HWY_MIN(lanes, size - i);
    const auto weight =
        count == lanes ? hn::LoadU(d, weights + i) : load_part(d, weights + i, count);
    const auto towards =
        is_towards(load_states(previous, 0, i, count), load_states(next, 0, i, count));
    sum = hn::Add(sum, hn::IfThenElseZero(towards, weight));
  }
  return hn::GetLane(hn::SumOfLanes(d, sum));
}

}  // namespace headwater::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headwater {

HWY_EXPORT(log_densities);
HWY_EXPORT(sum_towards);

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

double weight_towards(const Eigen::Ref<const Vector>& previous,
                      const Eigen::Ref<const Vector>& next, std::span<const double> weights) {
  return HWY_DYNAMIC_DISPATCH(sum_towards)(block_of(previous, weights.size()),
                                           block_of(next, weights.size()), weights.size(),
                                           weights.data());
}

}  // namespace headwater
#endif
