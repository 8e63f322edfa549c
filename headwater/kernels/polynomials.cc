#include "headwater/kernels/polynomials.hpp"

#include <algorithm>
#include <cassert>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "headwater/kernels/polynomials.cc"
#include <hwy/foreach_target.h>

#include "headwater/kernels/intensities-inl.hpp"
#include "headwater/kernels/vectors-inl.hpp"

#ifndef HEADWATER_KERNELS_POLYNOMIALS_CC_
#define HEADWATER_KERNELS_POLYNOMIALS_CC_
namespace headwater {

// Adds the moments of up to kMomentTile points. Weights and products of all points of the tile
// stay in the fastest cache.
constexpr std::size_t kMomentTile = 64;

struct MomentTile {
  const double* x;
  std::size_t stride;
  const double* weights;
  std::size_t weight_stride;
  std::size_t size;
  std::size_t num_variables;
  int degree;
};

}  // namespace headwater
#endif

HWY_BEFORE_NAMESPACE();
namespace headwater::HWY_NAMESPACE {

// sum_i a_i b_i; the arrays have room for whole vectors, `a` is 0 beyond the last point.
HWY_INLINE double product_sum(const double* a, const double* b, std::size_t size) {
  const Doubles d;
  const std::size_t lanes = hn::Lanes(d);
  V first = hn::Zero(d);
  V second = hn::Zero(d);
  std::size_t i = 0;
  for (; i + 2 * lanes <= size; i += 2 * lanes) {
    first = hn::MulAdd(hn::LoadU(d, a + i), hn::LoadU(d, b + i), first);
    second = hn::MulAdd(hn::LoadU(d, a + i + lanes), hn::LoadU(d, b + i + lanes), second);
  }
  for (; i < size; i += lanes) {
    const std::size_t count = HWY_MIN(lanes, size - i);
    first = hn::MulAdd(load_part(d, a + i, count), load_part(d, b + i, count), first);
  }
  return hn::GetLane(hn::SumOfLanes(d, hn::Add(first, second)));
}

HWY_INLINE void multiply(const double* a, const double* b, std::size_t size, double* out) {
  map(size, out, [=](const auto& load) HWY_ATTR { return hn::Mul(load(a), load(b)); });
}

// The monomial of a list of variables, and all lists that begin with it. `power` is its value at
// each point.
void add_moments_from(const MomentTile& tile, std::size_t first, int depth, const double* power,
                      double*& out) {
  *out++ += product_sum(tile.weights + static_cast<std::size_t>(depth) * tile.weight_stride, power,
                        tile.size);
  if (depth == tile.degree) return;
  if (depth + 1 == tile.degree) {
    // The last variable of the longest lists: their products are not needed again.
    HWY_ALIGN double weighted[kMomentTile];
    multiply(tile.weights + static_cast<std::size_t>(tile.degree) * tile.weight_stride, power,
             tile.size, weighted);
    for (std::size_t k = first; k < tile.num_variables; ++k) {
      *out++ += product_sum(weighted, tile.x + k * tile.stride, tile.size);
    }
    return;
  }
  HWY_ALIGN double product[kMomentTile];
  for (std::size_t k = first; k < tile.num_variables; ++k) {
    multiply(power, tile.x + k * tile.stride, tile.size, product);
    add_moments_from(tile, k, depth + 1, product, out);
  }
}

void add_moments_of_tile(const MomentTile& tile, double* out) {
  HWY_ALIGN double ones[kMomentTile];
  std::fill_n(ones, tile.size, 1.0);
  add_moments_from(tile, 0, 0, ones, out);
}

// The polynomial of the lists that begin with one of `depth` variables, without those: nested
// multiplication.
template <std::size_t U, class Points>
HWY_INLINE void add_leaves(const Points& x, std::size_t first, std::size_t num_variables,
                           const double*& coefficients, V (&sums)[U]) {
  const Doubles d;
  for (std::size_t k = first; k < num_variables; ++k) {
    const V coefficient = hn::Set(d, *coefficients++);
    for (std::size_t u = 0; u < U; ++u) sums[u] = hn::MulAdd(coefficient, x(k, u), sums[u]);
  }
}

template <std::size_t U, class Points>
void polynomial_from(const Points& x, std::size_t first, std::size_t num_variables, int left,
                     const double*& coefficients, V (&sums)[U]) {
  const Doubles d;
  for (std::size_t u = 0; u < U; ++u) sums[u] = hn::Set(d, *coefficients);
  ++coefficients;
  if (left == 0) return;
  if (left == 1) return add_leaves(x, first, num_variables, coefficients, sums);
  for (std::size_t k = first; k < num_variables; ++k) {
    V inner[U];
    polynomial_from(x, k, num_variables, left - 1, coefficients, inner);
    for (std::size_t u = 0; u < U; ++u) sums[u] = hn::MulAdd(inner[u], x(k, u), sums[u]);
  }
}

void add_polynomial_at(const double* x, std::size_t stride, std::size_t size,
                       std::size_t num_variables, const double* coefficients, int degree,
                       double* out) {
  constexpr std::size_t kTogether = 4;
  const Doubles d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + kTogether * lanes <= size; i += kTogether * lanes) {
    const double* at = coefficients;
    V sums[kTogether];
    polynomial_from(WholeVectors{x + i, stride}, 0, num_variables, degree, at, sums);
    for (std::size_t u = 0; u < kTogether; ++u) {
      double* const to = out + i + u * lanes;
      hn::StoreU(hn::Add(hn::LoadU(d, to), sums[u]), d, to);
    }
  }
  for (; i < size; i += lanes) {
    const std::size_t count = HWY_MIN(lanes, size - i);
    const double* at = coefficients;
    V sums[1];
    polynomial_from(PartOfVector{x + i, stride, count}, 0, num_variables, degree, at, sums);
    store_part(d, hn::Add(load_part(d, out + i, count), sums[0]), out + i, count);
  }
}

