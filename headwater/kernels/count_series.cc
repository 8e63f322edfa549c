#include "headwater/kernels/count_series.hpp"

#include <cassert>
#include <cstddef>
#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "headwater/kernels/count_series.cc"
#include <hwy/foreach_target.h>

#include "headwater/kernels/vectors-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace headwater::HWY_NAMESPACE {

constexpr double kNegligible = 0x1p-54;    // relative to a sum
constexpr std::size_t kBetweenChecks = 8;  // number of terms

// The partial sums of the series for U vectors of m. Independent vectors hide the latency of the
// products.
template <std::size_t U>
struct PartialSums {
  V means[U];
  V terms[U];
  V sums[U];

  HWY_INLINE explicit PartialSums(const V (&at)[U]) {
    for (std::size_t u = 0; u < U; ++u) {
      means[u] = at[u];
      terms[u] = sums[u] = hn::Set(Doubles(), 1.0);
    }
  }

  HWY_INLINE void add_term(double ratio) {
    const auto r = hn::Set(Doubles(), ratio);
    for (std::size_t u = 0; u < U; ++u) {
      terms[u] = hn::Mul(terms[u], hn::Mul(means[u], r));
      sums[u] = hn::Add(sums[u], terms[u]);
    }
  }

  // Whether the remaining terms, beginning with this ratio, are negligible and each is less than
  // half of the one before.
  HWY_INLINE bool are_complete(double ratio) const {
    const Doubles d;
    const auto half = hn::Set(d, 0.5);
    for (std::size_t u = 0; u < U; ++u) {
      const auto falls = hn::Le(hn::Mul(means[u], hn::Set(d, ratio)), half);
      const auto is_small = hn::Le(terms[u], hn::Mul(sums[u], hn::Set(d, kNegligible)));
      if (!hn::AllTrue(d, hn::And(falls, is_small))) return false;
    }
    return true;
  }
};

template <std::size_t U>
HWY_INLINE void sum_up(const double* ratios, std::size_t size, const V (&means)[U], V (&sums)[U]) {
  PartialSums<U> partial(means);
  for (std::size_t h = 0; h < size; ++h) {
    if (h % kBetweenChecks == 0 && partial.are_complete(ratios[h])) break;
    partial.add_term(ratios[h]);
  }
  for (std::size_t u = 0; u < U; ++u) sums[u] = partial.sums[u];
}

// Counts the partial sums that are at most u S(m). Partial sums that equal S(m) up to rounding are
// never counted, so the result is at most the index of the last term.
template <std::size_t U>
HWY_INLINE void count_up(const double* ratios, std::size_t size, const V (&means)[U],
                         const V (&uniforms)[U], V (&counts)[U]) {
  const Doubles d;
  const auto one = hn::Set(d, 1.0);
  V goals[U];
  sum_up(ratios, size, means, goals);
  for (std::size_t u = 0; u < U; ++u) {
    goals[u] = hn::Mul(goals[u], uniforms[u]);
    counts[u] = hn::Zero(d);
  }
  PartialSums<U> partial(means);
  for (std::size_t h = 0; h < size; ++h) {
    bool are_all_there = true;
    for (std::size_t u = 0; u < U; ++u) {
      const auto is_short = hn::Le(partial.sums[u], goals[u]);
      counts[u] = hn::Add(counts[u], hn::IfThenElseZero(is_short, one));
      are_all_there = are_all_there && hn::AllFalse(d, is_short);
    }
    if (are_all_there) break;
    partial.add_term(ratios[h]);
  }
}

// Calls function(load, store) for groups of four vectors, then for single vectors.
template <class Function>
HWY_INLINE void for_vectors(std::size_t size, const Function& function) {
  const Doubles d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + 4 * lanes <= size; i += 4 * lanes) {
    function(
        std::integral_constant<std::size_t, 4>(),
        [=](const double* from, std::size_t u)
            HWY_ATTR { return hn::LoadU(d, from + i + u * lanes); },
        [=](V values, double* to, std::size_t u)
            HWY_ATTR { hn::StoreU(values, d, to + i + u * lanes); });
  }
  for (; i < size; i += lanes) {
    const std::size_t count = HWY_MIN(lanes, size - i);
    function(
        std::integral_constant<std::size_t, 1>(),
        [=](const double* from, std::size_t) HWY_ATTR { return load_part(d, from + i, count); },
        [=](V values, double* to, std::size_t) HWY_ATTR { store_part(d, values, to + i, count); });
  }
}

void sum_all(const double* ratios, std::size_t num_ratios, const double* means, double* sums,
             std::size_t size) {
  for_vectors(size, [=](auto width, auto load, auto store) HWY_ATTR {
    constexpr std::size_t kWidth = decltype(width)::value;
    V at[kWidth];
    V found[kWidth];
    for (std::size_t u = 0; u < kWidth; ++u) at[u] = load(means, u);
    sum_up(ratios, num_ratios, at, found);
    for (std::size_t u = 0; u < kWidth; ++u) store(found[u], sums, u);
  });
}

void draw_all(const double* ratios, std::size_t num_ratios, const double* means,
              const double* uniforms, double* counts, std::size_t size) {
  for_vectors(size, [=](auto width, auto load, auto store) HWY_ATTR {
    constexpr std::size_t kWidth = decltype(width)::value;
    V at[kWidth];
    V parts[kWidth];
    V found[kWidth];
    for (std::size_t u = 0; u < kWidth; ++u) {
      at[u] = load(means, u);
      parts[u] = load(uniforms, u);
    }
    count_up(ratios, num_ratios, at, parts, found);
    for (std::size_t u = 0; u < kWidth; ++u) store(found[u], counts, u);
  });
}

}  // namespace headwater::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headwater {

HWY_EXPORT(sum_all);
HWY_EXPORT(draw_all);

void sum_series(std::span<const double> ratios, std::span<const double> means,
                std::span<double> sums) {
  assert(means.size() == sums.size());
  HWY_DYNAMIC_DISPATCH(sum_all)
  (ratios.data(), ratios.size(), means.data(), sums.data(), sums.size());
}

void draw_from_series(std::span<const double> ratios, std::span<const double> means,
                      std::span<const double> uniforms, std::span<double> counts) {
  assert(means.size() == counts.size() && uniforms.size() == counts.size());
  HWY_DYNAMIC_DISPATCH(draw_all)
  (ratios.data(), ratios.size(), means.data(), uniforms.data(), counts.data(), counts.size());
}

}  // namespace headwater
#endif
