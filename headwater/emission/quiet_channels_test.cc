#include "headwater/emission/quiet_channels.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "headwater/core/test_numbers.hpp"
#include "headwater/emission.hpp"
#include "headwater/emission/dispersion_estimates.hpp"
#include "headwater/emission/negative_binomial.hpp"
#include "headwater/emission/negative_binomial_terms.hpp"
#include "headwater/emission/plain_sums.hpp"
#include "headwater/random.hpp"
#include "headwater/reference/plain_negative_binomial.hpp"

namespace headwater {
namespace {

using reference::PlainNegativeBinomial;

constexpr Index kManyChannels = 1500;

struct ManyChannels {
  const char* name;
  Matrix basis;
  Vector dispersion;
};

// Bases of equal channels, of channels over orders of magnitude, of components that share no
// channel; dispersions that are all alike, that differ, that are zero.
std::vector<ManyChannels> many_channels() {
  Generator generator = RandomStream(3).at(1, 0, Purpose::observation);
  const auto uniform = [&](Index rows, Index columns) -> Matrix {
    return Matrix::NullaryExpr(rows, columns, [&] { return generator.uniform(); });
  };
  const Matrix even = (uniform(kManyChannels, 3).array() + 0.5) / 100;
  const Matrix uneven = even.array() * (10 * uniform(kManyChannels, 3).array() - 8).exp();
  Matrix apart = even;
  for (Index m = 0; m < kManyChannels; ++m) {
    for (Index k = 0; k < 3; ++k) apart(m, k) *= m % 3 == k ? 1 : 0;
  }
  Matrix with_empty = even;
  with_empty.col(1).setZero();
  const Vector differing = (8 * uniform(kManyChannels, 1).array() - 6).exp();
  Vector some_zero = differing;
  for (Index m = 0; m < kManyChannels; m += 3) some_zero[m] = 0;
  return {{"even", even, Vector::Constant(kManyChannels, 0.5)},
          {"weak", even, Vector::Constant(kManyChannels, 1e-6)},
          {"strong", even, Vector::Constant(kManyChannels, 30)},
          {"none", even, Vector::Zero(kManyChannels)},
          {"uneven", uneven, differing},
          {"apart", apart, some_zero},
          {"an empty column", with_empty, differing}};
}

std::unique_ptr<QuietChannels> quiet_of(const ManyChannels& c) {
  PaddedRows rows;
  rows.set(c.basis);
  return QuietChannels::of(rows, c.dispersion);
}

// Activations of sizes from nothing to twice what any polynomial is good for, in all directions.
Matrix activations_up_to(const QuietChannels& quiet, Index count) {
  Generator generator = RandomStream(4).at(1, 0, Purpose::observation);
  Matrix x(count, quiet.column_sums().size());
  for (Index i = 0; i < count; ++i) {
    for (Index k = 0; k < x.cols(); ++k) x(i, k) = std::pow(generator.uniform(), 3);
    const double wanted = 2 * std::min(quiet.limits().largest, 1e6) * static_cast<double>(i) /
                          static_cast<double>(count);
    const Vector row = x.row(i).transpose();
    x.row(i) *= wanted / std::max(quiet.size_of(as_span(row)), 1e-300);
  }
  return x;
}

double rest_by_cells(const ManyChannels& c, const QuietChannels& quiet, const Vector& x) {
  long double sum = 0;
  for (Index m = 0; m < c.basis.rows(); ++m) {
    if (quiet.is_loud(m)) continue;
    const double mean = c.basis.row(m).dot(x);
    sum += mean - negative_binomial::softened(mean, c.dispersion[m]);
  }
  return static_cast<double>(sum);
}

TEST(QuietChannels, FewChannelsHaveNone) {
  PaddedRows rows;
  rows.set(Matrix::Ones(300, 2));
  EXPECT_EQ(QuietChannels::of(rows, Vector::Ones(300)), nullptr);
}

TEST(QuietChannels, RestIsWithinItsBound) {
  for (const ManyChannels& c : many_channels()) {
    const auto quiet = quiet_of(c);
    ASSERT_NE(quiet, nullptr);
    EXPECT_LE(quiet->loud().size(), static_cast<std::size_t>(kManyChannels / 64)) << c.name;
    const Matrix x = activations_up_to(*quiet, 60);
    std::vector<double> found(60, 1.5);
    quiet->add_rest(x, found);
    int by_polynomial = 0;
    for (Index i = 0; i < x.rows(); ++i) {
      const double total = x.row(i).dot(quiet->column_sums());
      const double expected = 1.5 + rest_by_cells(c, *quiet, x.row(i).transpose());
      const double rounding = 1e-12 * (1 + total);
      const Vector at = x.row(i).transpose();
      const bool is_exact = quiet->limits().nodes_for(quiet->size_of(as_span(at))) == 0;
      by_polynomial += is_exact ? 0 : 1;
      const double bound = (is_exact ? 0 : QuietChannels::kTolerance) + rounding;
      EXPECT_NEAR(found[static_cast<std::size_t>(i)], expected, bound) << c.name << " " << total;
    }
    EXPECT_GE(by_polynomial, 29) << c.name;
    EXPECT_EQ(found[0], 1.5) << "nothing is said of no activation";
  }
}

// The bound holds for the smallest number of nodes at its own limit, where it is met most closely.
TEST(QuietChannels, EachNumberOfNodesIsGoodUpToItsLimit) {
  for (const ManyChannels& c : many_channels()) {
    const auto quiet = quiet_of(c);
    for (int nodes = 1; nodes <= QuietChannels::kMostNodes; ++nodes) {
      const double most = quiet->limits().most[static_cast<std::size_t>(nodes)];
      if (most == 0 || most > 1e9) continue;
      EXPECT_EQ(quiet->limits().nodes_for(most), nodes);
      for (Index k = 0; k <= c.basis.cols(); ++k) {
        Vector x = k < c.basis.cols() ? Vector(Vector::Unit(c.basis.cols(), k))
                                      : Vector(Vector::Ones(c.basis.cols()));
        for (Index l = 0; l < x.size(); ++l) {
          x[l] = quiet->column_sums()[l] > 0 ? x[l] / quiet->column_sums()[l] : 0;
        }
        x *= most * (1 - 1e-12);
        double found = 0;
        quiet->add_rest(x.transpose(), {&found, 1});
        EXPECT_NEAR(found, rest_by_cells(c, *quiet, x), QuietChannels::kTolerance + 1e-12 * most)
            << c.name << " " << nodes;
      }
    }
  }
}

TEST(QuietChannels, SlopesAreThoseOfTheRest) {
  for (const ManyChannels& c : many_channels()) {
    const auto quiet = quiet_of(c);
    const Matrix x = activations_up_to(*quiet, 10);
    for (Index i = 1; i < x.rows(); ++i) {
      const Vector at = x.row(i).transpose();
      Vector slopes = Vector::Zero(3);
      const double rest = quiet->rest_at(as_span(at), as_span(slopes));
      double by_block = 0;
      quiet->add_rest(at.transpose(), {&by_block, 1});
      const double total = at.dot(quiet->column_sums());
      EXPECT_NEAR(rest, by_block, 1e-12 * (1 + total)) << c.name;
      Vector expected = Vector::Zero(3);
      for (Index m = 0; m < c.basis.rows(); ++m) {
        if (quiet->is_loud(m)) continue;
        const double z = c.dispersion[m] * c.basis.row(m).dot(at);
        expected += z / (1 + z) * c.basis.row(m).transpose();
      }
      // In units of counts. A polynomial of degree d that is within e of a function on an interval
      // has a slope within about 2 d^2 e over its length: here 98 times the tolerance.
      for (Index k = 0; k < 3; ++k) {
        EXPECT_NEAR(at[k] * slopes[k], at[k] * expected[k], 98 * QuietChannels::kTolerance)
            << c.name << " " << total;
      }
    }
  }
}

// Observations with counts, missing cells and exposures, in loud and in quiet channels.
Observation sparse_observation(Index seed, bool exposed) {
  Generator generator =
      RandomStream(5).at(static_cast<std::uint64_t>(seed), 0, Purpose::observation);
  std::vector<double> counts(kManyChannels, 0);
  std::vector<double> exposures(kManyChannels, 1);
  for (std::size_t m = 0; m < counts.size(); ++m) {
    const double u = generator.uniform();
    if (u < 0.01) counts[m] = std::floor(1 + 4 * generator.uniform());
    if (!exposed) continue;
    const double v = generator.uniform();
    if (v < 0.01) counts[m] = kMissing;
    if (v > 0.98) exposures[m] = 3 * generator.uniform();
  }
  return Observation(counts, exposures);
}

Vector log_likelihoods(const Emission& emission, const Matrix& x, const Observation& y) {
  Evidence evidence;
  emission.look_at(y, evidence);
  evidence.gather_rows();
  Vector out(x.rows());
  evidence.log_likelihoods(x, as_span(out));
  return out.array() + emission.log_base_measure(y);
}

TEST(QuietChannels, LogLikelihoodsOfSparseObservationsAreThoseOfTheCells) {
  int listed_few = 0;
  for (const ManyChannels& c : many_channels()) {
    const NegativeBinomial law(c.dispersion);
    const Emission quick(c.basis, law);
    const Emission plain(c.basis, PlainNegativeBinomial(law));
    const Matrix x = activations_up_to(*quiet_of(c), 20).bottomRows(19);
    for (const bool exposed : {false, true}) {
      const Observation y = sparse_observation(1, exposed);
      Evidence evidence;
      quick.look_at(y, evidence);
      listed_few += evidence.channels().size() < kManyChannels / 4;
      const Vector found = log_likelihoods(quick, x, y);
      const Vector expected = log_likelihoods(plain, x, y);
      for (Index i = 0; i < x.rows(); ++i) {
        EXPECT_NEAR(found[i], expected[i],
                    QuietChannels::kTolerance + 1e-12 * std::abs(expected[i]))
            << c.name << " " << exposed << " " << i;
      }
    }
  }
  EXPECT_GE(listed_few, 6);
}

TEST(QuietChannels, AnythingIsAsBeforeWhereCountsAreMany) {
  const ManyChannels c = many_channels()[0];
  const Emission emission(c.basis, NegativeBinomial(c.dispersion));
  Evidence evidence;
  emission.look_at(Observation(std::vector<double>(kManyChannels, 1)), evidence);
  EXPECT_EQ(evidence.channels().size(), static_cast<std::size_t>(kManyChannels));
}

// Slopes and value at one activation, as the fast engine asks for them.
TEST(QuietChannels, ClimbAndSettleAreThoseOfTheCells) {
  for (const ManyChannels& c : many_channels()) {
    const NegativeBinomial law(c.dispersion);
    const Emission quick(c.basis, law);
    const Emission plain(c.basis, PlainNegativeBinomial(law));
    const Matrix x = activations_up_to(*quiet_of(c), 6);
    for (const bool exposed : {false, true}) {
      const Observation y = sparse_observation(2, exposed);
      for (Index i = 1; i < x.rows(); ++i) {
        Vector at = Vector::Zero(quick.rows().stride());
        at.head(3) = x.row(i).transpose();
        const auto look = [&](const Emission& emission, Vector& slopes) {
          Evidence evidence;
          PointForces forces;
          emission.look_at(y, evidence);
          emission.law()->climb(evidence, emission.rows(), as_span(at), forces);
          for (Index k = 0; k < 3; ++k) {
            slopes[k] = forces.gain_slopes[static_cast<std::size_t>(k)] -
                        forces.loss_slopes[static_cast<std::size_t>(k)] - evidence.total()[k];
          }
          return emission.law()->settle(evidence, emission.rows(), as_span(at), forces) -
                 evidence.total().dot(at.head(3)) + emission.log_base_measure(y);
        };
        Vector found_slopes(3);
        Vector expected_slopes(3);
        const double found = look(quick, found_slopes);
        const double expected = look(plain, expected_slopes);
        EXPECT_NEAR(found, expected, QuietChannels::kTolerance + 1e-12 * std::abs(expected))
            << c.name;
        for (Index k = 0; k < 3; ++k) {
          EXPECT_NEAR(at[k] * found_slopes[k], at[k] * expected_slopes[k],
                      98 * QuietChannels::kTolerance + 1e-12 * std::abs(expected))
              << c.name << " " << exposed;
        }
      }
    }
  }
}

// The sums of several observations, against those of the cells. What is replaced by polynomials is,
// of each channel, 1 - loss and the statistics of the dispersion as if it had no count.
TEST(QuietChannels, SumsOfTheMStepAreThoseOfTheCells) {
  for (const ManyChannels& c : many_channels()) {
    const NegativeBinomial law(c.dispersion);
    const Emission quick(c.basis, law);
    const Emission plain(c.basis, PlainNegativeBinomial(law));
    const Matrix x = activations_up_to(*quiet_of(c), 12);
    const Index law_statistics = law.num_statistics(kManyChannels);
    Statistics found(kManyChannels, 3, 0, law_statistics);
    Statistics expected(kManyChannels, 3, 0, law_statistics);
    Statistics common(kManyChannels, 3, 0, law_statistics);
    const auto quick_sums = quick.sums();
    const auto plain_sums = plain.sums();
    Matrix weights(12, 3);
    for (Index t = 0; t < 3; ++t) {
      weights.col(t).setLinSpaced(12, 0.1, 0.3 + static_cast<double>(t));
      const Observation y = sparse_observation(t, t > 0);
      quick_sums->add_one(x, quick, weights.col(t), y, found);
      plain_sums->add_one(x, plain, weights.col(t), y, expected);
      const Observation zeros(std::vector<double>(kManyChannels, 0));
      plain_sums->add_one(x, plain, weights.col(t), zeros, common);
    }
    quick_sums->finish(quick, found);
    EXPECT_LT((found.s1 - expected.s1).cwiseAbs().maxCoeff(), 1e-12 * expected.s1.maxCoeff());
    EXPECT_LT((found.s2 - expected.s2).cwiseAbs().maxCoeff(),
              1e-12 * expected.s2.maxCoeff() + 1e-300);
    for (Index m = 0; m < kManyChannels; ++m) {
      for (Index k = 0; k < 3; ++k) {
        EXPECT_NEAR(found.unseen(m, k), expected.unseen(m, k),
                    QuietChannels::kRelativeTolerance * common.unseen(m, k) +
                        1e-12 * (1 + std::abs(expected.s1[k])))
            << c.name << " " << m;
      }
      for (Index i = 0; i < 2; ++i) {
        const Index at = m * DispersionStatistics::kPerChannel + i;
        EXPECT_NEAR(found.s4[at], expected.s4[at],
                    QuietChannels::kRelativeTolerance * std::abs(common.s4[at]) +
                        1e-12 * (1 + std::abs(expected.s4[at])))
            << c.name << " " << m;
      }
    }
    // A block of observations is the sum of each.
    const Observation first = sparse_observation(0, false);
    const Observation second = sparse_observation(1, true);
    const Observation* const both[] = {&first, &second};
    Statistics block(kManyChannels, 3, 0, law_statistics);
    Statistics one_by_one(kManyChannels, 3, 0, law_statistics);
    quick_sums->add(x, quick, weights.leftCols(2), both, block);
    quick_sums->add_one(x, quick, weights.col(0), first, one_by_one);
    quick_sums->add_one(x, quick, weights.col(1), second, one_by_one);
    quick_sums->finish(quick, one_by_one);
    EXPECT_LT((block.unseen - one_by_one.unseen).cwiseAbs().maxCoeff(),
              1e-11 * (1 + one_by_one.s1.maxCoeff()))
        << c.name;
    EXPECT_LT((block.s4 - one_by_one.s4).cwiseAbs().maxCoeff(),
              1e-11 * (1 + one_by_one.s4.cwiseAbs().maxCoeff()))
        << c.name;
  }
}

// ... for each number of nodes at its own limit, where the bound is met most closely.
TEST(QuietChannels, SumsAreGoodUpToTheirLimits) {
  const Observation zeros(std::vector<double>(kManyChannels, 0));
  for (const ManyChannels& c : many_channels()) {
    const NegativeBinomial law(c.dispersion);
    const Emission quick(c.basis, law);
    const Emission plain(c.basis, PlainNegativeBinomial(law));
    const auto quiet = quiet_of(c);
    const Vector& sums = quiet->column_sums();
    for (int nodes = 1; nodes <= QuietChannels::kMostNodes; ++nodes) {
      const double most = quiet->limits_in_sums().most[static_cast<std::size_t>(nodes)];
      if (most == 0 || most > 1e9) continue;
      EXPECT_EQ(quiet->limits_in_sums().nodes_for(most), nodes);
      const Vector x =
          (sums.array() > 0).select(most * (1 - 1e-12) * sums.cwiseInverse(), Vector::Zero(3));
      Statistics found(kManyChannels, 3, 0, law.num_statistics(kManyChannels));
      Statistics expected = found;
      const auto quick_sums = quick.sums();
      quick_sums->add_one(x.transpose(), quick, Vector::Ones(1), zeros, found);
      quick_sums->finish(quick, found);
      plain.sums()->add_one(x.transpose(), plain, Vector::Ones(1), zeros, expected);
      const double tolerance = QuietChannels::kRelativeTolerance;
      EXPECT_TRUE(((found.unseen - expected.unseen).array().abs() <=
                   tolerance * expected.unseen.array().abs() + 1e-12 * (1 + most))
                      .all())
          << c.name << " " << nodes;
      EXPECT_TRUE(((found.s4 - expected.s4).array().abs() <=
                   tolerance * expected.s4.array().abs() + 1e-12 * (1 + most))
                      .all())
          << c.name << " " << nodes;
    }
  }
}

}  // namespace
}  // namespace headwater
