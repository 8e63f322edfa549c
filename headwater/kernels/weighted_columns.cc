#include "headwater/kernels/weighted_columns.hpp"

#include <algorithm>
#include <cassert>
#include <cstddef>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "headwater/kernels/weighted_columns.cc"
#include <hwy/foreach_target.h>

#include "headwater/kernels/vectors-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace headwater::HWY_NAMESPACE {

// U vectors of the sum stay in registers while all columns are added.
template <std::size_t U>
HWY_INLINE void add_to_vectors(std::span<const double* const> columns, const double* weights,
                               std::size_t i, double* out) {
  const Doubles d;
  const std::size_t lanes = hn::Lanes(d);
  V sums[U];
  for (std::size_t u = 0; u < U; ++u) sums[u] = hn::LoadU(d, out + i + u * lanes);
  for (std::size_t j = 0; j < columns.size(); ++j) {
    const V weight = hn::Set(d, weights[j]);
    const double* column = columns[j] + i;
    for (std::size_t u = 0; u < U; ++u) {
      sums[u] = hn::MulAdd(weight, hn::LoadU(d, column + u * lanes), sums[u]);
    }
  }
  for (std::size_t u = 0; u < U; ++u) hn::StoreU(sums[u], d, out + i + u * lanes);
}

void add_columns(std::span<const double* const> columns, const double* weights, double* out,
                 std::size_t size) {
  constexpr std::size_t kTogether = 8;
  const std::size_t lanes = hn::Lanes(Doubles());
  std::size_t i = 0;
  for (; i + kTogether * lanes <= size; i += kTogether * lanes) {
    add_to_vectors<kTogether>(columns, weights, i, out);
  }
  for (; i + lanes <= size; i += lanes) add_to_vectors<1>(columns, weights, i, out);
  for (; i < size; ++i) {
    for (std::size_t j = 0; j < columns.size(); ++j) out[i] += weights[j] * columns[j][i];
  }
}

}  // namespace headwater::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headwater {

HWY_EXPORT(add_columns);

void add_weighted_columns(std::span<const double* const> columns, std::span<const double> weights,
                          std::span<double> out) {
  assert(columns.size() == weights.size());
  constexpr std::size_t kTogether = 6;  // few enough for the hardware prefetcher to follow
  for (std::size_t j = 0; j < columns.size(); j += kTogether) {
    const auto some = columns.subspan(j, std::min(kTogether, columns.size() - j));
    HWY_DYNAMIC_DISPATCH(add_columns)(some, weights.data() + j, out.data(), out.size());
  }
}

}  // namespace headwater
#endif
