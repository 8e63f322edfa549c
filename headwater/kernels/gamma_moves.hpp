#pragma once

#include <span>

namespace headwater {

// Building blocks for vectors of gamma draws and for transitions of prior 'gamma'.

// One rejection trial of [MarsagliaTsang2000] for each element: a gamma variable of unit rate and
// shape >= 1, from a normal number z and a uniform number u in (0, 1). With d = shape - 1/3, t = z
// / sqrt(9 d) and v = (1 + t)^3,
//   out[i] = d v   if t > -1 and log u < z^2/2 + d (1 - v + log v),
//   out[i] = -1    otherwise: rejected, must be drawn again.
// The acceptance probability is .95 at shape 1 and larger above. `out` may be `normals` or
// `uniforms`.
void gamma_trials(std::span<const double> normals, std::span<const double> uniforms, double shape,
                  std::span<double> out);

// The same with a separate shape for each element.
void gamma_trials(std::span<const double> normals, std::span<const double> uniforms,
                  std::span<const double> shapes, std::span<double> out);

// out[i] = scale (gammas[i] + (normals[i] + sqrt(2 beta previous[i]))^2 / 2). `out` may be any of
// the inputs.
void add_shifted_squares(std::span<const double> gammas, std::span<const double> normals,
                         std::span<const double> previous, double beta, double scale,
                         std::span<double> out);

}  // namespace headwater
