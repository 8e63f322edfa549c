#include "headwater/kernels/negative_binomial.hpp"

#include <algorithm>
#include <cassert>
#include <cstddef>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "headwater/kernels/negative_binomial.cc"
#include <hwy/foreach_target.h>

#include "headwater/kernels/activation_tile.hpp"
#include "headwater/kernels/elementary-inl.hpp"
#include "headwater/kernels/intensities-inl.hpp"
#include "headwater/kernels/vectors-inl.hpp"

#ifndef HEADWATER_KERNELS_NEGATIVE_BINOMIAL_CC_
#define HEADWATER_KERNELS_NEGATIVE_BINOMIAL_CC_
namespace headwater {

// One channel's row and numbers.
struct SoftenedChannel {
  const double* row;
  double scale;
  double exposure;
  double dispersion;
  double limit;
};

// In place of a dispersion of 0: its powers are far from underflow, and mu^2 g(z) is
// z^2 g(z) / phi^2 all the same.
constexpr double kAlmostNothing = 1e-60;

struct SoftenedChannelSums {
  double bend = 0;
  double slope = 0;
  double information = 0;
};

}  // namespace headwater
#endif

HWY_BEFORE_NAMESPACE();
namespace headwater::HWY_NAMESPACE {

// log(1 + z) for z >= 0: the logarithm of the rounded sum, and a first-order term for what the
// rounding left out.
template <std::size_t U>
HWY_INLINE void take_log1ps(const V (&z)[U], V (&out)[U]) {
  const Doubles d;
  const V one = hn::Set(d, 1.0);
  V rest[U];
  for (std::size_t u = 0; u < U; ++u) {
    out[u] = hn::Add(one, z[u]);
    rest[u] = hn::Div(hn::Sub(z[u], hn::Sub(out[u], one)), out[u]);
  }
  take_logs(d, out);
  for (std::size_t u = 0; u < U; ++u) out[u] = hn::Add(out[u], rest[u]);
}

template <std::size_t U, class Activations>
HWY_INLINE void subtract_logs(const Activations& activations, std::size_t num_components,
                              const double* rows, std::span<const double> scales,
                              const double* weights, double* out) {
  const Doubles d;
  V sums[U];
  for (std::size_t u = 0; u < U; ++u) sums[u] = hn::LoadU(d, out + u * hn::Lanes(d));
  for (std::size_t j = 0; j < scales.size(); ++j) {
    V z[1][U];
    intensities_of(rows + j * num_components, num_components, activations, z);
    const V scale = hn::Set(d, scales[j]);
    for (V& value : z[0]) value = hn::Mul(value, scale);
    V logs[U];
    take_log1ps(z[0], logs);
    const V weight = hn::Set(d, weights[j]);
    for (std::size_t u = 0; u < U; ++u) sums[u] = hn::NegMulAdd(weight, logs[u], sums[u]);
  }
  for (std::size_t u = 0; u < U; ++u) hn::StoreU(sums[u], d, out + u * hn::Lanes(d));
}

void subtract_all_logs(const double* x, std::size_t stride, std::size_t size,
                       std::size_t num_components, const double* rows,
                       std::span<const double> scales, const double* weights, double* out) {
  constexpr std::size_t kTogether = 4;  // vectors at a time, enough to hide latencies
  const Doubles d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + kTogether * lanes <= size; i += kTogether * lanes) {
    subtract_logs<kTogether>(WholeVectors{x + i, stride}, num_components, rows, scales, weights,
                             out + i);
  }
  for (; i + lanes <= size; i += lanes) {
    subtract_logs<1>(WholeVectors{x + i, stride}, num_components, rows, scales, weights, out + i);
  }
  if (i == size) return;
  HWY_ALIGN double part[hn::MaxLanes(Doubles())];
  const std::size_t count = size - i;
  hn::Store(load_part(d, out + i, count), d, part);
  subtract_logs<1>(PartOfVector{x + i, stride, count}, num_components, rows, scales, weights, part);
  store_part(d, hn::Load(d, part), out + i, count);
}

