#include "headwater/kernels/weigh_densities.hpp"

#include <cassert>
#include <cmath>
#include <cstddef>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "headwater/kernels/weigh_densities.cc"
#include <hwy/foreach_target.h>

#include "headwater/kernels/elementary-inl.hpp"
#include "headwater/kernels/vectors-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace headwater::HWY_NAMESPACE {

double largest_of(const double* values, std::size_t size) {
  const Doubles d;
  const std::size_t lanes = hn::Lanes(d);
  auto largest = hn::Set(d, -std::numeric_limits<double>::infinity());
  std::size_t i = 0;
  for (; i + lanes <= size; i += lanes) largest = hn::Max(largest, hn::LoadU(d, values + i));
  double result = hn::GetLane(hn::MaxOfLanes(d, largest));
  for (; i < size; ++i) result = HWY_MAX(result, values[i]);
  return result;
}

// values[i] = w_i exp(values[i] - largest); returns their sum.
double weigh_exponentials(const double* weights, double largest, double* values, std::size_t size) {
  const Doubles d;
  const std::size_t lanes = hn::Lanes(d);
  auto sum = hn::Zero(d);
  std::size_t i = 0;
  for (; i + lanes <= size; i += lanes) {
    const auto density = exp_of(d, hn::Sub(hn::LoadU(d, values + i), hn::Set(d, largest)));
    const auto product = hn::Mul(hn::LoadU(d, weights + i), density);
    sum = hn::Add(sum, product);
    hn::StoreU(product, d, values + i);
  }
  if (i < size) {
    const std::size_t count = size - i;
    const auto density = exp_of(d, hn::Sub(load_part(d, values + i, count), hn::Set(d, largest)));
    const auto product = hn::Mul(load_part(d, weights + i, count), density);
    sum = hn::Add(sum, product);  // unused lanes have weight zero
    store_part(d, product, values + i, count);
  }
  return hn::GetLane(hn::SumOfLanes(d, sum));
}

void multiply_all(double factor, double* values, std::size_t size) {
  const Doubles d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= size; i += lanes) {
    hn::StoreU(hn::Mul(hn::LoadU(d, values + i), hn::Set(d, factor)), d, values + i);
  }
  for (; i < size; ++i) values[i] *= factor;
}

}  // namespace headwater::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headwater {

HWY_EXPORT(largest_of);
HWY_EXPORT(weigh_exponentials);
HWY_EXPORT(multiply_all);

bool weigh_densities(std::span<const double> weights, std::span<double> values) {
  assert(weights.size() == values.size());
  const double largest = HWY_DYNAMIC_DISPATCH(largest_of)(values.data(), values.size());
  if (!std::isfinite(largest)) return false;
  const double sum = HWY_DYNAMIC_DISPATCH(weigh_exponentials)(weights.data(), largest,
                                                              values.data(), values.size());
  // A sum near the smallest double has lost its precision, and its inverse may overflow.
  if (!(sum > 0x1p-960 && std::isfinite(sum))) return false;
  HWY_DYNAMIC_DISPATCH(multiply_all)(1 / sum, values.data(), values.size());
  return true;
}

}  // namespace headwater
#endif
