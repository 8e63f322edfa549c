#include "headwater/kernels/all_finite.hpp"

#include <cmath>
#include <cstddef>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "headwater/kernels/all_finite.cc"
#include <hwy/foreach_target.h>

#include "headwater/kernels/vectors-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace headwater::HWY_NAMESPACE {

// x - x is 0 if x is finite and NaN otherwise, and any NaN makes the sum NaN.
bool are_finite_columns(const double* values, std::size_t stride, std::size_t size,
                        std::size_t num_columns) {
  const Doubles d;
  const std::size_t lanes = hn::Lanes(d);
  auto even = hn::Zero(d);
  auto odd = hn::Zero(d);
  double rest = 0;
  for (std::size_t k = 0; k < num_columns; ++k, values += stride) {
    std::size_t i = 0;
    for (; i + 2 * lanes <= size; i += 2 * lanes) {
      const auto a = hn::LoadU(d, values + i);
      const auto b = hn::LoadU(d, values + i + lanes);
      even = hn::Add(even, hn::Sub(a, a));
      odd = hn::Add(odd, hn::Sub(b, b));
    }
    for (; i < size; ++i) rest += values[i] - values[i];
  }
  return hn::GetLane(hn::SumOfLanes(d, hn::Add(even, odd))) + rest == 0;
}

}  // namespace headwater::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headwater {

HWY_EXPORT(are_finite_columns);

bool all_finite(const Eigen::Ref<const Matrix>& values) {
  return HWY_DYNAMIC_DISPATCH(are_finite_columns)(
      values.data(), static_cast<std::size_t>(values.outerStride()),
      static_cast<std::size_t>(values.rows()), static_cast<std::size_t>(values.cols()));
}

}  // namespace headwater
#endif
