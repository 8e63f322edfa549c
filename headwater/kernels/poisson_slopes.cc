#include "headwater/kernels/poisson_slopes.hpp"

#include <algorithm>
#include <cassert>
#include <cstddef>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "headwater/kernels/poisson_slopes.cc"
#include <hwy/foreach_target.h>

#include "headwater/kernels/vectors-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace headwater::HWY_NAMESPACE {

// Vectors of at most eight doubles, the length that rows are padded to.
using D8 = hn::CappedTag<double, 8>;

// What an intensity makes of channel j.
struct Ratio {
  double operator()(std::size_t j, double intensity) const {
    return intensity > 0 ? counts[j] / intensity : 0;
  }
  const double* counts;
};
struct SoftenedFactor {
  double operator()(std::size_t j, double intensity) const {
    return factors[j] / (1 + scales[j] * intensity);
  }
  const double* factors;
  const double* scales;
};

// Processes U rows at once, those of channels j, j + 1, ...: their products with x, then their
// contributions to the slopes while the rows are still in the L1 cache.
template <std::size_t U, class Force>
HWY_INLINE void take_rows(const double* const* rows, const Force& force, std::size_t j,
                          const double* x, std::size_t size, double* forces, double* slopes) {
  const D8 d;
  const std::size_t lanes = hn::Lanes(d);
  hn::Vec<D8> sums[U];
  for (std::size_t u = 0; u < U; ++u) sums[u] = hn::Zero(d);
  for (std::size_t k = 0; k < size; k += lanes) {
    const auto xs = hn::LoadU(d, x + k);
    for (std::size_t u = 0; u < U; ++u) {
      sums[u] = hn::MulAdd(hn::LoadU(d, rows[u] + k), xs, sums[u]);
    }
  }
  for (std::size_t u = 0; u < U; ++u) {
    const double intensity = hn::GetLane(hn::SumOfLanes(d, sums[u]));
    forces[j + u] = force(j + u, intensity);
    sums[u] = hn::Set(d, forces[j + u]);
  }
  for (std::size_t k = 0; k < size; k += lanes) {
    auto slope = hn::LoadU(d, slopes + k);
    for (std::size_t u = 0; u < U; ++u) {
      slope = hn::MulAdd(sums[u], hn::LoadU(d, rows[u] + k), slope);
    }
    hn::StoreU(slope, d, slopes + k);
  }
}

constexpr std::size_t kTogether = 4;

template <class Force>
HWY_INLINE void take_all_rows(const double* first, std::size_t stride,
                              std::span<const Index> channels, const Force& force, const double* x,
                              double* forces, double* slopes) {
  std::size_t j = 0;
  const double* rows[kTogether];
  for (; j + kTogether <= channels.size(); j += kTogether) {
    for (std::size_t u = 0; u < kTogether; ++u) {
      rows[u] = first + static_cast<std::size_t>(channels[j + u]) * stride;
    }
    take_rows<kTogether>(rows, force, j, x, stride, forces, slopes);
  }
  for (; j < channels.size(); ++j) {
    rows[0] = first + static_cast<std::size_t>(channels[j]) * stride;
    take_rows<1>(rows, force, j, x, stride, forces, slopes);
  }
}

void slopes_of_rows(const double* first, std::size_t stride, std::span<const Index> channels,
                    const double* counts, const double* x, double* ratios, double* slopes) {
  take_all_rows(first, stride, channels, Ratio{counts}, x, ratios, slopes);
}

void softened_slopes_of_rows(const double* first, std::size_t stride,
                             std::span<const Index> channels, const double* factors,
                             const double* scales, const double* x, double* losses,
                             double* slopes) {
  take_all_rows(first, stride, channels, SoftenedFactor{factors, scales}, x, losses, slopes);
}

void squares_of_rows(const double* first, std::size_t stride, std::span<const Index> channels,
                     const double* weights, double* out) {
  const D8 d;
  const std::size_t lanes = hn::Lanes(d);
  for (std::size_t j = 0; j < channels.size(); ++j) {
    const double* row = first + static_cast<std::size_t>(channels[j]) * stride;
    const auto weight = hn::Set(d, weights[j]);
    for (std::size_t k = 0; k < stride; k += lanes) {
      const auto values = hn::LoadU(d, row + k);
      const auto sum = hn::MulAdd(hn::Mul(weight, values), values, hn::LoadU(d, out + k));
      hn::StoreU(sum, d, out + k);
    }
  }
}

}  // namespace headwater::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headwater {

HWY_EXPORT(slopes_of_rows);
HWY_EXPORT(softened_slopes_of_rows);
HWY_EXPORT(squares_of_rows);

void poisson_slopes(const PaddedRows& basis, std::span<const Index> channels,
                    std::span<const double> counts, std::span<const double> x,
                    std::span<double> ratios, std::span<double> slopes) {
  const auto stride = static_cast<std::size_t>(basis.stride());
  assert(x.size() == stride && slopes.size() == stride && ratios.size() == channels.size());
  std::ranges::fill(slopes, 0.0);
  HWY_DYNAMIC_DISPATCH(slopes_of_rows)
  (basis.row(0), stride, channels, counts.data(), x.data(), ratios.data(), slopes.data());
}

void softened_slopes(const PaddedRows& basis, std::span<const Index> channels,
                     std::span<const double> factors, std::span<const double> scales,
                     std::span<const double> x, std::span<double> losses,
                     std::span<double> slopes) {
  const auto stride = static_cast<std::size_t>(basis.stride());
  assert(x.size() == stride && slopes.size() == stride && losses.size() == channels.size());
  assert(factors.size() == channels.size() && scales.size() == channels.size());
  std::ranges::fill(slopes, 0.0);
  HWY_DYNAMIC_DISPATCH(softened_slopes_of_rows)
  (basis.row(0), stride, channels, factors.data(), scales.data(), x.data(), losses.data(),
   slopes.data());
}

void weighted_squares(const PaddedRows& basis, std::span<const Index> channels,
                      std::span<const double> weights, std::span<double> out) {
  const auto stride = static_cast<std::size_t>(basis.stride());
  assert(out.size() == stride && weights.size() == channels.size());
  std::ranges::fill(out, 0.0);
  HWY_DYNAMIC_DISPATCH(squares_of_rows)
  (basis.row(0), stride, channels, weights.data(), out.data());
}

}  // namespace headwater
#endif
