#include "headwater/kernels/relaxed_moves.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "headwater/kernels/test_support.hpp"
#include "headwater/random.hpp"

namespace headwater {
namespace {

double moved(double u, double state, double alpha) {
  const double side = state > 0 ? 1 : -1;
  const double d = std::abs(state);
  if (u < alpha) return side * std::max(kLeastDistance, d * (u / alpha));
  const double v = (u - alpha) / (1 - alpha);
  const double place = d + (1 - d) * v;
  if (place <= 0.5) return side * std::max(kLeastDistance, place);
  return -side * std::max(kLeastDistance, (1 - d) * (1 - v));
}

// v is rounded, with a large relative error only if 1 - alpha is small; 1 - v cancels.
void expect_moved(double found, double u, double state, double alpha) {
  const double expected = moved(u, state, alpha);
  EXPECT_GE(std::abs(found), kLeastDistance);
  EXPECT_LE(std::abs(found), 0.5);
  if ((found > 0) == (expected > 0)) {
    const double error = std::max(4e-16 * std::abs(expected), u < alpha ? 0 : 1e-15);
    EXPECT_NEAR(found, expected, error) << u << " " << state << " " << alpha;
  } else {  // at the boundary between the sides
    EXPECT_GT(std::min(std::abs(found), std::abs(expected)), 0.5 - 1e-15);
  }
}

struct MovedParticles {
  std::vector<double> uniforms;
  std::vector<double> states;
};

MovedParticles random_moved_particles(std::size_t size) {
  Generator generator = RandomStream(73).at(0, 0, Purpose::basis);
  MovedParticles particles;
  for (std::size_t i = 0; i < size; ++i) {
    particles.uniforms.push_back(generator.uniform());
    const double side = generator.uniform() < 0.5 ? 1 : -1;
    particles.states.push_back(side * 0.5 * std::pow(generator.uniform(), 20));
  }
  return particles;
}

TEST(RelaxedMoves, AreThoseOfEachParticle) {
  under_each_instruction_set([] {
    const MovedParticles particles = random_moved_particles(2000);
    for (const double alpha : {1e-12, 0.1, 0.5, 0.95, 1 - 1e-12}) {
      for (const std::size_t length : lengths_to_try()) {
        for (const std::size_t shift : {0, 1}) {
          const auto uniforms = std::span(particles.uniforms).subspan(shift, length);
          const auto states = std::span(particles.states).subspan(shift, length);
          std::vector<double> next(length + shift + 1, -7);
          relaxed_moves(uniforms, states, alpha, std::span(next).subspan(shift, length));
          EXPECT_EQ(next.back(), -7);
          for (std::size_t i = 0; i < length; ++i) {
            expect_moved(next[shift + i], uniforms[i], states[i], alpha);
          }
        }
      }
    }
  });
}

TEST(RelaxedMoves, MayTakeThePlaceOfWhatTheyAreMadeFrom) {
  under_each_instruction_set([] {
    const MovedParticles particles = random_moved_particles(101);
    std::vector<double> next(101);
    relaxed_moves(particles.uniforms, particles.states, 0.7, next);
    std::vector<double> states = particles.states;
    relaxed_moves(particles.uniforms, states, 0.7, states);
    EXPECT_EQ(states, next);
    std::vector<double> uniforms = particles.uniforms;
    relaxed_moves(uniforms, particles.states, 0.7, uniforms);
    EXPECT_EQ(uniforms, next);
  });
}

TEST(RelaxedMoves, AtTheEnds) {
  under_each_instruction_set([] {
    const double least = 0x1p-53;
    const double most = 1 - 0x1p-53;
    for (const double alpha : {std::numeric_limits<double>::min(), 0x1p-53, 0.3, 0.95,
                               1 - std::numeric_limits<double>::epsilon() / 2}) {
      for (const double state : {0.5, -0.5, kLeastDistance, -kLeastDistance, 0.25}) {
        for (const double u :
             {least, alpha, std::nextafter(alpha, 0), std::nextafter(alpha, 1), 0.5, most}) {
          if (!(u > 0 && u < 1)) continue;
          double next = 0;
          relaxed_moves(std::span(&u, 1), std::span(&state, 1), alpha, std::span(&next, 1));
          EXPECT_GE(std::abs(next), kLeastDistance);
          EXPECT_LE(std::abs(next), 0.5);
          EXPECT_TRUE(u >= alpha || (next > 0) == (state > 0));
        }
      }
    }
  });
}

TEST(RelaxedActivations, AreThoseOfTheStates) {
  under_each_instruction_set([] {
    const MovedParticles particles = random_moved_particles(1100);
    const Eigen::Map<const Matrix> all(particles.states.data(), 1100, 1);
    for (const std::size_t length : lengths_to_try()) {
      const auto n = static_cast<Index>(length);
      Matrix states(n, 3);
      for (Index k = 0; k < 3; ++k) states.col(k) = all.middleRows(1 + 7 * k, n);
      Matrix x = Matrix::Constant(n + 1, 4, -7);
      relaxed_activations(states, x.topLeftCorner(n, 3));
      EXPECT_TRUE((x.row(n).array() == -7).all() && (x.col(3).array() == -7).all());
      for (Index k = 0; k < 3; ++k) {
        for (Index i = 0; i < n; ++i) {
          EXPECT_EQ(x(i, k), states(i, k) > 0 ? states(i, k) : 1 + states(i, k));
        }
      }
    }
  });
}

}  // namespace
}  // namespace headwater
