#include "headwater/filters/resampling.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <numeric>

#include "headwater/error.hpp"
#include "headwater/filters/shared_weights.hpp"
#include "headwater/kernels/ancestors.hpp"
#include "headwater/random.hpp"

namespace headwater {

namespace {

struct NamedScheme {
  std::string_view name;
  Resampling scheme;
};

constexpr std::array<NamedScheme, 4> kSchemes = {{{"systematic", Resampling::kSystematic},
                                                  {"stratified", Resampling::kStratified},
                                                  {"multinomial", Resampling::kMultinomial},
                                                  {"residual", Resampling::kResidual}}};

// first: the index of the first of them.
double sum_of_nonnegative(std::span<const double> weights, std::size_t first) {
  double sum = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (!(weights[i] >= 0)) {
      throw UsageError(
          fmt::format("resample: weight {} is {}; expected a number >= 0", first + i, weights[i]));
    }
    sum += weights[i];
  }
  return sum;
}

double checked_sum(double sum, std::size_t num_weights) {
  if (sum > 0 && std::isfinite(sum)) return sum;
  throw UsageError(fmt::format(
      "resample: the {} weights sum to {}; expected a positive finite number", num_weights, sum));
}

// The order statistics of `count` uniform numbers, from the least on: with E_i exponential,
//   U_(j) = 1 - exp(-(E_1 / count + E_2 / (count - 1) + ... + E_j / (count - j + 1))),
// Renyi's representation. Sorted without sorting, and none needs to be kept.
class SortedUniforms {
 public:
  SortedUniforms(std::size_t count, Generator& generator)
      : generator_(generator), left_(static_cast<double>(count)) {}

  double next() {
    exponent_ += exponential(generator_) / left_;
    left_ -= 1;
    return -std::expm1(-exponent_);
  }

 private:
  Generator& generator_;
  double left_;
  double exponent_ = 0;
};

// N w_i as whole copies and a rest. What is a whole number but for rounding is taken as whole; the
// slack is so small that it never adds up to a copy too many.
struct Shares {
  std::span<const double> weights;
  double n;
  double sum;

  double expected(std::size_t i) const { return weights[i] / sum * n; }
  std::size_t copies(std::size_t i) const {
    constexpr double kSlack = 1 + 0x1p-40;
    return static_cast<std::size_t>(expected(i) * kSlack);
  }
  double rest(std::size_t i) const {
    return std::max(0.0, expected(i) - static_cast<double>(copies(i)));
  }
};

// The i-th of N points is the one in the i-th of N strata of equal weight.
template <class Offset>
void resample_strata(std::span<const double> weights, double sum, Offset offset,
                     std::span<std::int32_t> ancestors) {
  QuantileWalk walk(weights.size(), [weights](std::size_t i) { return weights[i]; });
  const auto n = static_cast<double>(ancestors.size());
  double stratum = 0;
  for (std::int32_t& ancestor : ancestors) {
    ancestor = walk.at((stratum + offset()) / n * sum);
    stratum += 1;
  }
}

void resample_multinomial(std::span<const double> weights, double sum, Generator& generator,
                          std::span<std::int32_t> ancestors) {
  QuantileWalk walk(weights.size(), [weights](std::size_t i) { return weights[i]; });
  SortedUniforms points(ancestors.size(), generator);
  for (std::int32_t& ancestor : ancestors) ancestor = walk.at(points.next() * sum);
}

void resample_residual(std::span<const double> weights, double sum, Generator& generator,
                       std::span<std::int32_t> ancestors) {
  const Shares shares{weights, static_cast<double>(ancestors.size()), sum};
  std::size_t to_draw = ancestors.size();
  double rest = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    to_draw -= shares.copies(i);
    rest += shares.rest(i);
  }
  assert(to_draw <= ancestors.size());
  QuantileWalk walk(weights.size(), [shares](std::size_t i) { return shares.rest(i); });
  SortedUniforms points(to_draw, generator);
  auto to = ancestors.begin();
  const auto draw = [&] {
    constexpr std::int32_t kNone = -1;
    if (to_draw == 0) return kNone;
    --to_draw;
    return walk.at(points.next() * rest);
  };
  std::int32_t drawn = draw();
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const auto index = static_cast<std::int32_t>(i);
    to = std::fill_n(to, shares.copies(i), index);
    for (; drawn == index; drawn = draw()) *to++ = index;
  }
}

}  // namespace

