#include "headwater/kernels/weighted_gram.hpp"

#include <algorithm>
#include <cassert>
#include <cstddef>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "headwater/kernels/weighted_gram.cc"
#include <hwy/foreach_target.h>

#include "headwater/kernels/vectors-inl.hpp"

#ifndef HEADWATER_KERNELS_WEIGHTED_GRAM_CC_
#define HEADWATER_KERNELS_WEIGHTED_GRAM_CC_
namespace headwater {

struct GramColumns {
  const double* first;  // of the first column
  std::size_t stride;   // from one column to the next
  std::size_t size;     // numbers in a column
  std::size_t count;    // columns
  const double* weights;

  const double* column(std::size_t k) const { return first + k * stride; }
};

}  // namespace headwater
#endif

HWY_BEFORE_NAMESPACE();
namespace headwater::HWY_NAMESPACE {

// Columns in a tile of the result: two weighted ones by four, so that all sums stay in registers.
constexpr std::size_t kTileRows = 2;
constexpr std::size_t kTileColumns = 4;

// The sums for columns k, ..., k + R - 1 by l, ..., l + C - 1.
template <std::size_t R, std::size_t C>
HWY_INLINE void add_tile(const GramColumns& c, std::size_t k, std::size_t l, double* out) {
  const Doubles d;
  const std::size_t lanes = hn::Lanes(d);
  V sums[R][C];
  for (auto& row : sums) {
    for (V& sum : row) sum = hn::Zero(d);
  }
  const auto add = [&](const auto& load) HWY_ATTR {
    const V weights = load(c.weights);
    V weighted[R];
    for (std::size_t r = 0; r < R; ++r) weighted[r] = hn::Mul(weights, load(c.column(k + r)));
    for (std::size_t s = 0; s < C; ++s) {
      const V other = load(c.column(l + s));
      for (std::size_t r = 0; r < R; ++r) sums[r][s] = hn::MulAdd(weighted[r], other, sums[r][s]);
    }
  };
  std::size_t j = 0;
  for (; j + lanes <= c.size; j += lanes) {
    add([=](const double* from) HWY_ATTR { return hn::LoadU(d, from + j); });
  }
  if (j < c.size) {
    const std::size_t rest = c.size - j;
    add([=](const double* from) HWY_ATTR { return load_part(d, from + j, rest); });
  }
  for (std::size_t r = 0; r < R; ++r) {
    for (std::size_t s = 0; s < C && l + s <= k + r; ++s) {
      out[(l + s) * c.count + k + r] += hn::GetLane(hn::SumOfLanes(d, sums[r][s]));
    }
  }
}

template <std::size_t R>
HWY_INLINE void add_rows(const GramColumns& c, std::size_t k, double* out) {
  const std::size_t end = k + R;  // columns beyond the diagonal are not wanted
  std::size_t l = 0;
  for (; l + kTileColumns <= end; l += kTileColumns) add_tile<R, kTileColumns>(c, k, l, out);
  for (; l < end; ++l) add_tile<R, 1>(c, k, l, out);
}

void add_gram(const GramColumns& c, double* out) {
  std::size_t k = 0;
  for (; k + kTileRows <= c.count; k += kTileRows) add_rows<kTileRows>(c, k, out);
  for (; k < c.count; ++k) add_rows<1>(c, k, out);
}

}  // namespace headwater::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headwater {

HWY_EXPORT(add_gram);

void add_weighted_gram(const Eigen::Ref<const Matrix>& columns, std::span<const double> weights,
                       double* out) {
  assert(static_cast<Index>(weights.size()) == columns.rows());
  const GramColumns c{columns.data(), static_cast<std::size_t>(columns.outerStride()),
                      weights.size(), static_cast<std::size_t>(columns.cols()), weights.data()};
  HWY_DYNAMIC_DISPATCH(add_gram)(c, out);
}

}  // namespace headwater
#endif
