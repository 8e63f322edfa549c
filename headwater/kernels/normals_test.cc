#include "headwater/kernels/normals.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <vector>

#include "headwater/kernels/test_support.hpp"
#include "headwater/random.hpp"

namespace headwater {
namespace {

struct Uniforms {
  std::vector<double> u;
  std::vector<double> v;
};

// Includes both ends of (0, 1), and the angles where signs change and where the polynomials meet.
Uniforms make_uniforms(std::size_t size) {
  Generator generator = RandomStream(78).at(0, 0, Purpose::basis);
  Uniforms uniforms;
  for (int eighth = 1; eighth < 8; ++eighth) {
    for (const double side : {-0x1p-53, 0.0, 0x1p-53}) {
      uniforms.u.push_back(0.1);
      uniforms.v.push_back(eighth / 8.0 + side);
    }
  }
  for (const double end : {0x1p-53, 1 - 0x1p-53}) {
    uniforms.u.insert(uniforms.u.end(), {end, 0.1, end});
    uniforms.v.insert(uniforms.v.end(), {0.1, end, end});
  }
  while (uniforms.u.size() < size) {
    uniforms.u.push_back(generator.uniform());
    uniforms.v.push_back(generator.uniform());
  }
  return uniforms;
}

long double true_radius(double u) { return std::sqrt(-2 * std::log(static_cast<long double>(u))); }
long double true_angle(double v) { return 2 * std::numbers::pi_v<long double> * v; }

void expect_near(double found, long double radius, long double ratio) {
  EXPECT_NEAR(found, static_cast<double>(radius * ratio), static_cast<double>(1e-15L * radius));
}

TEST(BoxMuller, IsWithinItsError) {
  const Uniforms uniforms = make_uniforms(200'000);
  std::vector<double> out(uniforms.u.size());
  std::vector<double> sines(uniforms.u.size());
  under_each_instruction_set([&] {
    box_muller(uniforms.u, uniforms.v, out);
    for (std::size_t i = 0; i < out.size(); ++i) {
      expect_near(out[i], true_radius(uniforms.u[i]), std::cos(true_angle(uniforms.v[i])));
    }
    std::vector<double> cosines(out.size());
    box_muller_pairs(uniforms.u, uniforms.v, cosines, sines);
    EXPECT_EQ(cosines, out);
    for (std::size_t i = 0; i < out.size(); ++i) {
      expect_near(sines[i], true_radius(uniforms.u[i]), std::sin(true_angle(uniforms.v[i])));
    }
  });
}

TEST(BoxMuller, TakesTheUniformNumbersInTheOrderOfTheScalarDraw) {
  under_each_instruction_set([] {
    Generator generator = RandomStream(79).at(0, 0, Purpose::basis);
    for (int i = 0; i < 100; ++i) {
      Generator same = generator;
      const double expected = normal(generator);
      const double u = same.uniform();
      const double v = same.uniform();
      double out = 0;
      box_muller(std::span(&u, 1), std::span(&v, 1), std::span(&out, 1));
      EXPECT_NEAR(out, expected, 1e-14);
    }
  });
}

TEST(BoxMuller, TakesAnyNumberInAnyPlace) {
  const Uniforms uniforms = make_uniforms(1100);
  std::vector<double> alone(1100);
  std::vector<double> sines_alone(1100);
  under_each_instruction_set([&] {
    for (std::size_t i = 0; i < alone.size(); ++i) {
      box_muller_pairs(std::span(&uniforms.u[i], 1), std::span(&uniforms.v[i], 1),
                       std::span(&alone[i], 1), std::span(&sines_alone[i], 1));
    }
    for (const std::size_t length : lengths_to_try()) {
      for (const std::size_t shift : {0, 1}) {
        Uniforms in_place = uniforms;
        const auto u = std::span(in_place.u).subspan(shift, length);
        const auto v = std::span(in_place.v).subspan(shift, length);
        std::vector<double> out(length + 1, -7);
        box_muller(u, v, std::span(out).first(length));
        EXPECT_EQ(out.back(), -7);
        box_muller_pairs(u, v, u, v);
        for (std::size_t i = 0; i < length; ++i) {
          ASSERT_EQ(out[i], alone[i + shift]);
          ASSERT_EQ(u[i], alone[i + shift]);
          ASSERT_EQ(v[i], sines_alone[i + shift]);
        }
        EXPECT_EQ(in_place.u[length + shift], uniforms.u[length + shift]);
        EXPECT_EQ(in_place.v[length + shift], uniforms.v[length + shift]);
      }
    }
  });
}

}  // namespace
}  // namespace headwater