std::string to_string(Resampling scheme) {
  return std::string(kSchemes[static_cast<std::size_t>(scheme)].name);
}

Resampling parse_resampling(std::string_view name) {
  std::string names;
  for (const NamedScheme& known : kSchemes) {
    if (name == known.name) return known.scheme;
    names += names.empty() ? "" : ", ";
    names += known.name;
  }
  throw UsageError(fmt::format("unknown resampling '{}'; there are: {}", name, names));
}

void resample(Resampling scheme, std::span<const double> weights, Generator& generator,
              std::span<std::int32_t> ancestors) {
  const double sum = checked_sum(sum_of_nonnegative(weights, 0), weights.size());
  switch (scheme) {
    case Resampling::kSystematic:
      return systematic_ancestors(weights, sum, generator.uniform(), ancestors);
    case Resampling::kStratified:
      return resample_strata(
          weights, sum, [&] { return generator.uniform(); }, ancestors);
    case Resampling::kMultinomial:
      return resample_multinomial(weights, sum, generator, ancestors);
    case Resampling::kResidual:
      return resample_residual(weights, sum, generator, ancestors);
  }
}

void SharedResampling::resample(Resampling scheme, std::span<const double> weights,
                                Generator& generator, std::span<std::int32_t> ancestors,
                                const ThreadPool& pool) {
  const auto count = static_cast<Index>(weights.size());
  if (count <= kWeightsInAPart || scheme != Resampling::kSystematic) {
    return headwater::resample(scheme, weights, generator, ancestors);
  }
  const auto num_parts = static_cast<std::size_t>((count + kWeightsInAPart - 1) / kWeightsInAPart);
  sums_.resize(num_parts);
  for_each_chunk(pool, count, kWeightsInAPart, [&](Index first, Index size, Index part) {
    sums_[part] = sum_of_nonnegative(weights.subspan(first, size), first);
  });
  const double sum = checked_sum(std::accumulate(sums_.begin(), sums_.end(), 0.0), weights.size());
  const SystematicPoints points(ancestors.size(), sum, generator.uniform());
  cumulated_.assign(num_parts + 1, 0);
  for_each_chunk(pool, count, kWeightsInAPart, [&](Index first, Index size, Index part) {
    cumulated_[part + 1] = points.sum_of(weights.subspan(first, size));
  });
  std::partial_sum(cumulated_.begin(), cumulated_.end(), cumulated_.begin());
  for_each_chunk(pool, count, kWeightsInAPart, [&](Index first, Index size, Index part) {
    points.choose(weights.subspan(first, size), static_cast<std::int32_t>(first), cumulated_[part],
                  ancestors.first(points.num_below(cumulated_[part + 1])));
  });
  points.choose_rest(weights, points.num_below(cumulated_.back()), ancestors);
}

void QuantileTable::set(std::span<const double> weights) {
  cumulated_.resize(weights.size());
  begin_.resize(weights.size());
  double sum = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    sum += weights[i];
    cumulated_[i] = sum;
    if (weights[i] > 0) last_ = static_cast<std::int32_t>(i);
  }
  slots_per_unit_ = static_cast<double>(begin_.size()) / sum;
  // A slot's number, rounded, may be one too large for its first points: each begins a slot early.
  std::int32_t i = 0;
  for (std::size_t slot = 0; slot < begin_.size(); ++slot) {
    const double from = (static_cast<double>(slot) - 1) / slots_per_unit_;
    while (i < last_ && cumulated_[static_cast<std::size_t>(i)] <= from) ++i;
    begin_[slot] = i;
  }
}

}  // namespace headwater
