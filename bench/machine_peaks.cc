// The peak rates of one thread on this machine: floating-point operations and bytes read per
// second, for the bounds in bench/speed. Prints one line of JSON.
//   Usage: bench_machine_peaks

#include <cstddef>
#include <cstdint>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "bench/machine_peaks.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace headwater::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Doubles = hn::ScalableTag<double>;

// Enough independent chains to hide the latency of an operation, few enough to stay in registers.
constexpr std::int64_t kChains = 10;

// Returns the number of floating-point operations. The initial values come from `start`, unknown to
// the compiler: otherwise it could merge identical chains into one.
double multiply_and_add(std::int64_t rounds, const double* start, double* result) {
  const Doubles d;
  const auto factor = hn::Set(d, 0.999999);
  const auto summand = hn::Set(d, 1e-3);
  auto a0 = hn::Set(d, start[0]), a1 = hn::Set(d, start[1]), a2 = hn::Set(d, start[2]),
       a3 = hn::Set(d, start[3]), a4 = hn::Set(d, start[4]), a5 = hn::Set(d, start[5]),
       a6 = hn::Set(d, start[6]), a7 = hn::Set(d, start[7]), a8 = hn::Set(d, start[8]),
       a9 = hn::Set(d, start[9]);
  for (std::int64_t i = 0; i < rounds; ++i) {
    a0 = hn::MulAdd(a0, factor, summand);
    a1 = hn::MulAdd(a1, factor, summand);
    a2 = hn::MulAdd(a2, factor, summand);
    a3 = hn::MulAdd(a3, factor, summand);
    a4 = hn::MulAdd(a4, factor, summand);
    a5 = hn::MulAdd(a5, factor, summand);
    a6 = hn::MulAdd(a6, factor, summand);
    a7 = hn::MulAdd(a7, factor, summand);
    a8 = hn::MulAdd(a8, factor, summand);
    a9 = hn::MulAdd(a9, factor, summand);
  }
  const auto left = hn::Add(hn::Add(hn::Add(a0, a1), hn::Add(a2, a3)), a4);
  const auto right = hn::Add(hn::Add(hn::Add(a5, a6), hn::Add(a7, a8)), a9);
  *result = hn::GetLane(hn::Add(left, right));
  return 2.0 * static_cast<double>(rounds * kChains) * static_cast<double>(hn::Lanes(d));
}

// The sum of `count` numbers; count must be a multiple of 64.
double read_all(const double* from, std::size_t count) {
  const Doubles d;
  const std::size_t lanes = hn::Lanes(d);
  auto a0 = hn::Zero(d), a1 = a0, a2 = a0, a3 = a0, a4 = a0, a5 = a0, a6 = a0, a7 = a0;
  for (std::size_t i = 0; i < count; i += 8 * lanes) {
    a0 = hn::Add(a0, hn::Load(d, from + i));
    a1 = hn::Add(a1, hn::Load(d, from + i + lanes));
    a2 = hn::Add(a2, hn::Load(d, from + i + 2 * lanes));
    a3 = hn::Add(a3, hn::Load(d, from + i + 3 * lanes));
    a4 = hn::Add(a4, hn::Load(d, from + i + 4 * lanes));
    a5 = hn::Add(a5, hn::Load(d, from + i + 5 * lanes));
    a6 = hn::Add(a6, hn::Load(d, from + i + 6 * lanes));
    a7 = hn::Add(a7, hn::Load(d, from + i + 7 * lanes));
  }
  const auto left = hn::Add(hn::Add(a0, a1), hn::Add(a2, a3));
  return hn::GetLane(hn::Add(left, hn::Add(hn::Add(a4, a5), hn::Add(a6, a7))));
}

}  // namespace headwater::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include <fmt/format.h>
#include <hwy/aligned_allocator.h>

#include <algorithm>
#include <limits>

#include "bench/summary.hpp"

namespace headwater {

HWY_EXPORT(multiply_and_add);
HWY_EXPORT(read_all);

namespace {

constexpr int kRepeats = 7;

volatile double sink;

// The shortest of several times, because disturbances only make a measurement longer.
template <class Work>
double best_seconds(const Work& work) {
  double best = std::numeric_limits<double>::infinity();
  for (int i = 0; i < kRepeats; ++i) best = std::min(best, bench::processor_seconds(work));
  return best;
}

double flops() {
  constexpr std::int64_t kRounds = 1000000;
  const double start[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  double result = 0;
  double operations = 0;
  const double seconds = best_seconds([&] {
    operations = HWY_DYNAMIC_DISPATCH(multiply_and_add)(kRounds, start, &result);
    sink = result;
  });
  return operations / seconds;
}

double bytes_read(std::size_t bytes) {
  constexpr std::size_t kTotal = std::size_t{1} << 28;
  const std::size_t count = bytes / sizeof(double);
  const auto data = hwy::AllocateAligned<double>(count);
  std::fill_n(data.get(), count, 1.0);
  const std::size_t passes = std::max<std::size_t>(1, kTotal / bytes);
  const double seconds = best_seconds([&] {
    for (std::size_t i = 0; i < passes; ++i) {
      sink = HWY_DYNAMIC_DISPATCH(read_all)(data.get(), count);
    }
  });
  return static_cast<double>(passes * bytes) / seconds;
}

}  // namespace

}  // namespace headwater

int main() {
  using headwater::bytes_read;
  fmt::print(R"({{"flops": {:.4g}, "level1": {:.4g}, "level2": {:.4g}, "memory": {:.4g}}})"
             "\n",
             headwater::flops(), bytes_read(16 << 10), bytes_read(256 << 10),
             bytes_read(256 << 20));
}

#endif
