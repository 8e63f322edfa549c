#include "headwater/learning/standard_errors.hpp"

#include <gtest/gtest.h>

#include <Eigen/Cholesky>

#include "headwater/engines/exact_batch.hpp"
#include "headwater/engines/exact_engine.hpp"
#include "headwater/learning/batch_em.hpp"
#include "headwater/learning/estimate.hpp"
#include "headwater/learning/long_run_covariance.hpp"
#include "headwater/learning/prior_scores.hpp"
#include "headwater/learning/profile_coordinates.hpp"
#include "headwater/models/basis_selection.hpp"
#include "headwater/models/log_gaussian.hpp"
#include "headwater/reference/streams.hpp"
#include "headwater/simulate.hpp"

namespace headwater {
namespace {

constexpr double kUsualStayOff = 0.85;
constexpr double kUsualStayOn = 0.7;

Statistics with_sums(double value, std::int64_t observations) {
  Statistics statistics(2, 1, 1);
  statistics.s1.setConstant(value);
  statistics.s2.setConstant(2 * value);
  statistics.s3.setConstant(3 * value);
  statistics.observations = observations;
  return statistics;
}

TEST(BlockStatistics, RecoversWhatABlockHasAdded) {
  // Two observations of 4, with the weights 1 and 1/2; then two of 10 and 16, with 1/3 and 1/4.
  BlockStatistics blocks;
  blocks.begin(with_sums(0, 0));
  for (const double weight : {1.0, 0.5}) blocks.expect(weight);
  blocks.add(with_sums(4, 2));
  blocks.begin(with_sums(4, 2));
  for (const double weight : {1.0 / 3, 1.0 / 4}) blocks.expect(weight);
  blocks.add(with_sums((4 + 4 + 10 + 16) / 4.0, 4));
  const std::vector<BlockStatistics::Batch> batches = blocks.without_first(0);
  ASSERT_EQ(batches.size(), 2U);
  const Vector first{{8, 16, 16, 24}};
  const Vector second{{26, 52, 52, 78}};
  EXPECT_EQ(batches[0].observations, 2);
  EXPECT_TRUE(batches[0].sums.isApprox(first)) << batches[0].sums.transpose();
  EXPECT_TRUE(batches[1].sums.isApprox(second)) << batches[1].sums.transpose();
  EXPECT_EQ(blocks.without_first(0.125).size(), 1U);
}

// Stretches of 2 and 3 observations with the means 10 and 4, then a block of one with 16.
TEST(BlockStatistics, GoesOnFromStretchesOfAnotherEstimate) {
  const auto stretch = [](double value, int observations) {
    Statistics statistics = with_sums(value, observations);
    statistics.squared_weights = 1.0 / observations;
    return statistics;
  };
  BlockStatistics blocks;
  blocks.begin(with_sums(0, 0), Vector::Constant(1, 9));
  blocks.expect(1);
  blocks.add(with_sums(100, 1));
  blocks.set_all({stretch(10, 2), stretch(4, 3)}, Vector::Constant(1, 7));
  const Statistics mean = with_sums((3 * 4 + 2 * 10) / 5.0, 5);
  blocks.begin(mean, Vector::Constant(1, 6));
  blocks.expect(1.0 / 6);
  blocks.add(with_sums((3 * 4 + 2 * 10 + 16) / 6.0, 6));
  const std::vector<BlockStatistics::Batch> batches = blocks.without_first(0);
  ASSERT_EQ(batches.size(), 3U);
  const double sums[] = {20, 12, 16};
  const double estimates[] = {14, 21, 6};
  const std::int64_t observations[] = {2, 3, 1};
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(batches[i].sums[0], sums[i], 1e-12);
    EXPECT_NEAR(batches[i].sums[3], 3 * sums[i], 1e-12);
    EXPECT_EQ(batches[i].estimates[0], estimates[i]);
    EXPECT_EQ(batches[i].observations, observations[i]);
  }
}

TEST(BlockStatistics, MergesNeighboursAndLosesNothing) {
  BlockStatistics blocks;
  constexpr int kBlocks = 5000;
  Statistics mean = with_sums(0, 0);
  for (int i = 0; i < kBlocks; ++i) {
    blocks.begin(mean, Vector::Constant(3, i));
    const double weight = 1.0 / (i + 1);
    blocks.expect(weight);
    const Statistics now = with_sums(i, i + 1);
    mean.discount(1 - weight);
    mean.add_sums(now, weight);
    mean.observations = i + 1;
    blocks.add(mean);
  }
  const std::vector<BlockStatistics::Batch> batches = blocks.without_first(0);
  EXPECT_LE(batches.size(), 1024U);
  EXPECT_GE(batches.size(), 512U);
  double sum = 0;
  double estimates = 0;
  std::int64_t observations = 0;
  for (const BlockStatistics::Batch& batch : batches) {
    sum += batch.sums[0];
    estimates += batch.estimates[0];
    observations += batch.observations;
  }
  const double all = kBlocks * (kBlocks - 1) / 2.0;
  EXPECT_EQ(observations, kBlocks);
  EXPECT_NEAR(sum, all, 1e-6 * all);
  EXPECT_NEAR(estimates, all, 1e-6 * all);
}

TEST(PriorScores, AreThoseOfTheTransitions) {
  const AnyPrior prior(BasisSelection(1, kUsualStayOff, kUsualStayOn));
  Matrix states(5, 1);
  states << 0, 0, 1, 1, 0;
  const PriorScores scores = prior_scores(prior, states);
  ASSERT_EQ(scores.columns, (std::vector<Index>{0, 1}));
  const Vector off{{0, 1 / kUsualStayOff, -1 / (1 - kUsualStayOff), 0, 0}};
  const Vector on{{0, 0, 0, 1 / kUsualStayOn, -1 / (1 - kUsualStayOn)}};
  EXPECT_LT((scores.slopes.col(0) - off).cwiseAbs().maxCoeff(), 1e-6);
  EXPECT_LT((scores.slopes.col(1) - on).cwiseAbs().maxCoeff(), 1e-6);
}

TEST(PriorScores, OfAContinuousPrior) {
  const double persistence = 0.6;
  const double noise = 0.5;
  const AnyPrior prior(LogGaussian(1, persistence, noise));
  Matrix states(3, 1);
  states << 0.3, -0.2, 0.9;
  const PriorScores scores = prior_scores(prior, states);
  ASSERT_EQ(scores.columns.size(), 2U);
  for (Index t = 1; t < 3; ++t) {
    const double error = states(t, 0) - persistence * states(t - 1, 0);
    EXPECT_NEAR(scores.slopes(t, 0), error * states(t - 1, 0) / (noise * noise), 1e-6);
    EXPECT_NEAR(scores.slopes(t, 1), error * error / std::pow(noise, 3) - 1 / noise, 1e-6);
  }
}

TEST(LongRunCovariance, IsThePlainSum) {
  Matrix a(4, 2);
  a << 1, 2, 3, -1, 0, 4, 2, 2;
  Matrix b(4, 1);
  b << 2, -1, 1, 3;
  Matrix sum = Matrix::Zero(2, 1);
  for (Index s = 0; s < 4; ++s) {
    for (Index t = 0; t < 4; ++t) {
      const double taper = 1 - std::abs(static_cast<double>(s - t)) / 3;
      if (taper > 0) sum += taper * a.row(s).transpose() * b.row(t);
    }
  }
  EXPECT_TRUE(long_run_covariance(a, b, 2).isApprox(sum));
}

double exact_log_likelihood(const Vector& flat, Estimate estimate, const RecordView& record) {
  unflatten(flat, {}, estimate);
  return ExactBatch(estimate.prior.finite_chain(), estimate.emission(), record).log_likelihood();
}

// The square roots of the diagonal of the inverse of the observed information, by differences of
// the exact log-likelihood.
Vector errors_by_brute_force(const Estimate& estimate, const RecordView& record) {
  const Vector at = flatten(estimate);
  const Vector step = 1e-3 * at;
  const auto value = [&](Index i, double by_i, Index j, double by_j) {
    Vector moved = at;
    moved[i] += by_i * step[i];
    moved[j] += by_j * step[j];
    return exact_log_likelihood(moved, estimate, record);
  };
  Matrix information(at.size(), at.size());
  for (Index i = 0; i < at.size(); ++i) {
    for (Index j = 0; j <= i; ++j) {
      information(i, j) = information(j, i) =
          -(value(i, 1, j, 1) - value(i, 1, j, -1) - value(i, -1, j, 1) + value(i, -1, j, -1)) /
          (4 * step[i] * step[j]);
    }
  }
  return information.llt().solve(Matrix::Identity(at.size(), at.size())).diagonal().cwiseSqrt();
}

Vector flat_errors(const ErrorsOfEstimate& errors) {
  Vector flat(errors.basis.size() + 2);
  flat << errors.basis.reshaped(), errors.parameters[0].value(0), errors.parameters[1].value(0);
  return flat;
}

// Maximum likelihood on a record, and its errors from an exact engine and the blocks of the record.
struct Fitted {
  Record record;
  Estimate estimate;
  StandardErrors errors;
};

Record draw_record(const Estimate& truth, Index length) {
  Record record;
  Simulator simulator(truth.prior, truth.emission(), 7);
  Observation y;
  for (Index t = 0; t < length; ++t) {
    simulator.next();
    y.assign(simulator.observation());
    y.set_position(t);
    record.add(y);
  }
  return record;
}

Fitted fit_record(double stay_off, double stay_on, Index length, const Season& season = {}) {
  const AnyPrior prior(BasisSelection(2, stay_off, stay_on));
  const Matrix basis{{6, 1}, {2, 3}, {1, 7}, {4, 4}};
  const Estimate truth{basis, prior, {}, season};
  Record record = draw_record(truth, length);
  BatchEmOptions options;
  options.max_iterations = 2000;
  options.tolerance = 1e-12;
  options.unseen_past = false;
  options.m_step.shrink_profile = false;
  const Estimate estimate = batch_em(record, truth, options).estimate;
  const auto engine_of_run = [](const Estimate& of, int) -> std::unique_ptr<Engine> {
    ExactEngineOptions with;
    with.window.block = kDrawnBlock;
    return std::make_unique<ExactEngine>(of.prior, of.emission(), with);
  };
  const auto engine = engine_of_run(estimate, 0);
  for (PhaseSums& phases : engine->mutable_statistics()->phases) phases.recency = 1;
  BlockStatistics blocks;
  for (Index t = 0; t < record.size(); ++t) {
    const double weight = 1 / static_cast<double>(t + 1);
    follow(*engine, blocks, [&] {
      blocks.expect(weight);
      engine->step(record[t], weight);
    });
  }
  follow(*engine, blocks, [&] { engine->finish(); });
  const MStep m_step(options.m_step, estimate.basis, estimate.prior);
  const Statistics mean = engine->statistics();
  const auto errors = standard_errors(
      estimate,
      {m_step, estimate, mean, blocks.without_first(0), static_cast<double>(record.size())},
      engine_of_run, {.seed = 5});
  return {std::move(record), estimate, errors.value()};
}

// Each is a variance of some 400 independent products or more, and so right to 1 / sqrt(2 * 400) =
// 4 % of its root; by brute force it is without noise. The largest of 10 is beyond 20 % with
// probability 1e-5 even if it is half as much again.
TEST(StandardErrors, AreThoseOfTheObservedInformation) {
  const Fitted fitted = fit_record(kUsualStayOff, kUsualStayOn, 6000);
  const Vector truth = errors_by_brute_force(fitted.estimate, fitted.record);
  EXPECT_TRUE(fitted.errors.is_full);
  for (const ErrorsOfEstimate* errors : {&fitted.errors.robust, &fitted.errors.plain}) {
    const Vector ratio = flat_errors(*errors).cwiseQuotient(truth);
    EXPECT_GT(ratio.minCoeff(), 0.8) << ratio.transpose();
    EXPECT_LT(ratio.maxCoeff(), 1.2) << ratio.transpose();
  }
}

TEST(StandardErrors, OfSlowChainsToo) {
  const Fitted fitted = fit_record(0.98, 0.95, 12000);
  const Vector truth = errors_by_brute_force(fitted.estimate, fitted.record);
  for (const ErrorsOfEstimate* errors : {&fitted.errors.robust, &fitted.errors.plain}) {
    const Vector ratio = flat_errors(*errors).cwiseQuotient(truth);
    EXPECT_GT(ratio.minCoeff(), 0.75) << ratio.transpose();
    EXPECT_LT(ratio.maxCoeff(), 1.25) << ratio.transpose();
  }
}

// The basis, the parameters of the prior, and of each row of the profile all gains but the last,
// which follows from their mean, 1.
Vector free_numbers(const Estimate& estimate) {
  const Matrix& profile = estimate.season.profiles().front();
  const Matrix free = profile.leftCols(profile.cols() - 1);
  Vector numbers(EstimateLayout(estimate).profiles + free.size());
  numbers << flatten(estimate), free.reshaped();
  return numbers;
}

double log_likelihood_at(const Vector& numbers, Estimate estimate, const RecordView& record) {
  Matrix profile = estimate.season.profiles().front();
  const Index free = profile.cols() - 1;
  profile.leftCols(free) = numbers.tail(profile.rows() * free).reshaped(profile.rows(), free);
  profile.col(free) =
      static_cast<double>(free + 1) - profile.leftCols(free).rowwise().sum().array();
  estimate.season.set_profile(0, profile);
  return exact_log_likelihood(numbers.head(EstimateLayout(estimate).profiles), estimate, record);
}

// As errors_by_brute_force, with a profile. The last gain of a row is what the others leave.
Matrix profile_errors_by_brute_force(const Estimate& estimate, const RecordView& record) {
  const Vector at = free_numbers(estimate);
  const Vector step = 1e-3 * at;
  Matrix information(at.size(), at.size());
  const auto value = [&](Index i, double by_i, Index j, double by_j) {
    Vector moved = at;
    moved[i] += by_i * step[i];
    moved[j] += by_j * step[j];
    return log_likelihood_at(moved, estimate, record);
  };
  for (Index i = 0; i < at.size(); ++i) {
    for (Index j = 0; j <= i; ++j) {
      information(i, j) = information(j, i) =
          -(value(i, 1, j, 1) - value(i, 1, j, -1) - value(i, -1, j, 1) + value(i, -1, j, -1)) /
          (4 * step[i] * step[j]);
    }
  }
  const Matrix covariance = information.llt().solve(Matrix::Identity(at.size(), at.size()));
  const Matrix& profile = estimate.season.profiles().front();
  const Index free = profile.cols() - 1;
  const Index begin = EstimateLayout(estimate).profiles;
  Matrix errors(profile.rows(), profile.cols());
  for (Index k = 0; k < profile.rows(); ++k) {
    Vector sum = Vector::Zero(at.size());
    for (Index h = 0; h < free; ++h) {
      const Index place = begin + k + h * profile.rows();
      errors(k, h) = std::sqrt(covariance(place, place));
      sum[place] = 1;
    }
    errors(k, free) = std::sqrt(sum.dot(covariance * sum));
  }
  return errors;
}

// Each phase is visited in a third of the blocks, so errors are right to some 5 %; the largest of
// six is beyond 25 % with probability 1e-6.
TEST(StandardErrors, OfAProfileToo) {
  const Season season({Matrix{{1.6, 1.0, 0.4}, {0.7, 0.8, 1.5}}});
  const Fitted fitted = fit_record(kUsualStayOff, kUsualStayOn, 6000, season);
  const Matrix truth = profile_errors_by_brute_force(fitted.estimate, fitted.record);
  EXPECT_TRUE(fitted.errors.is_full);
  for (const ErrorsOfEstimate* errors : {&fitted.errors.robust, &fitted.errors.plain}) {
    ASSERT_EQ(errors->profiles.size(), 1U);
    ASSERT_EQ(errors->profiles.front().rows(), 2);
    const Matrix ratio = errors->profiles.front().cwiseQuotient(truth);
    EXPECT_GT(ratio.minCoeff(), 0.75) << ratio;
    EXPECT_LT(ratio.maxCoeff(), 1.25) << ratio;
  }
}

TEST(SumsOfVisits, AreThoseOfTheVisitsBetween) {
  PhaseSums sums(1, 2);
  const auto number = [](double value) { return Vector::Constant(1, value); };
  sums.visit(0, 1, number(3), number(5));
  sums.visit(1, 2, number(7), number(1));
  const std::vector<PhaseSums> before{sums};
  sums.visit(0, 1, number(4), number(6));
  sums.visit(0, 3, number(10), number(2));
  const Vector added = sums_of_visits(before, {sums});
  // With a recency of 2 a visit of 4 and three of 10 are weighted means; what they sum up to is
  // their number times such a mean, and with equal visits the sum itself.
  const double mean = (3 * 10.0 * (3 + 4 + 5) / 3 + 4 * 2) / (2 + 3 + 4 + 5);
  EXPECT_NEAR(added[0], 4 * mean, 1e-12);
  EXPECT_EQ(added[1], 0);
  const double expected = (2.0 * (3 + 4 + 5) + 6 * 2) / (2 + 3 + 4 + 5);
  EXPECT_NEAR(added[2], 4 * expected, 1e-12);
  EXPECT_EQ(added[3], 0);
}

TEST(WorthOfVisits, IsOneOverTheSquaredWeights) {
  EXPECT_NEAR(worth_of_visits(10, 1), 10, 1e-12);
  double squares = 0;
  for (int i = 1; i <= 10; ++i) squares += std::pow(i / 55.0, 2);  // recency 2: weights grow as i
  EXPECT_NEAR(worth_of_visits(10, 2), 1 / squares, 1e-12);
}

TEST(ProfileCoordinates, TurnGainsOfMeanOneAndBack) {
  const Season season({Matrix{{1.6, 1.0, 0.4}, {0.7, 0.8, 1.5}}});
  const Estimate estimate{Matrix::Ones(2, 2), AnyPrior(BasisSelection(2, 0.8, 0.8)), {}, season};
  const EstimateLayout layout(estimate);
  const ProfileCoordinates coordinates(estimate);
  Matrix moves = Matrix::Random(5, layout.size);
  for (Index k = 0; k < 2; ++k) {  // rows keep their mean
    moves.col(layout.profiles + k + 4) =
        -moves.col(layout.profiles + k) - moves.col(layout.profiles + k + 2);
  }
  Matrix turned = moves;
  coordinates.rotate(turned);
  EXPECT_TRUE(turned.leftCols(layout.profiles) == moves.leftCols(layout.profiles));
  EXPECT_LT(turned.col(layout.profiles).norm(), 1e-12);
  EXPECT_LT(turned.col(layout.profiles + 1).norm(), 1e-12);
  std::vector<Index> free;
  for (Index i = 0; i < layout.size; ++i) {
    if (i < layout.profiles || i >= layout.profiles + 2) free.push_back(i);
  }
  const Matrix kept = turned(Eigen::all, free);
  EXPECT_EQ(std::ssize(coordinates.places_after(free)), layout.size);
  EXPECT_TRUE(coordinates.rotated_back(kept, free).isApprox(moves));
}

}  // namespace
}  // namespace headwater
