#include "headwater/reference/statistical_tests.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "headwater/random.hpp"

namespace headwater::reference {
namespace {

// The expected values below were computed with 30 digits.

TEST(NormalCdf, AgreesWithHighPrecision) {
  EXPECT_EQ(normal_cdf(0), 0.5);
  EXPECT_DOUBLE_EQ(normal_cdf(1), 0.84134474606854293);
  EXPECT_DOUBLE_EQ(normal_cdf(-1.9599639845400542), 0.025);
}

TEST(GammaCdf, AgreesWithHighPrecision) {
  struct Value {
    double shape, x, cdf, tail;
  };
  const std::vector<Value> values = {{0.05, 1e-10, 0.32483449451813457, 0.67516550548186543},
                                     {0.05, 2, 0.99736145729120347, 0.0026385427087965347},
                                     {0.5, 0.3, 0.56142197391900014, 0.43857802608099986},
                                     {0.5, 30, 0.99999999999999051, 9.4857375710738484e-15},
                                     {1, 2, 0.86466471676338731, 0.13533528323661269},
                                     {3.7, 1, 0.029954059744162158, 0.97004594025583784},
                                     {3.7, 12, 0.99847955338088101, 0.0015204466191189933},
                                     {100, 80, 0.017108313035133114, 0.98289168696486689},
                                     {100, 100, 0.51329879827914866, 0.48670120172085134},
                                     {100, 150, 0.99999407545966452, 5.9245403354839158e-6},
                                     {1e4, 9900, 0.15865119219356466, 0.84134880780643534},
                                     {1e4, 10300, 0.99852950510361432, 0.0014704948963856813}};
  for (const auto& [shape, x, cdf, tail] : values) {
    const double tolerance = shape < 1e3 ? 1e-12 : 1e-10;
    EXPECT_NEAR(gamma_cdf(shape, x) / cdf, 1, tolerance) << "shape " << shape << ", x " << x;
    EXPECT_NEAR(gamma_tail(shape, x) / tail, 1, tolerance) << "shape " << shape << ", x " << x;
  }
}

TEST(GammaCdf, IsContinuousWhereTheFractionTakesOver) {
  for (const double shape : {0.05, 0.5, 1.0, 3.7, 100.0, 1e4}) {
    const double joint = shape + 1;
    EXPECT_NEAR(gamma_cdf(shape, std::nextafter(joint, 0)), gamma_cdf(shape, joint), 1e-10);
  }
  EXPECT_EQ(gamma_cdf(0.5, 0), 0);
  EXPECT_EQ(gamma_tail(0.5, 0), 1);
}

TEST(CriticalValues, AgreeWithHighPrecision) {
  EXPECT_DOUBLE_EQ(normal_critical(0.05), 1.9599639845400542);
  EXPECT_DOUBLE_EQ(normal_critical(1e-6), 4.8916384756985904);
  // P(|t| > x) is 2 / pi arctan(1 / x) with one degree, 1 - x / sqrt(2 + x^2) with two, and with
  // many t is normal.
  EXPECT_NEAR(student_critical(1, 0.01), 1 / std::tan(std::numbers::pi * 0.01 / 2), 1e-9);
  EXPECT_NEAR(student_critical(2, 0.01), 0.99 * std::sqrt(2 / (1 - 0.99 * 0.99)), 1e-10);
  EXPECT_NEAR(student_critical(1e6, 1e-6), normal_critical(1e-6), 1e-4);
  EXPECT_NEAR(chi_square_critical(1, 0.05), 3.8414588206941259, 1e-10);
  EXPECT_NEAR(chi_square_critical(10, 0.01), 23.20925115895436, 1e-10);
  EXPECT_NEAR(chi_square_critical(255, 1e-6), 377.07811549898681, 1e-9);
  EXPECT_NEAR(chi_square_critical(999, 1e-6), 1226.046189012162, 1e-9);
  EXPECT_DOUBLE_EQ(kolmogorov_smirnov_critical(200, 2 * std::exp(-4.0)), 0.1);
}

TEST(Statistics, OfTinySamplesAreThoseByHand) {
  EXPECT_DOUBLE_EQ(chi_square_statistic(std::vector{8.0, 12.0}, std::vector{10.0, 10.0}), 0.8);
  const auto uniform_cdf = [](double x) { return x; };
  EXPECT_DOUBLE_EQ(kolmogorov_statistic(std::vector{0.5}, uniform_cdf), 0.5);
  EXPECT_DOUBLE_EQ(kolmogorov_statistic(std::vector{0.1, 0.2}, uniform_cdf), 0.8);
  EXPECT_DOUBLE_EQ(kolmogorov_statistic(std::vector{0.8, 0.9}, uniform_cdf), 0.8);
}

std::vector<double> sorted_uniforms(Generator& generator, std::size_t n) {
  std::vector<double> sample(n);
  for (double& x : sample) x = generator.uniform();
  std::sort(sample.begin(), sample.end());
  return sample;
}

// Of `trials` tests of correct samples, the number of alarms is at most binomial: it exceeds alpha
// trials + z sqrt(alpha trials) with probability one in a million.
TEST(KolmogorovSmirnov, AlarmsAtMostAsOftenAsStated) {
  constexpr double kAlpha = 0.05;
  constexpr std::uint32_t kTrials = 4000;
  const double critical = kolmogorov_smirnov_critical(50, kAlpha);
  double alarms = 0;
  for (std::uint32_t i = 0; i < kTrials; ++i) {
    Generator generator = RandomStream(17).at(0, i, Purpose::basis);
    const auto sample = sorted_uniforms(generator, 50);
    alarms += kolmogorov_statistic(sample, [](double x) { return x; }) > critical;
  }
  const double most = kAlpha * kTrials;
  EXPECT_LT(alarms, most + normal_critical(1e-6) * std::sqrt(most));
  EXPECT_GT(alarms, most / 4);  // the bound is not far from tight
}

TEST(KolmogorovSmirnov, SeesAShiftOfOneHundredth) {
  Generator generator = RandomStream(18).at(0, 0, Purpose::basis);
  const auto sample = sorted_uniforms(generator, 200'000);
  const double critical = kolmogorov_smirnov_critical(sample.size(), 1e-6);
  EXPECT_LT(kolmogorov_statistic(sample, [](double x) { return x; }), critical);
  EXPECT_GT(kolmogorov_statistic(sample, [](double x) { return x - 0.01; }), critical);
}

}  // namespace
}  // namespace headwater::reference
