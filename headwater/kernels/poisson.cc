#include "headwater/kernels/poisson.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "headwater/kernels/poisson.cc"
#include <hwy/foreach_target.h>

#include "headwater/kernels/elementary-inl.hpp"
#include "headwater/kernels/intensities-inl.hpp"
#include "headwater/kernels/vectors-inl.hpp"

#ifndef HEADWATER_KERNELS_POISSON_CC_
#define HEADWATER_KERNELS_POISSON_CC_
namespace headwater {

// A run of channels with its counts and its rows of the basis.
struct ChannelRun {
  // The product of a run's intensities, if each is at least this large, is a normal number.
  static constexpr double kLeastIntensity = 0x1p-62;
  static constexpr double kLargestProduct = 0x1p1000;
  // So it is after a division by no more than this, if each is at least as large as that.
  static constexpr double kLeastSoftened = 0x1p-40;
  static constexpr double kLargestDivisor = 0x1p380;

  const CountRuns::Run& counts;
  std::size_t num_components;
  const double* rows;
  const double* total;   // of the first run, which starts the sums with it; else null
  const double* scales;  // where lambda / (1 + scale lambda) stands for the intensity; else null
};

}  // namespace headwater
#endif

HWY_BEFORE_NAMESPACE();
namespace headwater::HWY_NAMESPACE {

// The values that a run's terms are added to: minus the expected total count for the first run, the
// sums so far for the others.
template <std::size_t U, class Activations>
HWY_INLINE void sums_before(const ChannelRun& run, const Activations& activations,
                            const double* out, V (&sums)[U]) {
  const Doubles d;
  if (run.total == nullptr) {
    for (std::size_t u = 0; u < U; ++u) sums[u] = hn::LoadU(d, out + u * hn::Lanes(d));
    return;
  }
  V totals[1][U];
  intensities_of(run.total, run.num_components, activations, totals);
  for (std::size_t u = 0; u < U; ++u) sums[u] = hn::Neg(totals[0][u]);
}

// Takes log(1 + scale lambda) off logarithms of intensities.
template <std::size_t U>
HWY_INLINE void soften_logarithms(double scale, const V (&intensities)[U], V (&logarithms)[U]) {
  const Doubles d;
  V softened[U];
  for (std::size_t u = 0; u < U; ++u) {
    softened[u] = hn::MulAdd(hn::Set(d, scale), intensities[u], hn::Set(d, 1.0));
  }
  take_logs(d, softened);
  for (std::size_t u = 0; u < U; ++u) logarithms[u] = hn::Sub(logarithms[u], softened[u]);
}

// Adds sum_j c_j log lambda_j with one logarithm per channel, or two where it is softened. Valid
// for any counts and intensities.
template <std::size_t U, class Activations>
HWY_NOINLINE void add_logarithms(const ChannelRun& run, const Activations& activations,
                                 double* out) {
  const Doubles d;
  V sums[U];
  sums_before(run, activations, out, sums);
  for (std::size_t j = 0; j < run.counts.size; ++j) {
    V intensities[1][U];
    intensities_of(run.rows + j * run.num_components, run.num_components, activations, intensities);
    V logarithms[U];
    for (std::size_t u = 0; u < U; ++u) logarithms[u] = intensities[0][u];
    take_logs(d, logarithms);
    if (run.scales != nullptr) soften_logarithms(run.scales[j], intensities[0], logarithms);
    const auto count = hn::Set(d, run.counts.counts[j]);
    for (std::size_t u = 0; u < U; ++u) sums[u] = hn::MulAdd(count, logarithms[u], sums[u]);
  }
  for (std::size_t u = 0; u < U; ++u) hn::StoreU(sums[u], d, out + u * hn::Lanes(d));
}

// The intensities of all channels of a run for U vectors of particles, one row per channel.
template <std::size_t U>
struct Intensities {
  static constexpr std::size_t kStride = U * hn::MaxLanes(Doubles());
  HWY_ALIGN double values[CountRuns::Run::kMost * kStride];