// z^2 g(z) = log(1 + z) - z / (1 + z), by its power series where that would lose digits. `inverses`
// are 1 / (1 + z).
template <std::size_t U>
HWY_INLINE void take_softenings(const V (&z)[U], const V (&inverses)[U], V (&out)[U]) {
  constexpr double kSmall = 0.02;
  const Doubles d;
  const V one = hn::Set(d, 1.0);
  V rest[U];  // as in take_log1ps()
  for (std::size_t u = 0; u < U; ++u) {
    out[u] = hn::Add(one, z[u]);
    rest[u] = hn::Sub(z[u], hn::Sub(out[u], one));
  }
  take_logs(d, out);
  for (std::size_t u = 0; u < U; ++u) {
    const V by_log = hn::MulAdd(hn::Sub(rest[u], z[u]), inverses[u], out[u]);
    V series = hn::Set(d, 9.0 / 10);
    for (int n = 9; n >= 2; --n) {
      series = hn::NegMulAdd(z[u], series, hn::Set(d, (n - 1.0) / n));
    }
    series = hn::Mul(series, hn::Mul(z[u], z[u]));
    out[u] = hn::IfThenElse(hn::Gt(z[u], hn::Set(d, kSmall)), by_log, series);
  }
}

struct SumsOfVectors {
  V bend;
  V slope;
  V information;
};

// Stores w / (1 + z) of U vectors and adds their terms to the sums: of the bend, w z^2 g(z), and of
// the information twice w times it.
template <std::size_t U, class Activations, class Weights>
HWY_INLINE void soften(const SoftenedChannel& channel, std::size_t num_components,
                       const Activations& activations, const Weights& weights, double* shares,
                       SumsOfVectors& sums) {
  const Doubles d;
  const V one = hn::Set(d, 1.0);
  const V two = hn::Set(d, 2.0);
  const V first = hn::Set(d, 1 + channel.dispersion);
  const V limit = hn::Set(d, 1 / channel.limit);
  V intensities[1][U];
  intensities_of(channel.row, num_components, activations, intensities);
  V z[U];
  V inverses[U];
  V informations[U];
  V softenings[U];
  for (std::size_t u = 0; u < U; ++u) {
    z[u] = hn::Mul(intensities[0][u], hn::Set(d, channel.scale));
    // 1 / (1 + z) and 1 / (1 + phi + 2 z + z^2 / limit) by one division.
    const V sum = hn::Add(one, z[u]);
    const V divisor = hn::MulAdd(z[u], hn::MulAdd(z[u], limit, two), first);
    const V both = hn::Div(one, hn::Mul(sum, divisor));
    inverses[u] = hn::Mul(both, divisor);
    informations[u] = hn::Mul(both, sum);
  }
  take_softenings(z, inverses, softenings);
  for (std::size_t u = 0; u < U; ++u) {
    const V weight = weights(0, u);
    const V mean = hn::Mul(intensities[0][u], hn::Set(d, channel.exposure));
    const V share = hn::Mul(weight, inverses[u]);
    hn::Store(share, d, shares + u * hn::Lanes(d));
    sums.bend = hn::MulAdd(weight, softenings[u], sums.bend);
    sums.slope = hn::MulAdd(share, mean, sums.slope);  // w mu / (1 + z)
    sums.information =
        hn::MulAdd(hn::Mul(weight, hn::Mul(mean, mean)), informations[u], sums.information);
  }
}

