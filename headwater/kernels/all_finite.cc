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
bool is_finite_run(const double* values, std::size_t size) {
  const Doubles d;
  const std::size_t lanes = hn::Lanes(d);
  auto even = hn::Zero(d);
  auto odd = hn::Zero(d);
  std::size_t i = 0;
  for (; i + 2 * lanes <= size; i += 2 * lanes) {
    const auto a = hn::LoadU(d, values + i);
    const auto b = hn::LoadU(d, values + i + lanes);
    even = hn::Add(even, hn::Sub(a, a));
    odd = hn::Add(odd, hn::Sub(b, b));
  }
  double rest = 0;
  for (; i < size; ++i) rest += values[i] - values[i];
  return hn::GetLane(hn::SumOfLanes(d, hn::Add(even, odd))) + rest == 0;
}

}  // namespace headwater::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headwater {

HWY_EXPORT(is_finite_run);

bool all_finite(const Eigen::Ref<const Matrix>& values) {
  for (Index k = 0; k < values.cols(); ++k) {
    const auto size = static_cast<std::size_t>(values.rows());
    if (!HWY_DYNAMIC_DISPATCH(is_finite_run)(values.col(k).data(), size)) return false;
  }
  return true;
}

}  // namespace headwater
#endif