// A vector of points whose parts and slopes are taken.
struct PartsAt {
  const V* x;        // K
  const V* weights;  // D + 1
  V* parts;          // D + 1
  V* slopes;         // K
  std::size_t num_variables;
  int degree;
};

// `power`: the monomial of the list so far. Returns the weighted polynomial of the lists that begin
// with it, without its own variables; its product with `power` has the slope `power` in it.
V parts_from(const PartsAt& at, std::size_t first, int depth, V power,
             const double*& coefficients) {
  const Doubles d;
  const V coefficient = hn::Set(d, *coefficients++);
  at.parts[depth] = hn::MulAdd(coefficient, power, at.parts[depth]);
  V sum = hn::Mul(coefficient, at.weights[depth]);
  if (depth == at.degree) return sum;
  if (depth + 1 == at.degree) {
    const V weight = at.weights[at.degree];
    const V weighted = hn::Mul(weight, power);
    V homogeneous = hn::Zero(d);
    for (std::size_t k = first; k < at.num_variables; ++k) {
      const V leaf = hn::Set(d, *coefficients++);
      homogeneous = hn::MulAdd(leaf, at.x[k], homogeneous);
      at.slopes[k] = hn::MulAdd(leaf, weighted, at.slopes[k]);
    }
    at.parts[at.degree] = hn::MulAdd(homogeneous, power, at.parts[at.degree]);
    return hn::MulAdd(weight, homogeneous, sum);
  }
  for (std::size_t k = first; k < at.num_variables; ++k) {
    const V inner = parts_from(at, k, depth + 1, hn::Mul(power, at.x[k]), coefficients);
    at.slopes[k] = hn::MulAdd(inner, power, at.slopes[k]);
    sum = hn::MulAdd(inner, at.x[k], sum);
  }
  return sum;
}

