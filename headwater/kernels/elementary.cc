#include "headwater/kernels/elementary.hpp"

#include <cassert>
#include <cstddef>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "headwater/kernels/elementary.cc"
#include <hwy/foreach_target.h>

#include "headwater/kernels/elementary-inl.hpp"
#include "headwater/kernels/vectors-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace headwater::HWY_NAMESPACE {

void log_all(const double* in, double* out, std::size_t size) {
  constexpr std::size_t kTogether = 4;
  const Doubles d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + kTogether * lanes <= size; i += kTogether * lanes) {
    hn::Vec<Doubles> x[kTogether];
    for (std::size_t u = 0; u < kTogether; ++u) x[u] = hn::LoadU(d, in + i + u * lanes);
    take_logs(d, x);
    for (std::size_t u = 0; u < kTogether; ++u) hn::StoreU(x[u], d, out + i + u * lanes);
  }
  for (; i < size; i += lanes) {
    const std::size_t count = HWY_MIN(lanes, size - i);
    store_part(d, log_of(d, load_part(d, in + i, count)), out + i, count);
  }
}

void exp_all(const double* in, double* out, std::size_t size) {
  map(size, out, [=](auto load) HWY_ATTR { return exp_of(Doubles(), load(in)); });
}

void one_minus_exp_all(const double* in, double* out, std::size_t size) {
  map(size, out, [=](auto load) HWY_ATTR { return one_minus_exp(Doubles(), load(in)); });
}

}  // namespace headwater::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headwater {

HWY_EXPORT(log_all);
HWY_EXPORT(exp_all);
HWY_EXPORT(one_minus_exp_all);

void vector_log(std::span<const double> in, std::span<double> out) {
  assert(in.size() == out.size());
  HWY_DYNAMIC_DISPATCH(log_all)(in.data(), out.data(), in.size());
}

void vector_exp(std::span<const double> in, std::span<double> out) {
  assert(in.size() == out.size());
  HWY_DYNAMIC_DISPATCH(exp_all)(in.data(), out.data(), in.size());
}

void vector_one_minus_exp(std::span<const double> in, std::span<double> out) {
  assert(in.size() == out.size());
  HWY_DYNAMIC_DISPATCH(one_minus_exp_all)(in.data(), out.data(), in.size());
}

}  // namespace headwater
#endif