  HWY_INLINE double* at(std::size_t channel, std::size_t u) {
    return values + channel * kStride + u * hn::Lanes(Doubles());
  }
};

// Computes the intensities of C channels from channel j, for H vectors of particles from vector u.
// Lowers `least` to the smallest intensity.
template <std::size_t C, std::size_t H, std::size_t U, class Activations>
HWY_INLINE void store_intensities(const ChannelRun& run, std::size_t j, std::size_t u,
                                  const Activations& activations, Intensities<U>& to, V& least) {
  V intensities[C][H];
  intensities_of(run.rows + j * run.num_components, run.num_components, activations.from(u),
                 intensities);
  for (std::size_t c = 0; c < C; ++c) {
    for (std::size_t h = 0; h < H; ++h) {
      least = hn::Min(least, intensities[c][h]);
      hn::Store(intensities[c][h], Doubles(), to.at(j + c, u + h));
    }
  }
}

// Computes all intensities; returns the smallest.
template <std::size_t U, class Activations>
HWY_INLINE V store_all_intensities(const ChannelRun& run, const Activations& activations,
                                   Intensities<U>& to) {
  constexpr std::size_t kVectors = U < 2 ? U : 2;
  V least = hn::Set(Doubles(), 1.0);
  for (std::size_t u = 0; u < U; u += kVectors) {
    std::size_t j = 0;
    for (; j + 4 <= run.counts.size; j += 4) {
      store_intensities<4, kVectors>(run, j, u, activations, to, least);
    }
    for (; j < run.counts.size; ++j)
      store_intensities<1, kVectors>(run, j, u, activations, to, least);
  }
  return least;
}

// prod_j lambda_j^c_j = mantissa 2^(exponent - bias).
template <std::size_t U>
struct Products {
  // Not the compiler's own, which GCC compiles for no instruction set in particular.
  HWY_ATTR HWY_INLINE Products() {}  // NOLINT(modernize-use-equals-default)

