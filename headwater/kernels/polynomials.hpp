#pragma once

#include <cstddef>
#include <span>

#include "headwater/matrix.hpp"

namespace headwater {

// Polynomials in K variables of a total degree of at most D, and sums of powers of points.
//
// Monomials x^a = x_0^a_0 ... x_{K-1}^a_{K-1} are in the order of a depth-first walk over
// ascending lists of variables: 1, x_0, x_0 x_0, ..., x_0 x_1, ..., x_1, ... So each is its parent
// in the walk times one variable, and costs one product.

inline constexpr int kLargestDegree = 7;
inline constexpr std::size_t kMostVariables = 64;

// (K + D)! / (K! D!).
std::size_t num_monomials(std::size_t num_variables, int degree);

// How often each monomial stands in (x_0 + ... + x_{K-1})^|a|: |a|! / (a_0! ... a_{K-1}!).
void multiply_by_multinomials(std::size_t num_variables, int degree, std::span<double> out);

// out[a] += sum_i weights(i, |a|) x_i^a, for points x_i in the rows of an n x K block, and an
// n x (D + 1) block of weights. The multinomials times this are the coefficients of the polynomial
//   y -> sum_i sum_d weights(i, d) (x_i . y)^d.
void add_moments(const Eigen::Ref<const Matrix>& x, const Eigen::Ref<const Matrix>& weights,
                 std::span<double> out);

// out[i] += sum_a coefficients[a] x_i^a.
void add_polynomial(const Eigen::Ref<const Matrix>& x, std::span<const double> coefficients,
                    int degree, std::span<double> out);

// Parts of each degree d, and a weighted sum of their gradients, n x (D + 1) and n x K:
//   parts(i, d)  = sum_{|a| = d} coefficients[a] x_i^a,
//   slopes(i, k) = sum_d weights(i, d) d parts(i, d) / d x(i, k).
void take_parts(const Eigen::Ref<const Matrix>& x, std::span<const double> coefficients,
                const Eigen::Ref<const Matrix>& weights, Eigen::Ref<Matrix> parts,
                Eigen::Ref<Matrix> slopes);
// ... the parts alone. D is one less than the columns of `parts`.
void take_parts(const Eigen::Ref<const Matrix>& x, std::span<const double> coefficients,
                Eigen::Ref<Matrix> parts);

}  // namespace headwater
