#include "headwater/models/gamma_draws.hpp"

#include <algorithm>
#include <vector>

#include "headwater/kernels/elementary.hpp"
#include "headwater/kernels/gamma_moves.hpp"
#include "headwater/kernels/normals.hpp"
#include "headwater/kernels/uniform_block.hpp"
#include "headwater/random.hpp"

namespace headwater {

namespace {

// Blocks of random numbers reserved for each component after the uniform numbers: more than any
// rejection loop will ever use.
constexpr std::uint32_t kBlocks = 256;

// A generator for component k of particle i, used when the uniform numbers do not suffice.
Generator rest(const RandomBlock& random, Index i, Index k, Index num_uniforms) {
  Generator generator = random.particle(i);
  generator.skip_blocks(static_cast<std::uint32_t>((num_uniforms + 1) / 2) +
                        static_cast<std::uint32_t>(k) * kBlocks);
  return generator;
}

void move_by_counts(const GammaChain& move, Index k, const RandomBlock& random, Index num_uniforms,
                    ConstStates previous, States next) {
  for (Index i = 0; i < next.rows(); ++i) {
    Generator generator = rest(random, i, k, num_uniforms);
    const double h = poisson(generator, move.beta * previous(i, k));
    next(i, k) = gamma(generator, move.shape + h) / move.rate;
  }
}

}  // namespace

States uniform_numbers(const RandomBlock& random, Index num_particles, Index count) {
  thread_local std::vector<double> numbers;
  numbers.resize(std::max(numbers.size(), static_cast<std::size_t>(num_particles * count)));
  States uniforms = Eigen::Map<Matrix>(numbers.data(), num_particles, count);
  uniform_block(random.stream, random.time, random.first_particle, random.purpose, uniforms);
  return uniforms;
}

void move_gammas(const GammaChain& move, Index k, const RandomBlock& random, States uniforms,
                 ConstStates previous, States next) {
  if (!(move.shape > 0.5)) {
    return move_by_counts(move, k, random, uniforms.cols(), previous, next);
  }
  const auto column = [&](Index j) { return as_span(uniforms.col(kGammaMoveNumbers * k + j)); };
  const std::span<double> normals = column(0);
  const std::span<double> gammas = column(1);
  const std::span<double> powers = column(3);
  box_muller_pairs(normals, gammas, normals, gammas);
  const double shape = move.shape - 0.5;
  const bool is_small = shape < 1;
  const double larger = is_small ? shape + 1 : shape;
  gamma_trials(gammas, column(2), larger, gammas);
  for (std::size_t i = 0; i < gammas.size(); ++i) {
    if (gammas[i] >= 0) continue;
    Generator generator = rest(random, static_cast<Index>(i), k, uniforms.cols());
    gammas[i] = gamma(generator, larger);
  }
  if (is_small) {  // gamma(shape) = gamma(shape + 1) u^(1/shape)
    vector_log(powers, powers);
    for (double& power : powers) power /= shape;
    vector_exp(powers, powers);
    for (std::size_t i = 0; i < gammas.size(); ++i) gammas[i] *= powers[i];
  }
  add_shifted_squares(gammas, normals, as_span(previous.col(k)), move.beta, 1 / move.rate,
                      as_span(next.col(k)));
}

void draw_gammas(std::span<const double> shapes, Index k, const RandomBlock& random,
                 States uniforms, Index first, std::span<double> out) {
  const std::span<double> normals = as_span(uniforms.col(first));
  const std::span<double> larger = as_span(uniforms.col(first + 1));
  const std::span<double> powers = as_span(uniforms.col(first + 3));
  box_muller(normals, larger, normals);
  for (std::size_t i = 0; i < shapes.size(); ++i) larger[i] = shapes[i] + (shapes[i] < 1 ? 1 : 0);
  gamma_trials(normals, as_span(uniforms.col(first + 2)), larger, out);
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (out[i] >= 0) continue;
    Generator generator = rest(random, static_cast<Index>(i), k, uniforms.cols());
    out[i] = gamma(generator, larger[i]);
  }
  if (std::ranges::none_of(shapes, [](double shape) { return shape < 1; })) return;
  vector_log(powers, powers);
  for (std::size_t i = 0; i < out.size(); ++i)
    powers[i] = shapes[i] < 1 ? powers[i] / shapes[i] : 0;
  vector_exp(powers, powers);
  for (std::size_t i = 0; i < out.size(); ++i) out[i] *= powers[i];
}

}  // namespace headwater
