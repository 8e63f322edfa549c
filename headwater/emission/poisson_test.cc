#include "headwater/models/observation.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "headwater/reference/path_sums.hpp"

namespace headwater {
namespace {

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

TEST(StateLikelihoods, EqualThePoissonLawTermByTerm) {
  Matrix states(4, 2);
  states << 0, 0, 1, 0, 0, 1, 1, 1;
  Matrix basis(3, 2);
  basis << 4, 0, 0, 6, 2, 3;
  StateLikelihoods likelihoods(states);
  for (const Matrix& scaled : {basis, Matrix(2.5 * basis)}) {  // the table must follow the basis
    likelihoods.set_basis(scaled);
    for (const std::vector<double>& y :
         {std::vector<double>{3, 0, 2}, {0, 0, 0}, {0, 5, kMissing}, {2.5, 0.1, 7}}) {
      Vector values(4);
      likelihoods.log_likelihoods(y, values);
      for (Index x = 0; x < 4; ++x) {
        const double truth = reference::log_poisson(Eigen::Map<const Vector>(y.data(), 3),
                                                    scaled * states.row(x).transpose());
        if (std::isinf(truth)) {
          EXPECT_EQ(values[x] + log_base_measure(y), truth);
        } else {
          EXPECT_NEAR(values[x] + log_base_measure(y), truth, 1e-12);
        }
      }
    }
  }
}

// PO(0; 0) = 1 and PO(v > 0; 0) = 0 (erratum E15).
TEST(StateLikelihoods, ZeroIntensity) {
  StateLikelihoods likelihoods(Matrix::Zero(1, 1));
  likelihoods.set_basis(Matrix::Ones(1, 1));
  Vector value(1);
  likelihoods.log_likelihoods(std::vector<double>{0}, value);
  EXPECT_EQ(value[0], 0);
  likelihoods.log_likelihoods(std::vector<double>{1}, value);
  EXPECT_EQ(value[0], -std::numeric_limits<double>::infinity());
}

TEST(StateLikelihoods, NothingSeenSaysNothing) {
  StateLikelihoods likelihoods(Matrix::Random(5, 3).cwiseAbs());
  likelihoods.set_basis(Matrix::Random(4, 3).cwiseAbs());
  Vector values(5);
  likelihoods.log_likelihoods(std::vector<double>(4, kMissing), values);
  EXPECT_EQ(values, Vector(Vector::Zero(5)));
}

// A channel with a count, one at zero, one that was not seen; one look after another.
TEST(LogLikelihoods, OfParticlesAreTheirDefinition) {
  const Matrix x = Matrix::Random(21, 2).cwiseAbs();
  const Matrix basis = Matrix::Random(3, 2).cwiseAbs();
  const Vector sums = basis.colwise().sum();
  SeenChannels seen;
  for (const std::vector<double>& y :
       {std::vector<double>{4, 0, kMissing}, {0, 0, 0}, {kMissing, 2.5, 1e4}}) {
    seen.look_at(y, basis, sums);
    Vector found(21);
    log_likelihoods(x, seen, as_span(found));
    for (Index i = 0; i < 21; ++i) {
      double expected = 0;
      for (Index m = 0; m < 3; ++m) {
        const double intensity = basis.row(m).dot(x.row(i));
        if (std::isnan(y[m])) continue;
        expected += (y[m] > 0 ? y[m] * std::log(intensity) : 0) - intensity;
      }
      EXPECT_NEAR(found[i], expected, 1e-12 * (1 + std::abs(expected)));
    }
  }
  seen.look_at(std::vector<double>(3, kMissing), basis, sums);
  Vector found = Vector::Ones(21);
  log_likelihoods(x, seen, as_span(found));
  EXPECT_EQ(found, Vector::Zero(21));
}

// log PO(y; e lambda), by states and by particles; exposures on both sides of one, and a cell that
// was not seen at all.
TEST(LogLikelihoods, WithExposuresAreThoseOfTheirProducts) {
  const Matrix x = (Matrix(3, 2) << 1, 0, 0.5, 2, 1, 1).finished();
  const Matrix basis = (Matrix(4, 2) << 1, 2, 0.5, 3, 2, 0.1, 4, 4).finished();
  const std::vector<double> counts = {3, 0, kMissing, 7};
  const std::vector<double> exposures = {0.5, 2, 0, 1.25};
  const Observation y(counts, exposures);

  StateLikelihoods states(x);
  states.set_basis(basis);
  Vector by_states(3);
  states.log_likelihoods(y, by_states);
  SeenChannels seen;
  seen.look_at(y, basis, basis.colwise().sum());
  Vector by_particles(3);
  log_likelihoods(x, seen, as_span(by_particles));

  for (Index i = 0; i < 3; ++i) {
    double truth = 0;
    for (const Index m : {0, 1, 3}) {
      const double mean = exposures[m] * basis.row(m).dot(x.row(i));
      truth += counts[m] * std::log(mean) - mean - std::lgamma(counts[m] + 1);
    }
    EXPECT_NEAR(by_states[i] + log_base_measure(y), truth, 1e-12);
    EXPECT_NEAR(by_particles[i] + log_base_measure(y), truth, 1e-12);
  }
}

TEST(StoredObservation, IsWhatItRemembered) {
  const std::vector<double> counts = {1, 2};
  const std::vector<double> exposures = {0.5, 2};
  StoredObservation stored;
  stored.remember({counts, exposures});
  EXPECT_EQ(Observation(stored)[1], 2);
  EXPECT_EQ(Observation(stored).exposure(0), 0.5);
  stored.remember(counts);
  EXPECT_TRUE(Observation(stored).exposures().empty());
}

}  // namespace
}  // namespace headwater
