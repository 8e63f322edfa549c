#pragma once

#include <span>

namespace headwater {

// What a vector of gamma draws, and of moves of prior 'gamma', is made of.

// One trial each of [MarsagliaTsang2000] for a gamma variable of unit rate and this shape, at least
// 1, from a normal number z and a uniform one u in (0, 1): with d = shape - 1/3, t = z / sqrt(9 d)
// and v = (1 + t)^3,
//   out[i] = d v   if t > -1 and log u < z^2/2 + d (1 - v + log v),
//   out[i] = -1    otherwise: to be drawn anew.
// A trial succeeds with a probability of .95 at shape 1, and more beyond. `out` may be `normals` or
// `uniforms`.
void gamma_trials(std::span<const double> normals, std::span<const double> uniforms, double shape,
                  std::span<double> out);

// The same with a shape for each.
void gamma_trials(std::span<const double> normals, std::span<const double> uniforms,
                  std::span<const double> shapes, std::span<double> out);

// out[i] = scale (gammas[i] + (normals[i] + sqrt(2 beta previous[i]))^2 / 2). `out` may be any of
// the others.
void add_shifted_squares(std::span<const double> gammas, std::span<const double> normals,
                         std::span<const double> previous, double beta, double scale,
                         std::span<double> out);

}  // namespace headwater
