#include "headwater/kernels/negative_binomial.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "headwater/kernels/test_support.hpp"

namespace headwater {
namespace {

constexpr double kSmallRatios[] = {0, 1e-300, 1e-17, 1e-9, 3e-4};
constexpr double kLargeRatios[] = {0.0199, 0.02, 0.0201, 0.3, 1, 7.5, 1e3, 1e9, 1e17, 1e300};

// Channels with all sorts of z: of no dispersion, of almost none, and of very much. Some
// activations, and the row of one channel, are zero.
struct SoftenedCase {
  Matrix x;
  Vector activation_weights;
  RowMatrix rows;
  Vector exposures{{1, 0.5, 2, 1, 1, 3}};
  Vector dispersions{{0, 1e-9, 0.02, 0.7, 40, 1e6}};
  Vector limits{{1, 1, 1.01, 1.2, 1.9, 2}};
  Vector count_weights{{0, 3, 50, 2.5, 1, 0.25}};

  Vector scales() const { return exposures.cwiseProduct(dispersions); }
};

SoftenedCase make_softened_case(Index n, Index num_components) {
  SoftenedCase c{(Matrix::Random(n, num_components).array() + 0.5).max(0),
                 (Vector::Random(n).array() + 0.7).max(0),
                 RowMatrix::Random(6, num_components).array() + 1.01};
  if (n > 2) c.x.row(1).setZero();
  c.rows.row(3).setZero();
  return c;
}

Vector logs_by_definition(const SoftenedCase& c) {
  Vector out = Vector::Zero(c.x.rows());
  for (Index i = 0; i < c.x.rows(); ++i) {
    for (Index j = 0; j < c.rows.rows(); ++j) {
      const double z = c.scales()[j] * c.rows.row(j).dot(c.x.row(i));
      out[i] -= c.count_weights[j] * std::log1p(z);
    }
  }
  return out;
}

struct PlainSums {
  RowMatrix losses;
  Vector bends;
  Vector slopes;
  Vector informations;
};

// (log(1 + z) - z / (1 + z)) / z^2 in more digits than the difference loses.
double exact_softening(double z) {
  const auto wide = static_cast<long double>(z);
  if (z > 1e-2) {
    return static_cast<double>((std::log1p(wide) - wide / (1 + wide)) / (wide * wide));
  }
  long double series = 0;
  for (int n = 40; n >= 2; --n) series = (n - 1.0L) / n - wide * series;
  return static_cast<double>(series);
}

PlainSums sums_by_definition(const SoftenedCase& c) {
  const Index channels = c.rows.rows();
  PlainSums out{RowMatrix::Zero(channels, c.rows.cols()), Vector::Zero(channels),
                Vector::Zero(channels), Vector::Zero(channels)};
  for (Index j = 0; j < channels; ++j) {
    for (Index i = 0; i < c.x.rows(); ++i) {
      const double mean = c.exposures[j] * c.rows.row(j).dot(c.x.row(i));
      const double phi = c.dispersions[j];
      const double z = phi * mean;
      const double w = c.activation_weights[i];
      out.losses.row(j) += w / (1 + z) * c.x.row(i);
      out.bends[j] += w * mean * mean * exact_softening(z);
      out.slopes[j] += w * mean / (1 + z);
      out.informations[j] += w * 0.5 * mean * mean / (1 + phi + 2 * z + z * z / c.limits[j]);
    }
  }
  return out;
}

PlainSums sums_by_kernel(const SoftenedCase& c, const Eigen::Ref<const Matrix>& x, double before) {
  const Index channels = c.rows.rows();
  const Vector scales = c.scales();
  PlainSums out{RowMatrix::Constant(channels, c.rows.cols(), before),
                Vector::Constant(channels, before), Vector::Constant(channels, before),
                Vector::Constant(channels, before)};
  add_softened_sums(
      x, as_span(c.activation_weights), {as_span(c.rows), as_span(scales)},
      {as_span(c.exposures), as_span(c.dispersions), as_span(c.limits)},
      {as_span(out.losses), as_span(out.bends), as_span(out.slopes), as_span(out.informations)});
  return out;
}

void expect_near_all(const Matrix& found, const Matrix& expected, double before) {
  for (Index i = 0; i < found.rows(); ++i) {
    for (Index j = 0; j < found.cols(); ++j) {
      const double wanted = expected(i, j) + before;
      EXPECT_NEAR(found(i, j), wanted, 1e-13 * (before + std::abs(wanted))) << i << ", " << j;
    }
  }
}

void expect_near(const PlainSums& found, const PlainSums& expected, double before) {
  expect_near_all(found.losses, expected.losses, before);
  expect_near_all(found.bends, expected.bends, before);
  expect_near_all(found.slopes, expected.slopes, before);
  expect_near_all(found.informations, expected.informations, before);
}

TEST(NegativeBinomialKernels, LogarithmsEqualTheirDefinition) {
  under_each_instruction_set([] {
    for (const std::size_t n : lengths_to_try()) {
      for (const Index num_components : {1, 2, 5, 9}) {
        const SoftenedCase c = make_softened_case(static_cast<Index>(n), num_components);
        const Vector scales = c.scales();
        Vector out = Vector::Constant(c.x.rows(), 0.25);
        subtract_softened_logs(c.x, {as_span(c.rows), as_span(scales)}, as_span(c.count_weights),
                               as_span(out));
        const Vector expected = logs_by_definition(c).array() + 0.25;
        for (Index i = 0; i < out.size(); ++i) {
          EXPECT_NEAR(out[i], expected[i], 1e-14 * (1 + std::abs(expected[i]))) << n << " " << i;
        }
      }
    }
  });
}

// One logarithm at a time: within two units in the last place, for z of any size.
TEST(NegativeBinomialKernels, LogarithmsAreWithinTwoUlp) {
  std::vector<double> ratios(std::begin(kSmallRatios), std::end(kSmallRatios));
  ratios.insert(ratios.end(), std::begin(kLargeRatios), std::end(kLargeRatios));
  for (double z = 1e-18; z < 1e18; z *= 1.37) ratios.push_back(z);
  const Eigen::Map<const Vector> x(ratios.data(), static_cast<Index>(ratios.size()));
  const std::vector<double> one = {1};
  under_each_instruction_set([&] {
    Vector out = Vector::Zero(x.size());
    subtract_softened_logs(x, {one, one}, one, as_span(out));
    for (Index i = 0; i < x.size(); ++i) {
      const double exact = static_cast<double>(std::log1p(static_cast<long double>(x[i])));
      const double ulp = std::nextafter(exact, std::numeric_limits<double>::infinity()) - exact;
      EXPECT_NEAR(-out[i], exact, 2 * ulp) << x[i];
    }
  });
}

TEST(NegativeBinomialKernels, SumsEqualTheirDefinition) {
  under_each_instruction_set([] {
    for (const std::size_t n : lengths_to_try()) {
      for (const Index num_components : {1, 2, 5, 9}) {
        SCOPED_TRACE(n);
        const SoftenedCase c = make_softened_case(static_cast<Index>(n), num_components);
        expect_near(sums_by_kernel(c, c.x, 0.25), sums_by_definition(c), 0.25);
      }
    }
  });
}

// Each activation alone has one z: from nothing at all to far beyond any count.
TEST(NegativeBinomialKernels, SumsHoldForTinyAndLargeRatios) {
  under_each_instruction_set([] {
    for (const double z : {1e-12, 1e-6, 0.0199, 0.0201, 0.3, 1.0, 50.0, 1e6}) {
      SCOPED_TRACE(z);
      SoftenedCase c = make_softened_case(1, 1);
      c.x(0, 0) = z;
      c.activation_weights[0] = 0.7;
      c.rows.setOnes();
      c.dispersions.setOnes();
      c.exposures.setOnes();
      expect_near(sums_by_kernel(c, c.x, 0), sums_by_definition(c), 0);
    }
  });
}

TEST(NegativeBinomialKernels, TakeABlockOfALargerMatrix) {
  under_each_instruction_set([] {
    const SoftenedCase c = make_softened_case(41, 4);
    Matrix larger = Matrix::Random(60, 4);
    larger.middleRows(7, 41) = c.x;
    expect_near(sums_by_kernel(c, larger.middleRows(7, 41), 0), sums_by_definition(c), 0);
    Vector out = Vector::Zero(41);
    const Vector scales = c.scales();
    subtract_softened_logs(larger.middleRows(7, 41), {as_span(c.rows), as_span(scales)},
                           as_span(c.count_weights), as_span(out));
    EXPECT_LT((out - logs_by_definition(c)).cwiseAbs().maxCoeff(), 1e-12);
  });
}

}  // namespace
}  // namespace headwater