void take_parts_at(const double* x, std::size_t stride, std::size_t size, std::size_t num_variables,
                   const double* coefficients, int degree, const double* weights,
                   std::size_t weight_stride, double* parts, std::size_t part_stride,
                   double* slopes, std::size_t slope_stride) {
  constexpr std::size_t kDegrees = kLargestDegree + 1;
  const Doubles d;
  const std::size_t lanes = hn::Lanes(d);
  const auto degrees = static_cast<std::size_t>(degree) + 1;
  V at_x[kMostVariables];
  V at_slopes[kMostVariables];
  V at_weights[kDegrees];
  V at_parts[kDegrees];
  for (std::size_t i = 0; i < size; i += lanes) {
    const std::size_t count = HWY_MIN(lanes, size - i);
    for (std::size_t k = 0; k < num_variables; ++k) {
      at_x[k] = load_part(d, x + k * stride + i, count);
      at_slopes[k] = hn::Zero(d);
    }
    for (std::size_t j = 0; j < degrees; ++j) {
      at_weights[j] = load_part(d, weights + j * weight_stride + i, count);
      at_parts[j] = hn::Zero(d);
    }
    const double* next = coefficients;
    parts_from({at_x, at_weights, at_parts, at_slopes, num_variables, degree}, 0, 0,
               hn::Set(d, 1.0), next);
    for (std::size_t j = 0; j < degrees; ++j) {
      store_part(d, at_parts[j], parts + j * part_stride + i, count);
    }
    for (std::size_t k = 0; k < num_variables; ++k) {
      store_part(d, at_slopes[k], slopes + k * slope_stride + i, count);
    }
  }
}

// The same for parts alone.
struct PartsAlone {
  const V* x;  // K
  V* parts;    // D + 1
  std::size_t num_variables;
  int degree;
};

void parts_alone_from(const PartsAlone& at, std::size_t first, int depth, V power,
                      const double*& coefficients) {
  const Doubles d;
  at.parts[depth] = hn::MulAdd(hn::Set(d, *coefficients++), power, at.parts[depth]);
  if (depth == at.degree) return;
  if (depth + 1 == at.degree) {
    V homogeneous = hn::Zero(d);
    for (std::size_t k = first; k < at.num_variables; ++k) {
      homogeneous = hn::MulAdd(hn::Set(d, *coefficients++), at.x[k], homogeneous);
    }
    at.parts[at.degree] = hn::MulAdd(homogeneous, power, at.parts[at.degree]);
    return;
  }
  for (std::size_t k = first; k < at.num_variables; ++k) {
    parts_alone_from(at, k, depth + 1, hn::Mul(power, at.x[k]), coefficients);
  }
}

void take_parts_alone_at(const double* x, std::size_t stride, std::size_t size,
                         std::size_t num_variables, const double* coefficients, int degree,
                         double* parts, std::size_t part_stride) {
  const Doubles d;
  const std::size_t lanes = hn::Lanes(d);
  const auto degrees = static_cast<std::size_t>(degree) + 1;
  V at_x[kMostVariables];
  V at_parts[kLargestDegree + 1];
  for (std::size_t i = 0; i < size; i += lanes) {
    const std::size_t count = HWY_MIN(lanes, size - i);
    for (std::size_t k = 0; k < num_variables; ++k) {
      at_x[k] = load_part(d, x + k * stride + i, count);
    }
    for (std::size_t j = 0; j < degrees; ++j) at_parts[j] = hn::Zero(d);
    const double* next = coefficients;
    parts_alone_from({at_x, at_parts, num_variables, degree}, 0, 0, hn::Set(d, 1.0), next);
    for (std::size_t j = 0; j < degrees; ++j) {
      store_part(d, at_parts[j], parts + j * part_stride + i, count);
    }
  }
}

}  // namespace headwater::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headwater {

HWY_EXPORT(add_moments_of_tile);
HWY_EXPORT(add_polynomial_at);
HWY_EXPORT(take_parts_at);
HWY_EXPORT(take_parts_alone_at);

