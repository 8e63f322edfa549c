#include "headwater/kernels/gamma_moves.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "headwater/kernels/test_support.hpp"
#include "headwater/random.hpp"

namespace headwater {
namespace {

struct MoveNumbers {
  std::vector<double> normals;
  std::vector<double> uniforms;
  std::vector<double> previous;
};

// Includes extreme normal numbers, for which trials are rejected.
MoveNumbers random_numbers(std::size_t size) {
  Generator generator = RandomStream(81).at(0, 0, Purpose::basis);
  MoveNumbers numbers;
  for (std::size_t i = 0; i < size; ++i) {
    numbers.normals.push_back((i % 3 == 0 ? 4 : 1) * normal(generator));
    numbers.uniforms.push_back(generator.uniform());
    numbers.previous.push_back(i % 7 == 0 ? 0 : exponential(generator));
  }
  numbers.uniforms[1] = 0x1p-53;
  numbers.uniforms[2] = 1 - 0x1p-53;
  return numbers;
}

// By how much log u is below the acceptance bound.
long double margin(double z, double u, double shape) {
  const long double d = static_cast<long double>(shape) - 1 / 3.0L;
  const long double t = z / std::sqrt(9 * d);
  if (t <= -1) return -1;
  const long double v = (1 + t) * (1 + t) * (1 + t);
  return z * static_cast<long double>(z) / 2 + d * (1 - v + std::log(v)) -
         std::log(static_cast<long double>(u));
}

double value(double z, double shape) {
  const double d = shape - 1.0 / 3;
  const double root = 1 + z / std::sqrt(9 * d);
  return d * root * root * root;
}

TEST(GammaTrials, AreThoseOfEachNumber) {
  under_each_instruction_set([] {
    const MoveNumbers numbers = random_numbers(1100);
    for (const double shape : {1.0, 1.01, 2.5, 40.0, 1e3}) {
      for (const std::size_t length : lengths_to_try()) {
        for (const std::size_t shift : {0, 1}) {
          const auto z = std::span(numbers.normals).subspan(shift, length);
          const auto u = std::span(numbers.uniforms).subspan(shift, length);
          std::vector<double> out(length + shift + 1, -7);
          gamma_trials(z, u, shape, std::span(out).subspan(shift, length));
          EXPECT_EQ(out.back(), -7);
          for (std::size_t i = 0; i < length; ++i) {
            const long double above = margin(z[i], u[i], shape);
            if (std::abs(above) < 1e-12) continue;  // at the bound both are valid
            const double expected = above > 0 ? value(z[i], shape) : -1;
            // 1 + t cancels if t is near -1.
            EXPECT_NEAR(out[shift + i], expected, 1e-14 * shape) << z[i] << ' ' << u[i];
          }
        }
      }
    }
  });
}

TEST(GammaTrials, MayHaveAShapeEach) {
  under_each_instruction_set([] {
    const MoveNumbers numbers = random_numbers(1100);
    std::vector<double> shapes;
    for (std::size_t i = 0; i < 1100; ++i) shapes.push_back(1 + static_cast<double>(i % 5));
    for (const std::size_t length : lengths_to_try()) {
      const auto first = [&](const std::vector<double>& all) {
        return std::span(all).first(length);
      };
      std::vector<double> out(length + 1, -7);
      gamma_trials(first(numbers.normals), first(numbers.uniforms), first(shapes),
                   std::span(out).first(length));
      EXPECT_EQ(out.back(), -7);
      std::vector<double> same(length);
      for (const double shape : {1.0, 2.0, 3.0, 4.0, 5.0}) {
        gamma_trials(first(numbers.normals), first(numbers.uniforms), shape, same);
        for (std::size_t i = 0; i < length; ++i) {
          if (shapes[i] == shape) {
            EXPECT_EQ(out[i], same[i]);
          }
        }
      }
    }
  });
}

TEST(GammaTrials, FailAsOftenAsTheySay) {
  // The fraction of rejections has a standard error of 7e-4; a deviation of 5 standard errors
  // occurs once in a million.
  constexpr std::size_t kDraws = 100000;
  Generator generator = RandomStream(82).at(0, 0, Purpose::basis);
  std::vector<double> normals(kDraws);
  std::vector<double> uniforms(kDraws);
  for (std::size_t i = 0; i < kDraws; ++i) {
    normals[i] = normal(generator);
    uniforms[i] = generator.uniform();
  }
  gamma_trials(normals, uniforms, 1, uniforms);
  double failures = 0;
  for (const double found : uniforms) failures += found < 0;
  EXPECT_NEAR(failures / kDraws, 0.048, 0.0035);
}

TEST(AddShiftedSquares, IsTheSumForEachNumber) {
  under_each_instruction_set([] {
    const MoveNumbers numbers = random_numbers(1100);
    const double beta = 8;
    const double scale = 0.1;
    for (const std::size_t length : lengths_to_try()) {
      for (const std::size_t shift : {0, 1}) {
        const auto g = std::span(numbers.uniforms).subspan(shift, length);
        const auto z = std::span(numbers.normals).subspan(shift, length);
        const auto x = std::span(numbers.previous).subspan(shift, length);
        std::vector<double> out(length + shift + 1, -7);
        add_shifted_squares(g, z, x, beta, scale, std::span(out).subspan(shift, length));
        EXPECT_EQ(out.back(), -7);
        for (std::size_t i = 0; i < length; ++i) {
          const double root = z[i] + std::sqrt(2 * beta * x[i]);
          const double expected = scale * (g[i] + root * root / 2);
          EXPECT_NEAR(out[shift + i], expected, 1e-14 * (1 + x[i] + z[i] * z[i]));
        }
      }
    }
  });
}

TEST(GammaMoves, MayTakeThePlaceOfWhatTheyAreMadeFrom) {
  under_each_instruction_set([] {
    const MoveNumbers numbers = random_numbers(101);
    std::vector<double> trials(101);
    std::vector<double> sums(101);
    gamma_trials(numbers.normals, numbers.uniforms, 1.7, trials);
    add_shifted_squares(numbers.uniforms, numbers.normals, numbers.previous, 2, 3, sums);
    for (const int place : {0, 1, 2}) {
      MoveNumbers own = numbers;
      std::vector<double>& out = place == 0   ? own.normals
                                 : place == 1 ? own.uniforms
                                              : own.previous;
      gamma_trials(own.normals, own.uniforms, 1.7, out);
      EXPECT_EQ(out, trials);
      own = numbers;
      add_shifted_squares(own.uniforms, own.normals, own.previous, 2, 3, out);
      EXPECT_EQ(out, sums);
    }
  });
}

}  // namespace
}  // namespace headwater
