#include "headwater/kernels/share_sums.hpp"

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "headwater/kernels/share_sums.cc"
#include <hwy/foreach_target.h>

#include "headwater/kernels/activation_tile.hpp"
#include "headwater/kernels/intensities-inl.hpp"
#include "headwater/kernels/vectors-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace headwater::HWY_NAMESPACE {

// What a weight is divided by: the intensity, or 1 + scale intensity.
struct ByIntensity {
  HWY_INLINE V operator()(std::size_t, V weight, V intensity) const {
    const Doubles d;
    const auto is_positive = hn::Gt(intensity, hn::Zero(d));
    return hn::IfThenElseZero(is_positive, hn::Div(weight, intensity));
  }
};
struct BySoftened {
  HWY_INLINE V operator()(std::size_t channel, V weight, V intensity) const {
    const Doubles d;
    const V scale = hn::Set(d, scales[channel]);
    return hn::Div(weight, hn::MulAdd(scale, intensity, hn::Set(d, 1.0)));
  }
  const double* scales;
};

// The quotients of C channels, one row each. Zeros after the last particle fill the last
// vector.
template <std::size_t C>
struct Shares {
  HWY_ALIGN double values[C][kActivationTile];
};

// Computes the shares of the particles from the i-th on.
template <std::size_t U, std::size_t C, class Divide, class Activations, class Weights>
HWY_INLINE void store_shares(const Divide& divide, const double* rows, std::size_t num_components,
                             const Activations& activations, const Weights& weights, std::size_t i,
                             Shares<C>& shares) {
  const Doubles d;
  V intensities[C][U];
  intensities_of(rows, num_components, activations, intensities);
  for (std::size_t u = 0; u < U; ++u) {
    const V weight = weights(0, u);
    for (std::size_t c = 0; c < C; ++c) {
      hn::Store(divide(c, weight, intensities[c][u]), d, shares.values[c] + i + u * hn::Lanes(d));
    }
  }
}

template <std::size_t C, class Divide>
HWY_INLINE void store_all_shares(const Divide& divide, const ActivationTile& tile,
                                 const double* rows, Shares<C>& shares) {
  const std::size_t lanes = hn::Lanes(Doubles());
  const auto [x, stride, size, num_components, weights] = tile;
  std::size_t i = 0;
  for (; i + 2 * lanes <= size; i += 2 * lanes) {
    store_shares<2>(divide, rows, num_components, WholeVectors{x + i, stride},
                    WholeVectors{weights + i, stride}, i, shares);
  }
  for (; i < size; i += lanes) {
    const std::size_t count = HWY_MIN(lanes, size - i);
    store_shares<1>(divide, rows, num_components, PartOfVector{x + i, stride, count},
                    PartOfVector{weights + i, stride, count}, i, shares);
  }
}

// sums[c][k] = sum_i shares(c, i) x(i, k) for K components, beginning with that of `x`.
template <std::size_t K, std::size_t C>
HWY_INLINE void weigh_components(const ActivationTile& tile, const double* x,
                                 const Shares<C>& shares, double (&sums)[C][K]) {
  const Doubles d;
  const std::size_t lanes = hn::Lanes(d);
  V vectors[C][K];
  for (auto& row : vectors) {
    for (V& sum : row) sum = hn::Zero(d);
  }
  const auto add = [&](const auto& activations, std::size_t i) HWY_ATTR {
    V xs[K];
    for (std::size_t k = 0; k < K; ++k) xs[k] = activations(k, 0);
    for (std::size_t c = 0; c < C; ++c) {
      const V share = hn::Load(d, shares.values[c] + i);
      for (std::size_t k = 0; k < K; ++k) vectors[c][k] = hn::MulAdd(share, xs[k], vectors[c][k]);
    }
  };
  std::size_t i = 0;
  for (; i + lanes <= tile.size; i += lanes) add(WholeVectors{x + i, tile.stride}, i);
  if (i < tile.size) add(PartOfVector{x + i, tile.stride, tile.size - i}, i);
  for (std::size_t c = 0; c < C; ++c) {
    for (std::size_t k = 0; k < K; ++k) {
      sums[c][k] = hn::GetLane(hn::SumOfLanes(d, vectors[c][k]));
    }
  }
}