  V mantissas[U];
  hn::Vec<hn::RebindToUnsigned<Doubles>> exponents[U];
  double bias = 0;
};

// Divides by the product of 1 + scale lambda over the channels from `begin` to `end` in the list.
// One division for all of them. `largest`: the divisor on the scale of kLargestProduct.
template <std::size_t U>
HWY_INLINE void divide_by_softening(const ChannelRun& run, std::size_t begin, std::size_t end,
                                    Intensities<U>& intensities, Products<U>& products,
                                    V& largest) {
  const Doubles d;
  const V ratio = hn::Set(d, ChannelRun::kLargestProduct / ChannelRun::kLargestDivisor);
  const V one = hn::Set(d, 1.0);
  V divisors[U];
  for (V& divisor : divisors) divisor = one;
  for (std::size_t i = begin; i < end; ++i) {
    const std::size_t j = run.counts.channels[i];
    const V scale = hn::Set(d, run.scales[j]);
    for (std::size_t u = 0; u < U; ++u) {
      const V factor = hn::MulAdd(scale, hn::Load(d, intensities.at(j, u)), one);
      divisors[u] = hn::Mul(divisors[u], factor);
    }
  }
  for (std::size_t u = 0; u < U; ++u) {
    largest = hn::Max(largest, hn::Mul(divisors[u], ratio));
    products.mantissas[u] = hn::Div(products.mantissas[u], divisors[u]);
  }
}

// Horner's rule for the exponents: (..((Q_n)^2 Q_n-1)^2 ..)^2 Q_0, where Q_b is the product of all
// lambda_j whose count has binary digit b set. The power of two is split off after each digit, so
// nothing can underflow. Returns the largest intermediate number; the caller checks it for
// overflow.
template <std::size_t U>
HWY_INLINE V multiply(const ChannelRun& run, Intensities<U>& intensities, Products<U>& products) {
  const Doubles d;
  const hn::RebindToUnsigned<Doubles> du;
  V largest = hn::Zero(d);
  for (std::size_t u = 0; u < U; ++u) {
    products.mantissas[u] = hn::Set(d, 1.0);
    products.exponents[u] = hn::Zero(du);
  }
  std::size_t i = 0;
  for (std::size_t digit = 0; digit < run.counts.num_digits; ++digit) {
    const std::size_t begin = i;
    for (V& mantissa : products.mantissas) mantissa = hn::Mul(mantissa, mantissa);
    for (; i < run.counts.ends[digit]; ++i) {
      for (std::size_t u = 0; u < U; ++u) {
        const V factor = hn::Load(d, intensities.at(run.counts.channels[i], u));
        products.mantissas[u] = hn::Mul(products.mantissas[u], factor);
      }
    }
    for (const V& mantissa : products.mantissas) largest = hn::Max(largest, mantissa);
    if (run.scales != nullptr) divide_by_softening(run, begin, i, intensities, products, largest);
    for (std::size_t u = 0; u < U; ++u) {
      V& mantissa = products.mantissas[u];
      auto& exponent = products.exponents[u];
      const auto bits = hn::BitCast(du, mantissa);
      mantissa = hn::BitCast(d, hn::Or(hn::And(bits, hn::Set(du, 0x000FFFFFFFFFFFFF)),
                                       hn::Set(du, 0x3FF0000000000000)));
      exponent = hn::Add(hn::Add(exponent, exponent), hn::ShiftRight<52>(bits));
    }
    products.bias = 2 * products.bias + 1023;
  }
  return largest;
}

// Adds sum_j c_j log lambda_j for integer counts, as the logarithm of the product of powers.
template <std::size_t U, class Activations>
HWY_INLINE void add_logarithm_of_product(const ChannelRun& run, const Activations& activations,
                                         double* out) {
  const Doubles d;
  Intensities<U> intensities;
  Products<U> products;
  const V least = store_all_intensities(run, activations, intensities);
  const V largest = multiply(run, intensities, products);
  const double bound =
      run.scales == nullptr ? ChannelRun::kLeastIntensity : ChannelRun::kLeastSoftened;
  const auto in_range = hn::And(hn::Ge(least, hn::Set(d, bound)),
                                hn::Lt(largest, hn::Set(d, ChannelRun::kLargestProduct)));
  if (HWY_UNLIKELY(!hn::AllTrue(d, in_range))) {
    add_logarithms<U>(run, activations, out);
    return;
  }
  V sums[U];
  sums_before(run, activations, out, sums);
  for (std::size_t u = 0; u < U; ++u) {
    const Split<Doubles> parts = split(d, products.mantissas[u]);
    const auto exponent =
        whole_to_double(d, hn::Add(parts.exponent, products.exponents[u]), products.bias + 1023);
    const V log = log_of_parts(d, parts.mantissa, exponent);
    hn::StoreU(hn::Add(sums[u], log), d, out + u * hn::Lanes(d));
  }
}

template <std::size_t U, class Activations>
HWY_INLINE void add_run_to(const ChannelRun& run, const Activations& activations, double* out) {
  if (run.counts.is_whole) {
    add_logarithm_of_product<U>(run, activations, out);
  } else {
    add_logarithms<U>(run, activations, out);
  }
}

void add_run(const double* x, std::size_t stride, std::size_t size, const ChannelRun& run,
             double* out) {
  constexpr std::size_t kTogether = 8;  // vectors at a time, enough to hide latencies
  const Doubles d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + kTogether * lanes <= size; i += kTogether * lanes) {
    add_run_to<kTogether>(run, WholeVectors{x + i, stride}, out + i);
  }
  for (; i + 2 * lanes <= size; i += 2 * lanes) {
    add_run_to<2>(run, WholeVectors{x + i, stride}, out + i);
  }
  for (; i + lanes <= size; i += lanes) add_run_to<1>(run, WholeVectors{x + i, stride}, out + i);
  if (i == size) return;
  HWY_ALIGN double part[hn::MaxLanes(Doubles())];
  const std::size_t count = size - i;
  hn::Store(load_part(d, out + i, count), d, part);
  add_run_to<1>(run, PartOfVector{x + i, stride, count}, part);
  store_part(d, hn::Load(d, part), out + i, count);
}

}  // namespace headwater::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headwater {

HWY_EXPORT(add_run);