// sums[k] += sum_i shares[i] x(i, k). Shares after the last activation are 0.
HWY_INLINE void add_shares(const ActivationTile& tile, const double* shares, double* sums) {
  const Doubles d;
  const std::size_t lanes = hn::Lanes(d);
  for (std::size_t k = 0; k < tile.num_components; ++k) {
    const double* column = tile.x + k * tile.stride;
    V first = hn::Zero(d);
    V second = hn::Zero(d);
    std::size_t i = 0;
    for (; i + 2 * lanes <= tile.size; i += 2 * lanes) {
      first = hn::MulAdd(hn::Load(d, shares + i), hn::LoadU(d, column + i), first);
      second =
          hn::MulAdd(hn::Load(d, shares + i + lanes), hn::LoadU(d, column + i + lanes), second);
    }
    for (; i < tile.size; i += lanes) {
      const std::size_t count = HWY_MIN(lanes, tile.size - i);
      first = hn::MulAdd(hn::Load(d, shares + i), load_part(d, column + i, count), first);
    }
    sums[k] += hn::GetLane(hn::SumOfLanes(d, hn::Add(first, second)));
  }
}

SoftenedChannelSums sums_of_tile(const ActivationTile& tile, const SoftenedChannel& channel,
                                 double* losses) {
  constexpr std::size_t kTogether = 4;
  const Doubles d;
  const std::size_t lanes = hn::Lanes(d);
  HWY_ALIGN double shares[kActivationTile];
  SumsOfVectors sums{hn::Zero(d), hn::Zero(d), hn::Zero(d)};
  const auto [x, stride, size, num_components, weights] = tile;
  std::size_t i = 0;
  for (; i + kTogether * lanes <= size; i += kTogether * lanes) {
    soften<kTogether>(channel, num_components, WholeVectors{x + i, stride},
                      WholeVectors{weights + i, stride}, shares + i, sums);
  }
  for (; i < size; i += lanes) {
    const std::size_t count = HWY_MIN(lanes, size - i);
    soften<1>(channel, num_components, PartOfVector{x + i, stride, count},
              PartOfVector{weights + i, stride, count}, shares + i, sums);
  }
  add_shares(tile, shares, losses);
  const double dispersion = channel.scale / channel.exposure;
  return {hn::GetLane(hn::SumOfLanes(d, sums.bend)) / (dispersion * dispersion),
          hn::GetLane(hn::SumOfLanes(d, sums.slope)),
          hn::GetLane(hn::SumOfLanes(d, sums.information)) / 2};
}

}  // namespace headwater::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headwater {

HWY_EXPORT(subtract_all_logs);
HWY_EXPORT(sums_of_tile);

void subtract_softened_logs(const Eigen::Ref<const Matrix>& x, const SoftenedChannels& channels,
                            std::span<const double> weights, std::span<double> out) {
  assert(static_cast<Index>(out.size()) == x.rows());
  const auto columns = static_cast<std::size_t>(x.cols());
  assert(channels.rows.size() == channels.scales.size() * columns);
  HWY_DYNAMIC_DISPATCH(subtract_all_logs)
  (x.data(), static_cast<std::size_t>(x.outerStride()), out.size(), columns, channels.rows.data(),
   channels.scales, weights.data(), out.data());
}

void add_softened_sums(const Eigen::Ref<const Matrix>& x, std::span<const double> weights,
                       const SoftenedChannels& channels, const DispersedChannels& dispersed,
                       const SoftenedSums& out) {
  const auto columns = static_cast<std::size_t>(x.cols());
  for_each_tile(x, weights, [&](const ActivationTile& tile) {
    for (std::size_t j = 0; j < channels.scales.size(); ++j) {
      const SoftenedChannelSums sums = HWY_DYNAMIC_DISPATCH(sums_of_tile)(
          tile,
          {channels.rows.data() + j * columns,
           std::max(channels.scales[j], kAlmostNothing * dispersed.exposures[j]),
           dispersed.exposures[j], dispersed.dispersions[j], dispersed.limits[j]},
          out.losses.data() + j * columns);
      out.bends[j] += sums.bend;
      out.slopes[j] += sums.slope;
      out.informations[j] += sums.information;
    }
  });
}

}  // namespace headwater
#endif