// add(position, sum): of channel c and component k, position c K + k.
template <std::size_t K, std::size_t C, class Add>
HWY_INLINE void add_components(const ActivationTile& tile, const Shares<C>& shares,
                               std::size_t first, const Add& add) {
  double sums[C][K];
  weigh_components(tile, tile.x + first * tile.stride, shares, sums);
  for (std::size_t c = 0; c < C; ++c) {
    for (std::size_t k = 0; k < K; ++k) add(c * tile.num_components + first + k, c, sums[c][k]);
  }
}

template <std::size_t C, class Divide, class Add>
HWY_INLINE void add_channels(const Divide& divide, const ActivationTile& tile, const double* rows,
                             const Add& add) {
  Shares<C> shares;
  store_all_shares(divide, tile, rows, shares);
  std::size_t k = 0;
  for (; k + 3 <= tile.num_components; k += 3) add_components<3>(tile, shares, k, add);
  if (k + 2 == tile.num_components) add_components<2>(tile, shares, k, add);
  if (k + 1 == tile.num_components) add_components<1>(tile, shares, k, add);
}

void add_shares_of_tile(const ActivationTile& tile, const double* rows,
                        std::span<const double> counts, double* out) {
  const auto add_from = [&](auto channels, std::size_t j) HWY_ATTR {
    const double* const own = rows + j * tile.num_components;
    double* const to = out + j * tile.num_components;
    add_channels<channels>(ByIntensity{}, tile, own,
                           [&](std::size_t at, std::size_t c, double sum)
                               HWY_ATTR { to[at] += own[at] * counts[j + c] * sum; });
  };
  std::size_t j = 0;
  for (; j + 4 <= counts.size(); j += 4) {
    add_from(std::integral_constant<std::size_t, 4>(), j);
  }
  for (; j < counts.size(); ++j) add_from(std::integral_constant<std::size_t, 1>(), j);
}

void add_softened_of_tile(const ActivationTile& tile, const double* rows,
                          std::span<const double> scales, double* out) {
  const auto add_from = [&](auto channels, std::size_t j) HWY_ATTR {
    double* const to = out + j * tile.num_components;
    add_channels<channels>(BySoftened{scales.data() + j}, tile, rows + j * tile.num_components,
                           [&](std::size_t at, std::size_t, double sum)
                               HWY_ATTR { to[at] += sum; });
  };
  std::size_t j = 0;
  for (; j + 4 <= scales.size(); j += 4) {
    add_from(std::integral_constant<std::size_t, 4>(), j);
  }
  for (; j < scales.size(); ++j) add_from(std::integral_constant<std::size_t, 1>(), j);
}

}  // namespace headwater::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headwater {

HWY_EXPORT(add_shares_of_tile);
HWY_EXPORT(add_softened_of_tile);

void add_share_sums(const Eigen::Ref<const Matrix>& x, std::span<const double> weights,
                    std::span<const double> rows, std::span<const double> counts,
                    std::span<double> out) {
  assert(rows.size() == counts.size() * static_cast<std::size_t>(x.cols()));
  assert(out.size() == rows.size());
  for_each_tile(x, weights, [&](const ActivationTile& tile) {
    HWY_DYNAMIC_DISPATCH(add_shares_of_tile)(tile, rows.data(), counts, out.data());
  });
}

void add_softened_shares(const Eigen::Ref<const Matrix>& x, std::span<const double> weights,
                         const SoftenedChannels& channels, std::span<double> out) {
  assert(channels.rows.size() == channels.scales.size() * static_cast<std::size_t>(x.cols()));
  assert(out.size() == channels.rows.size());
  for_each_tile(x, weights, [&](const ActivationTile& tile) {
    HWY_DYNAMIC_DISPATCH(add_softened_of_tile)
    (tile, channels.rows.data(), channels.scales, out.data());
  });
}

}  // namespace headwater
#endif
