#include "headwater/learning/cumulant_start.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "headwater/core/test_numbers.hpp"
#include "headwater/emission/negative_binomial.hpp"
#include "headwater/matching.hpp"
#include "headwater/models/basis_selection.hpp"
#include "headwater/reference/streams.hpp"
#include "headwater/simulate.hpp"

namespace headwater {
namespace {

constexpr double kStayOff = 0.8571;
constexpr double kStayOn = 0.6926;

AnyPrior prior_of(Index num_components) {
  return AnyPrior(BasisSelection(num_components, kStayOff, kStayOn));
}

Vector variances_of(Index num_components) {
  const double on = (1 - kStayOff) / (2 - kStayOff - kStayOn);
  return Vector::Constant(num_components, on * (1 - on));
}

Matrix distinct_basis() {
  Matrix basis(8, 5);
  basis << 9, 1, 1, 2, 1,  //
      8, 1, 1, 1, 7,       //
      1, 9, 1, 1, 1,       //
      1, 7, 2, 8, 1,       //
      1, 1, 9, 1, 2,       //
      2, 1, 8, 1, 1,       //
      1, 1, 1, 9, 1,       //
      1, 2, 1, 1, 9;
  return basis;
}

CumulantStart start_from(const Matrix& observations, Index num_components) {
  return cumulant_start(observations, {}, variances_of(num_components),
                        Matrix::Ones(observations.rows(), num_components));
}

double error_of(const CumulantStart& start, const Matrix& truth) {
  return relative_error(in_order_of(start.basis, truth), truth);
}

void remove_cells(Matrix& observations, double share, std::uint64_t seed) {
  Generator generator = RandomStream(seed).at(0, 0, Purpose::observation);
  for (double& count : observations.reshaped()) {
    if (generator.uniform() < share) count = kMissing;
  }
}

// Sample moments err by a multiple of 1 / sqrt(n). Over 400 seeds at n = 2000, 100 at 20,000 and 40
// at 100,000, log(error sqrt(n)) has mean log 3.2 and standard deviation 0.19; 4.75 of these above,
// at 8, is one alarm in a million. A bias of one part in forty would show at n = 100,000.
TEST(CumulantStart, FindsTheBasisAtTheRateOfTheMoments) {
  const Matrix truth = distinct_basis();
  for (const Index n : {2'000, 20'000, 100'000}) {
    const CumulantStart start =
        start_from(reference::simulate_record(prior_of(5), truth, n, 41), 5);
    EXPECT_EQ(start.columns_found, 5);
    EXPECT_LT(error_of(start, truth), 8 / std::sqrt(static_cast<double>(n))) << n;
  }
}

// The same for a fifth of the cells missing: mean log 4.2, standard deviation 0.2, and so 11.
TEST(CumulantStart, TakesMissingCellsIntoAccount) {
  const Matrix truth = distinct_basis();
  for (const Index n : {20'000, 100'000}) {
    Matrix observations = reference::simulate_record(prior_of(5), truth, n, 42);
    remove_cells(observations, 0.2, 43);
    const CumulantStart start = start_from(observations, 5);
    EXPECT_EQ(start.columns_found, 5);
    EXPECT_LT(error_of(start, truth), 11 / std::sqrt(static_cast<double>(n))) << n;
  }
}

Matrix simulate_under(const AnyLaw& law, const Matrix& basis, Index length, std::uint64_t seed) {
  Simulator simulator(prior_of(basis.cols()), Emission(basis, law), seed);
  Matrix record(basis.rows(), length);
  for (Index t = 0; t < length; ++t) {
    simulator.next();
    record.col(t) = Eigen::Map<const Vector>(simulator.observation().data(), basis.rows());
  }
  return record;
}

// Of negative binomial counts with a dispersion of .5: over 40 seeds at n = 20,000 and 12 at
// 100,000, log(error sqrt(n)) has mean log 10.4 and standard deviation 0.23, and so 31. Taken for
// Poisson counts, they lead elsewhere: an error of .31, however long the record.
TEST(CumulantStart, KnowsHowCountsAreDispersed) {
  const Matrix truth = distinct_basis();
  const Matrix rest = Matrix::Ones(8, 5);
  const AnyLaw law(NegativeBinomial(Vector::Constant(1, 0.5)));
  for (const Index n : {20'000, 100'000}) {
    const Matrix record = simulate_under(law, truth, n, 52);
    const double limit = 31 / std::sqrt(static_cast<double>(n));
    EXPECT_LT(error_of(cumulant_start(record, law, variances_of(5), rest), truth), limit) << n;
    EXPECT_GT(error_of(cumulant_start(record, {}, variances_of(5), rest), truth), limit) << n;
  }
}

// More channels than directions of the subspace. Over ten random bases, the log of the error has
// mean log 0.097 and standard deviation 0.135; at 4.75 of these above it is 0.185.
TEST(CumulantStart, FindsRandomBasesOfManyChannels) {
  const Matrix truth = random_basis(50, 10, 10, 44);
  const CumulantStart start =
      start_from(reference::simulate_record(prior_of(10), truth, 2000, 45), 10);
  EXPECT_EQ(start.columns_found, 10);
  EXPECT_LT(error_of(start, truth), 0.185);
}

// An observation without any cell says nothing, and changes nothing but rounding.
TEST(CumulantStart, LeavesOutObservationsWithoutACell) {
  const Matrix record = reference::simulate_record(prior_of(5), distinct_basis(), 3000, 46);
  Matrix longer = Matrix::Constant(8, 4000, kMissing);
  longer.middleCols(500, 3000) = record;
  EXPECT_LT(reference::largest_relative_difference(start_from(longer, 5).basis,
                                                   start_from(record, 5).basis),
            1e-8);
}

// The largest column is that of the component that varies most, over its standard deviation.
TEST(CumulantStart, GivesLargeColumnsToComponentsThatVaryMuch) {
  const Matrix record = reference::simulate_record(prior_of(5), distinct_basis(), 5000, 47);
  Vector variances = variances_of(5);
  const Matrix rest = Matrix::Ones(8, 5);
  Matrix even = cumulant_start(record, {}, variances, rest).basis;
  variances[3] *= 4;
  const Matrix uneven = cumulant_start(record, {}, variances, rest).basis;
  EXPECT_LT((uneven.col(3) - even.col(0) / 2).norm(), 1e-9 * even.norm());
  EXPECT_LT((uneven.col(0) - even.col(1)).norm(), 1e-9 * even.norm());
}

void expect_usable(const CumulantStart& start) {
  EXPECT_TRUE(start.basis.allFinite());
  EXPECT_GT(start.basis.minCoeff(), 0);
}

TEST(CumulantStart, FindsNoMoreColumnsThanChannels) {
  const Matrix record =
      reference::simulate_record(prior_of(5), distinct_basis().topRows(3), 2000, 48);
  const CumulantStart start = start_from(record, 5);
  expect_usable(start);
  EXPECT_EQ(start.columns_found, 3);
  EXPECT_EQ(start.basis.rightCols(2), Matrix::Ones(3, 2));
}

// Two sources in eight channels, five asked for. Noise may pass for another, but a small one, and
// larger columns come first.
TEST(CumulantStart, FindsTheColumnsThatThereAreFirst) {
  const Matrix truth = distinct_basis().leftCols(2);
  const CumulantStart start =
      start_from(reference::simulate_record(prior_of(2), truth, 20'000, 49), 5);
  expect_usable(start);
  EXPECT_GE(start.columns_found, 2);
  EXPECT_LT(relative_error(in_order_of(start.basis.leftCols(2), truth), truth),
            8 / std::sqrt(20'000.0));
}

TEST(CumulantStart, LeavesSilentChannelsPositive) {
  Matrix record = reference::simulate_record(prior_of(5), distinct_basis(), 2000, 50);
  record.row(0).setZero();
  record.row(5).setConstant(kMissing);
  const CumulantStart start = start_from(record, 5);
  expect_usable(start);
  EXPECT_LT(start.basis.row(0).maxCoeff(), 0.01);
}

TEST(CumulantStart, FindsNothingWhereNothingIs) {
  const Matrix empty(4, 0);
  const Matrix silent = Matrix::Zero(4, 50);
  const Matrix unseen = Matrix::Constant(4, 50, kMissing);
  const Matrix constant = Matrix::Constant(4, 50, 3.0);
  const Matrix huge = Matrix::Constant(4, 1, 1e300)
                          .replicate(1, 50)
                          .cwiseProduct(Matrix::Ones(4, 50) + Matrix::Identity(4, 50));
  for (const Matrix& observations : {empty, silent, unseen, constant, huge}) {
    const CumulantStart start = start_from(observations, 3);
    EXPECT_EQ(start.columns_found, 0);
    EXPECT_EQ(start.basis, Matrix::Ones(4, 3));
  }
}

TEST(CumulantStart, GivesSomethingUsableFromFewObservations) {
  const Matrix record = reference::simulate_record(prior_of(5), distinct_basis(), 30, 51);
  for (Index n = 1; n <= 30; ++n) expect_usable(start_from(record.leftCols(n), 5));
}

}  // namespace
}  // namespace headwater