namespace {

// `ways`: of the list so far. `same`: how often its last variable stands at its end.
void multiply_from(std::size_t num_variables, int degree, std::size_t first, int depth, double ways,
                   int same, double*& out) {
  *out++ *= ways;
  if (depth == degree) return;
  for (std::size_t k = first; k < num_variables; ++k) {
    const int again = depth > 0 && k == first ? same + 1 : 1;
    multiply_from(num_variables, degree, k, depth + 1, ways * (depth + 1) / again, again, out);
  }
}

std::size_t stride_of(const Eigen::Ref<const Matrix>& block) {
  return static_cast<std::size_t>(block.outerStride());
}

}  // namespace

std::size_t num_monomials(std::size_t num_variables, int degree) {
  std::size_t count = 1;
  for (int d = 1; d <= degree; ++d) {
    count = count * (num_variables + static_cast<std::size_t>(d)) / static_cast<std::size_t>(d);
  }
  return count;
}

void multiply_by_multinomials(std::size_t num_variables, int degree, std::span<double> out) {
  assert(out.size() == num_monomials(num_variables, degree));
  double* to = out.data();
  multiply_from(num_variables, degree, 0, 0, 1, 0, to);
}

void add_moments(const Eigen::Ref<const Matrix>& x, const Eigen::Ref<const Matrix>& weights,
                 std::span<double> out) {
  const auto columns = static_cast<std::size_t>(x.cols());
  const int degree = static_cast<int>(weights.cols()) - 1;
  assert(weights.rows() == x.rows() && degree >= 0 && degree <= kLargestDegree);
  assert(out.size() == num_monomials(columns, degree));
  const auto size = static_cast<std::size_t>(x.rows());
  for (std::size_t i = 0; i < size; i += kMomentTile) {
    HWY_DYNAMIC_DISPATCH(add_moments_of_tile)
    ({x.data() + i, stride_of(x), weights.data() + i, stride_of(weights),
      std::min(kMomentTile, size - i), columns, degree},
     out.data());
  }
}

void add_polynomial(const Eigen::Ref<const Matrix>& x, std::span<const double> coefficients,
                    int degree, std::span<double> out) {
  const auto columns = static_cast<std::size_t>(x.cols());
  assert(coefficients.size() == num_monomials(columns, degree));
  assert(static_cast<Index>(out.size()) == x.rows());
  HWY_DYNAMIC_DISPATCH(add_polynomial_at)
  (x.data(), stride_of(x), out.size(), columns, coefficients.data(), degree, out.data());
}

void take_parts(const Eigen::Ref<const Matrix>& x, std::span<const double> coefficients,
                const Eigen::Ref<const Matrix>& weights, Eigen::Ref<Matrix> parts,
                Eigen::Ref<Matrix> slopes) {
  const auto columns = static_cast<std::size_t>(x.cols());
  const int degree = static_cast<int>(weights.cols()) - 1;
  assert(columns <= kMostVariables && degree >= 0 && degree <= kLargestDegree);
  assert(coefficients.size() == num_monomials(columns, degree));
  assert(parts.rows() == x.rows() && parts.cols() == weights.cols());
  assert(slopes.rows() == x.rows() && slopes.cols() == x.cols());
  HWY_DYNAMIC_DISPATCH(take_parts_at)
  (x.data(), stride_of(x), static_cast<std::size_t>(x.rows()), columns, coefficients.data(), degree,
   weights.data(), stride_of(weights), parts.data(), static_cast<std::size_t>(parts.outerStride()),
   slopes.data(), static_cast<std::size_t>(slopes.outerStride()));
}

void take_parts(const Eigen::Ref<const Matrix>& x, std::span<const double> coefficients,
                Eigen::Ref<Matrix> parts) {
  const auto columns = static_cast<std::size_t>(x.cols());
  const int degree = static_cast<int>(parts.cols()) - 1;
  assert(columns <= kMostVariables && degree >= 0 && degree <= kLargestDegree);
  assert(coefficients.size() == num_monomials(columns, degree) && parts.rows() == x.rows());
  HWY_DYNAMIC_DISPATCH(take_parts_alone_at)
  (x.data(), stride_of(x), static_cast<std::size_t>(x.rows()), columns, coefficients.data(), degree,
   parts.data(), static_cast<std::size_t>(parts.outerStride()));
}

}  // namespace headwater
#endif
