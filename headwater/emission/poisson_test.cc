#include "headwater/emission/poisson.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "headwater/conformance.hpp"
#include "headwater/core/test_numbers.hpp"
#include "headwater/emission.hpp"
#include "headwater/reference/path_sums.hpp"

namespace headwater {
namespace {

// The Poisson law without its kernels: cell by cell.
class PlainPoisson {
 public:
  std::string name() const { return "plain poisson"; }
  double log_density(Index m, double y, double mean) const { return law_.log_density(m, y, mean); }
  double gain(Index m, double y, double mean) const { return law_.gain(m, y, mean); }
  double loss(Index m, double y, double mean) const { return law_.loss(m, y, mean); }
  double information(Index m, double mean) const { return law_.information(m, mean); }
  VarianceFunction variance(Index m) const { return law_.variance(m); }
  double draw(Index m, double mean, Generator& g) const { return law_.draw(m, mean, g); }

 private:
  Poisson law_;
};

Vector by_states(const Emission& emission, const Matrix& states, const Observation& y) {
  const auto likelihoods = emission.law()->state_likelihoods(states);
  likelihoods->set_emission(emission);
  Vector out(states.rows());
  likelihoods->log_likelihoods(y, out);
  return out;
}

Vector by_particles(const Emission& emission, const Matrix& x, const Observation& y) {
  Evidence evidence;
  emission.look_at(y, evidence);
  evidence.gather_rows();
  Vector out(x.rows());
  evidence.log_likelihoods(x, as_span(out));
  return out;
}

TEST(Poisson, Conforms) {
  EXPECT_EQ(check_emission(Poisson()).findings, std::vector<std::string>());
}

TEST(Poisson, StateLikelihoodsEqualTheLawTermByTerm) {
  const Matrix states = (Matrix(4, 2) << 0, 0, 1, 0, 0, 1, 1, 1).finished();
  const Matrix basis = (Matrix(3, 2) << 4, 0, 0, 6, 2, 3).finished();
  Emission emission(basis);
  const auto likelihoods = emission.law()->state_likelihoods(states);
  for (const Matrix& scaled : {basis, Matrix(2.5 * basis)}) {  // the table must follow the basis
    emission.set_basis(scaled);
    likelihoods->set_emission(emission);
    for (const std::vector<double>& y :
         {std::vector<double>{3, 0, 2}, {0, 0, 0}, {0, 5, kMissing}, {2.5, 0.1, 7}}) {
      Vector values(4);
      likelihoods->log_likelihoods(y, values);
      for (Index x = 0; x < 4; ++x) {
        const double truth = reference::log_poisson(Eigen::Map<const Vector>(y.data(), 3),
                                                    scaled * states.row(x).transpose());
        const double found = values[x] + emission.log_base_measure(y);
        if (std::isinf(truth)) {
          EXPECT_EQ(found, truth);
        } else {
          EXPECT_NEAR(found, truth, 1e-12);
        }
      }
    }
  }
}

// PO(0; 0) = 1 and PO(v > 0; 0) = 0 (erratum E15).
TEST(Poisson, ZeroIntensity) {
  const Emission emission(Matrix::Ones(1, 1));
  const Matrix nothing_on = Matrix::Zero(1, 1);
  EXPECT_EQ(by_states(emission, nothing_on, std::vector<double>{0})[0], 0);
  EXPECT_EQ(by_states(emission, nothing_on, std::vector<double>{1})[0],
            -std::numeric_limits<double>::infinity());
}

TEST(Poisson, NothingSeenSaysNothing) {
  const Matrix x = Matrix::Random(21, 3).cwiseAbs();
  const Emission emission(Matrix::Random(4, 3).cwiseAbs());
  const std::vector<double> missing(4, kMissing);
  EXPECT_EQ(by_states(emission, x, missing), Vector(Vector::Zero(21)));
  EXPECT_EQ(by_particles(emission, x, missing), Vector(Vector::Zero(21)));
}

// A channel with a count, one at zero, one that was not seen.
TEST(Poisson, LogLikelihoodsOfParticlesAreTheirDefinition) {
  const Matrix x = Matrix::Random(21, 2).cwiseAbs();
  const Matrix basis = Matrix::Random(3, 2).cwiseAbs();
  const Emission emission(basis);
  for (const std::vector<double>& y :
       {std::vector<double>{4, 0, kMissing}, {0, 0, 0}, {kMissing, 2.5, 1e4}}) {
    const Vector found = by_particles(emission, x, y);
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
}

// log PO(y; e lambda), by states and by particles; exposures on both sides of one, and a cell that
// was not seen at all.
TEST(Poisson, LogLikelihoodsWithExposuresAreThoseOfTheirProducts) {
  const Matrix x = (Matrix(3, 2) << 1, 0, 0.5, 2, 1, 1).finished();
  const Matrix basis = (Matrix(4, 2) << 1, 2, 0.5, 3, 2, 0.1, 4, 4).finished();
  const std::vector<double> counts = {3, 0, kMissing, 7};
  const std::vector<double> exposures = {0.5, 2, 0, 1.25};
  const Observation y(counts, exposures);
  const Emission emission(basis);
  const Vector states = by_states(emission, x, y);
  const Vector particles = by_particles(emission, x, y);
  for (Index i = 0; i < 3; ++i) {
    double truth = 0;
    for (const Index m : {0, 1, 3}) {
      const double mean = exposures[m] * basis.row(m).dot(x.row(i));
      truth += counts[m] * std::log(mean) - mean - std::lgamma(counts[m] + 1);
    }
    EXPECT_NEAR(states[i] + emission.log_base_measure(y), truth, 1e-12);
    EXPECT_NEAR(particles[i] + emission.log_base_measure(y), truth, 1e-12);
  }
}

// What the kernels compute in blocks of channels is what the law says cell by cell. More channels
// than a block of the Reducer has, most of them without a count.
TEST(Poisson, KernelsEqualTheCellsOverSeveralBlocks) {
  const Index channels = 2 * Reducer::kBlock + 300;
  const Matrix basis = Matrix::Random(channels, 3).cwiseAbs();
  const Matrix x = Matrix::Random(40, 3).cwiseAbs();
  Vector y = Vector::Zero(channels);
  for (Index m = 0; m < channels; m += 7) y[m] = static_cast<double>(1 + m % 5);
  y[11] = kMissing;
  const Emission fast(basis);
  const Emission plain(basis, PlainPoisson());
  const Observation observation(as_span(y));
  for (const auto& look : {by_states, by_particles}) {
    const Vector found = look(fast, x, observation);
    const Vector expected = look(plain, x, observation);
    const double base = fast.log_base_measure(observation);
    for (Index i = 0; i < x.rows(); ++i) {
      EXPECT_NEAR(found[i] + base, expected[i], 1e-12 * std::abs(expected[i]));
    }
  }
}

// More blocks, and several processes: shared_sums_test.cc.
TEST(Reducer, AddsBlocksInATree) {
  const Index size = 2 * Reducer::kBlock + 5;
  const Vector terms = Vector::Random(size) * 1e6;
  const std::vector<Stretch> stretches = stretches_of_all(size);
  ASSERT_EQ(stretches.size(), 3u);
  const auto sum_of = [&](const Stretch& s) {
    return terms.segment(static_cast<Index>(s.first), static_cast<Index>(s.size)).sum();
  };
  EXPECT_EQ(Reducer::sum(stretches, sum_of),
            (sum_of(stretches[0]) + sum_of(stretches[1])) + sum_of(stretches[2]));
  std::vector<double> out = {1.5};
  Reducer::sum(stretches, out, [&](const Stretch& s, std::span<double> to) { to[0] += sum_of(s); });
  EXPECT_EQ(out[0], 1.5 + ((sum_of(stretches[0]) + sum_of(stretches[1])) + sum_of(stretches[2])));
}

TEST(Reducer, CutsAListWhereItsBlocksEnd) {
  const std::vector<Index> channels = {0, 5, Reducer::kBlock - 1, Reducer::kBlock,
                                       5 * Reducer::kBlock + 1};
  std::vector<Stretch> stretches;
  cut_into_stretches(channels, stretches);
  ASSERT_EQ(stretches.size(), 3u);
  EXPECT_EQ(stretches[0].size, 3u);
  EXPECT_EQ(stretches[1].first, 3u);
  EXPECT_EQ(stretches[2].first, 4u);
  EXPECT_EQ(stretches[2].block, 5);
}

}  // namespace
}  // namespace headwater