namespace {

using Run = CountRuns::Run;

bool is_small_and_whole(double count) {
  return count <= Run::kLargestPower &&
         count == static_cast<double>(static_cast<std::uint32_t>(count));
}

void list_digits(Run& run) {
  std::array<std::array<std::uint8_t, Run::kMost>, Run::kDigits> channels;
  std::array<std::uint8_t, Run::kDigits> lengths = {};
  for (std::size_t j = 0; j < run.size; ++j) {
    for (auto rest = static_cast<std::uint32_t>(run.counts[j]); rest != 0; rest &= rest - 1) {
      const auto digit = static_cast<std::size_t>(std::countr_zero(rest));
      channels[digit][lengths[digit]++] = static_cast<std::uint8_t>(j);
    }
  }
  std::uint8_t end = 0;
  for (std::size_t digit = Run::kDigits; digit-- > 0;) {
    std::copy_n(channels[digit].begin(), lengths[digit], run.channels.begin() + end);
    end = static_cast<std::uint8_t>(end + lengths[digit]);
    if (end > 0) run.ends[run.num_digits++] = end;
  }
}

// The longest run of channels of one kind that begins at `first`; empty at the end.
Run next_run(std::span<const double> counts, std::size_t first) {
  Run run;
  run.first = first;
  run.is_whole = first < counts.size() && is_small_and_whole(counts[first]);
  while (first + run.size < counts.size() && run.size < Run::kMost &&
         is_small_and_whole(counts[first + run.size]) == run.is_whole) {
    run.counts[run.size] = counts[first + run.size];
    ++run.size;
  }
  if (run.is_whole) list_digits(run);
  return run;
}

}  // namespace

std::span<const CountRuns::Run> CountRuns::runs_of(const Stretch& stretch) const {
  const auto begin = std::ranges::lower_bound(runs_, stretch.first, {}, &Run::first);
  const auto end =
      std::ranges::lower_bound(begin, runs_.end(), stretch.first + stretch.size, {}, &Run::first);
  return {begin, end};
}

void CountRuns::set(std::span<const double> counts, std::span<const Stretch> stretches) {
  const Stretch all{0, counts.size()};
  if (stretches.empty()) stretches = {&all, 1};
  runs_.clear();
  num_channels_ = 0;
  for (const Stretch& stretch : stretches) {
    const std::size_t end = stretch.first + stretch.size;
    do {
      runs_.push_back(next_run(counts.first(end), num_channels_));
      num_channels_ += runs_.back().size;
    } while (num_channels_ < end);
  }
}

void poisson_log_likelihoods(const Eigen::Ref<const Matrix>& x, std::span<const double> rows,
                             const CountRuns& counts, std::span<const double> total,
                             std::span<double> out) {
  assert(static_cast<Index>(out.size()) == x.rows());
  assert(static_cast<Index>(total.size()) == x.cols() && x.cols() > 0);
  assert(rows.size() == counts.num_channels() * total.size() && !counts.runs().empty());
  const auto stride = static_cast<std::size_t>(x.outerStride());
  for (const CountRuns::Run& run : counts.runs()) {
    const bool is_first = run.first == 0;
    HWY_DYNAMIC_DISPATCH(add_run)
    (x.data(), stride, out.size(),
     {run, total.size(), rows.data() + run.first * total.size(), is_first ? total.data() : nullptr,
      nullptr},
     out.data());
  }
}

void add_count_logarithms(const Eigen::Ref<const Matrix>& x, std::span<const double> rows,
                          std::span<const CountRuns::Run> runs, std::span<double> out) {
  add_softened_count_logarithms(x, rows, {}, runs, out);
}

void add_softened_count_logarithms(const Eigen::Ref<const Matrix>& x, std::span<const double> rows,
                                   std::span<const double> scales,
                                   std::span<const CountRuns::Run> runs, std::span<double> out) {
  const auto stride = static_cast<std::size_t>(x.outerStride());
  const auto columns = static_cast<std::size_t>(x.cols());
  for (const CountRuns::Run& run : runs) {
    HWY_DYNAMIC_DISPATCH(add_run)
    (x.data(), stride, out.size(),
     {run, columns, rows.data() + run.first * columns, nullptr,
      scales.empty() ? nullptr : scales.data() + run.first},
     out.data());
  }
}

}  // namespace headwater
#endif
