#include "headwater/kernels/log_weights.hpp"

#include <cassert>
#include <cmath>
#include <cstddef>

#include "headwater/core/infinity.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "headwater/kernels/log_weights.cc"
#include <hwy/foreach_target.h>

#include "headwater/kernels/elementary-inl.hpp"
#include "headwater/kernels/vectors-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace headwater::HWY_NAMESPACE {

// Calls body(load, store) for each vector. The last vector may be partial: load(run) fills its
// unused lanes with -infinity, a weight of zero, and store ignores them.
template <class Body>
HWY_INLINE void for_each_vector(std::size_t size, const Body& body) {
  const Doubles d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= size; i += lanes) {
    body([=](const double* run) HWY_ATTR { return hn::LoadU(d, run + i); },
         [=](V values, double* run) HWY_ATTR { hn::StoreU(values, d, run + i); });
  }
  if (i == size) return;
  body([=](const double* run) HWY_ATTR { return load_part(d, run + i, size - i, kMinusInfinity); },
       [=](V values, double* run) HWY_ATTR { store_part(d, values, run + i, size - i); });
}

// Replaces NaN and +infinity by -infinity. Returns the largest element.
double make_valid(double* log_weights, std::size_t size) {
  const Doubles d;
  V largest = hn::Set(d, kMinusInfinity);
  for_each_vector(size, [&](auto load, auto store) HWY_ATTR {
    const V log_weight = load(log_weights);
    const auto is_valid = hn::Lt(log_weight, hn::Set(d, -kMinusInfinity));
    const V valid = hn::IfThenElse(is_valid, log_weight, hn::Set(d, kMinusInfinity));
    largest = hn::Max(largest, valid);
    store(valid, log_weights);
  });
  return hn::GetLane(hn::MaxOfLanes(d, largest));
}

WeightSums take_exponentials(const double* log_weights, double largest, double* weights,
                             std::size_t size) {
  const Doubles d;
  V sum = hn::Zero(d);
  V sum_of_squares = hn::Zero(d);
  for_each_vector(size, [&](auto load, auto store) HWY_ATTR {
    const V weight = exp_of(d, hn::Sub(load(log_weights), hn::Set(d, largest)));
    sum = hn::Add(sum, weight);
    sum_of_squares = hn::MulAdd(weight, weight, sum_of_squares);
    store(weight, weights);
  });
  return {hn::GetLane(hn::SumOfLanes(d, sum)), hn::GetLane(hn::SumOfLanes(d, sum_of_squares))};
}

void divide_by_sum(double* log_weights, double log_sum, double* weights, double sum,
                   std::size_t size) {
  const Doubles d;
  const V inverse = hn::Set(d, 1 / sum);
  for_each_vector(size, [&](auto load, auto store) HWY_ATTR {
    store(hn::Mul(load(weights), inverse), weights);
    store(hn::Sub(load(log_weights), hn::Set(d, log_sum)), log_weights);
  });
}

}  // namespace headwater::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headwater {

HWY_EXPORT(make_valid);
HWY_EXPORT(take_exponentials);
HWY_EXPORT(divide_by_sum);

double make_log_weights_valid(std::span<double> log_weights) {
  return HWY_DYNAMIC_DISPATCH(make_valid)(log_weights.data(), log_weights.size());
}

WeightSums exponentials_of(std::span<const double> log_weights, double largest,
                           std::span<double> weights) {
  assert(log_weights.size() == weights.size());
  return HWY_DYNAMIC_DISPATCH(take_exponentials)(log_weights.data(), largest, weights.data(),
                                                 weights.size());
}

void divide_weights(std::span<double> log_weights, double log_sum, std::span<double> weights,
                    double sum) {
  assert(log_weights.size() == weights.size());
  HWY_DYNAMIC_DISPATCH(divide_by_sum)
  (log_weights.data(), log_sum, weights.data(), sum, weights.size());
}

double normalise_log_weights(std::span<double> log_weights, std::span<double> weights,
                             double* effective_size) {
  const double largest = make_log_weights_valid(log_weights);
  if (largest == kMinusInfinity) return largest;
  const WeightSums sums = exponentials_of(log_weights, largest, weights);
  const double log_sum = largest + std::log(sums.sum);
  divide_weights(log_weights, log_sum, weights, sums.sum);
  if (effective_size != nullptr) *effective_size = sums.sum * sums.sum / sums.sum_of_squares;
  return log_sum;
}

}  // namespace headwater
#endif
