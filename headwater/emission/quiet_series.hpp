#pragma once

#include <array>
#include <cstddef>
#include <span>

namespace headwater {

// Polynomials in z that stand for functions of z on an interval [0, Z]: equal to them at its n
// Chebyshev nodes. Intervals are of a fixed list, so that the polynomials are found once for all.
struct QuietSeries {
  static constexpr int kMostNodes = 6;
  // The coefficients of z^0, z^1, ..., of which n count.
  using Coefficients = std::array<double, kMostNodes>;

  // The interval is longer than z by less than this factor.
  static double widening();
  static constexpr double kLongestInterval = 4;

  // For the shortest interval of the list that has z in it, given log2(z). -infinity stands for 0.
  static const QuietSeries& of(int nodes, double log2_z);

  Coefficients curve;    // k(z) = (z - log(1 + z)) / z^2
  Coefficients inverse;  // 1 / (1 + z)
  Coefficients bend;     // their difference, 1 / (1 + z) - k(z)

  // Where the polynomials are equal to their functions.
  Coefficients nodes;
  // Any other function: the coefficient of z^j is sum_i transform[j][i] f(nodes[i]).
  std::array<Coefficients, kMostNodes> transform;
};

}  // namespace headwater
