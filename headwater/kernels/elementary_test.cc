#include "headwater/kernels/elementary.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "headwater/core/test_numbers.hpp"
#include "headwater/kernels/test_support.hpp"
#include "headwater/random.hpp"

namespace headwater {
namespace {

constexpr double kSmallest = std::numeric_limits<double>::denorm_min();

using Function = void (*)(std::span<const double>, std::span<double>);
using Truth = long double (*)(long double);

double ulp(double x) { return std::nextafter(std::abs(x), kInfinity) - std::abs(x); }

// 100,000 numbers between the two, evenly spaced.
std::vector<double> numbers(double from, double to) {
  Generator generator = RandomStream(71).at(0, 0, Purpose::basis);
  std::vector<double> in(100'000);
  for (double& x : in) x = from + (to - from) * generator.uniform();
  return in;
}

std::vector<double> results(Function function, const std::vector<double>& in) {
  std::vector<double> out(in.size());
  function(in, out);
  return out;
}

double largest_error(Function function, Truth truth, const std::vector<double>& in) {
  const std::vector<double> out = results(function, in);
  double largest = 0;
  for (std::size_t i = 0; i < in.size(); ++i) {
    const long double expected = truth(in[i]);
    const auto error = static_cast<double>(std::abs(out[i] - expected));
    largest = std::max(largest, error / ulp(static_cast<double>(expected)));
  }
  return largest;
}

long double true_log(long double x) { return std::log(x); }
long double true_exp(long double x) { return std::exp(x); }
long double true_one_minus_exp(long double x) { return -std::expm1(x); }

TEST(VectorOneMinusExp, IsWithinTwoUlp) {
  under_each_instruction_set([] {
    for (const auto& [from, to] : std::vector<std::pair<double, double>>{
             {-1e-300, 0}, {-1e-8, 0}, {-0.01, 0}, {-0.41, -0.39}, {-1, 0}, {-40, 0}}) {
      EXPECT_LE(largest_error(vector_one_minus_exp, true_one_minus_exp, numbers(from, to)), 2)
          << from << " to " << to;
    }
    EXPECT_EQ(results(vector_one_minus_exp, {0, -800, -kInfinity}), (std::vector<double>{0, 1, 1}));
  });
}

TEST(VectorLog, IsWithinOneUlp) {
  under_each_instruction_set([] {
    for (const auto& [from, to] : std::vector<std::pair<double, double>>{{0, 1},
                                                                         {0.5, 2},
                                                                         {0.70, 0.72},
                                                                         {1.40, 1.43},
                                                                         {0.95, 1.05},
                                                                         {1 - 1e-7, 1 + 1e-7},
                                                                         {1 - 1e-13, 1 + 1e-13},
                                                                         {0, 1e4},
                                                                         {0, 1e-300},
                                                                         {0, 1e-307},
                                                                         {0, 1e-320},
                                                                         {1e300, 1e308}}) {
      EXPECT_LE(largest_error(vector_log, true_log, numbers(from, to)), 1) << from << " to " << to;
    }
    std::vector<double> of_all_sizes = numbers(-700, 700);
    for (double& x : of_all_sizes) x = std::exp(x);
    EXPECT_LE(largest_error(vector_log, true_log, of_all_sizes), 1);
  });
}

TEST(VectorLog, AtTheEnds) {
  under_each_instruction_set([] {
    const std::vector<double> in = {0,          -0.0, kInfinity,  1,    kSmallest,
                                    -kSmallest, -1,   -kInfinity, kNaN, -kNaN};
    const std::vector<double> out = results(vector_log, in);
    EXPECT_EQ(out[0], -kInfinity);
    EXPECT_EQ(out[1], -kInfinity);
    EXPECT_EQ(out[2], kInfinity);
    EXPECT_EQ(out[3], 0);
    EXPECT_DOUBLE_EQ(out[4], std::log(kSmallest));
    for (std::size_t i = 5; i < in.size(); ++i) EXPECT_TRUE(std::isnan(out[i])) << in[i];
  });
}

TEST(VectorExp, IsWithinItsUlps) {
  under_each_instruction_set([] {
    for (const auto& [from, to] : std::vector<std::pair<double, double>>{
             {-0.5, 0.5}, {-1e-8, 1e-8}, {-50, 0}, {-700, 709.7}, {-746, -708}}) {
      EXPECT_LE(largest_error(vector_exp, true_exp, numbers(from, to)), 1.1)
          << from << " to " << to;
    }
  });
}

TEST(VectorExp, AtTheEnds) {
  under_each_instruction_set([] {
    const std::vector<double> in = {0,         -0.0,    -kInfinity, -745.2,    -1e300,
                                    kSmallest, 709.782, 709.8,      kInfinity, kNaN};
    const std::vector<double> out = results(vector_exp, in);
    EXPECT_EQ(out[0], 1);
    EXPECT_EQ(out[1], 1);
    EXPECT_EQ(out[2], 0);
    EXPECT_EQ(out[3], 0);
    EXPECT_EQ(out[4], 0);
    EXPECT_EQ(out[5], 1);
    EXPECT_LT(out[6], kInfinity);
    EXPECT_EQ(out[7], kInfinity);
    EXPECT_EQ(out[8], kInfinity);
    EXPECT_TRUE(std::isnan(out[9]));
  });
}

// The result for a number depends on no other number: whatever the length and alignment, in place
// or not, and even if some numbers are not ordinary.
TEST(VectorFunctions, TakeEachNumberAlone) {
  under_each_instruction_set([] {
    for (const Function function : {vector_log, vector_exp}) {
      std::vector<double> in = numbers(0.1, 20);
      in[6] = 0;
      in[520] = kNaN;
      for (const std::size_t length : lengths_to_try()) {
        for (const std::size_t shift : {0, 1}) {
          std::vector<double> out(length + shift + 1, -7);
          function(std::span(in).subspan(shift, length), std::span(out).subspan(shift, length));
          std::vector<double> in_place(in.begin(), in.begin() + 1100);
          function(std::span(in_place).subspan(shift, length),
                   std::span(in_place).subspan(shift, length));
          EXPECT_EQ(out.back(), -7);
          for (std::size_t i = 0; i < length; ++i) {
            double alone = 0;
            function(std::span(in).subspan(i + shift, 1), std::span(&alone, 1));
            if (std::isnan(alone)) continue;
            EXPECT_EQ(out[i + shift], alone);
            EXPECT_EQ(in_place[i + shift], alone);
          }
        }
      }
    }
  });
}

}  // namespace
}  // namespace headwater
