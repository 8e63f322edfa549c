#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <vector>

#include "headwater/core/digamma.hpp"
#include "headwater/learning/iterate_average.hpp"
#include "headwater/learning/online_em.hpp"
#include "headwater/models/basis_selection.hpp"
#include "headwater/models/independent_prior.hpp"
#include "headwater/models/log_gaussian.hpp"
#include "headwater/reference/prior_draws.hpp"
#include "headwater/reference/statistical_tests.hpp"
#include "headwater/reference/streams.hpp"

namespace headwater {
namespace {

using reference::parameter;

// The E-step for one component of an IndependentPrior, in closed form: given y, its activation is
// a gamma variable of shape a + sum y and rate a / scale + sum of the column. What it was last
// given is for all to see.
class ConjugateEngine final : public Engine {
 public:
  struct Given {
    Matrix basis;
    AnyPrior prior;
  };
  explicit ConjugateEngine(std::shared_ptr<Given> given)
      : given_(std::move(given)),
        emission_(given_->basis),
        statistics_(given_->basis.rows(), 1, 3) {}

  std::unique_ptr<Engine> clone() const override {
    return std::make_unique<ConjugateEngine>(*this);
  }
  void set_prior(const AnyPrior& prior) override { given_->prior = prior; }
  void set_basis(const Matrix& basis) override {
    given_->basis = basis;
    emission_.set_basis(basis);
  }
  void set_law(const AnyLaw&) override {}
  void set_season(const Season&) override {}
  std::int64_t position() const override { return 0; }
  const Emission& emission() const override { return emission_; }
  FilterStep step(const Observation& y, double step_size) override {
    Vector counts(y.num_channels());
    y.write_counts(as_span(counts));
    const double shape = parameter(given_->prior, "shape");
    const double rate = shape / given_->prior.scale()[0] + given_->basis.sum();
    const double after = shape + counts.sum();
    statistics_.discount(1 - step_size);
    statistics_.count_observation(step_size);
    statistics_.s1[0] += step_size * after / rate;
    statistics_.s2.col(0) += step_size * counts;
    statistics_.s3 +=
        step_size * (Vector(3) << 1, after / rate, digamma(after) - std::log(rate)).finished();
    return {};
  }
  void pass_over() override {}
  void begin_after(std::int64_t /*observations*/) override {}
  void finish() override {}
  void stop_smoothing() override {}
  bool has_new_statistics() const override { return true; }
  const Statistics& statistics() const override { return statistics_; }
  Vector predicted_activation() const override { return given_->prior.scale(); }
  Vector filtered_activation() const override { return statistics_.s1; }
  void sample_predicted(Generator&, Matrix& out) const override { out.setZero(); }
  void write_prediction(PredictedActivations&) const override {}  // nobody asks for it
  void exchange(StateArchive& archive) override { archive(given_->basis, statistics_); }

 private:
  std::shared_ptr<Given> given_;
  Emission emission_;
  Statistics statistics_;
};

const Matrix kBasis = (Matrix(3, 1) << 5, 10, 2).finished();
const AnyPrior kPrior(IndependentPrior(1, 2.0));

struct Fit {
  Fit(const Matrix& record, const Estimate& start, const OnlineEmOptions& options)
      : given(std::make_shared<ConjugateEngine::Given>(
            ConjugateEngine::Given{start.basis, start.prior})),
        learner(std::make_unique<ConjugateEngine>(given), start, options) {
    for (Index t = 0; t < record.cols(); ++t) {
      learner.update(as_span(record.col(t)));
      if (learner.m_steps() > 0) statistics.push_back(learner.engine().statistics());
    }
  }
  std::shared_ptr<ConjugateEngine::Given> given;
  OnlineEm learner;
  std::vector<Statistics> statistics;  // that an M-step was made from
};

TEST(Estimate, OfUnitScaleHasTheScaleInItsColumns) {
  AnyPrior prior(LogGaussian(2, 0.5, 0.3));
  prior.set_scale((Vector(2) << 3, 0.5).finished());
  const Matrix basis = (Matrix(2, 3) << 1, 2, 3, 4, 5, 6).finished();  // with a background
  const Estimate unit = with_unit_scale({basis, prior});
  EXPECT_EQ(unit.basis, (Matrix(2, 3) << 3, 1, 3, 12, 2.5, 6).finished());
  EXPECT_EQ(unit.prior.scale(), Vector(Vector::Ones(2)));
  EXPECT_EQ(parameter(unit.prior, "noise"), 0.3);

  const Estimate same = with_unit_scale({basis, AnyPrior(BasisSelection(2, 0.5, 0.5))});
  EXPECT_EQ(same.basis, basis);
}

TEST(Estimate, OfGivenColumnSumsIsTheSameModel) {
  AnyPrior prior(LogGaussian(3, 0.5, 0.3));
  prior.set_scale((Vector(3) << 3, 0.5, 2).finished());
  const Matrix basis = (Matrix(2, 4) << 1, 2, 0, 3, 4, 6, 0, 6).finished();  // with a background
  const Vector sums = (Vector(3) << 10, 2, 7).finished();
  const Estimate changed = with_column_sums({basis, prior}, sums);
  EXPECT_EQ(changed.basis, (Matrix(2, 4) << 2, 0.5, 0, 3, 8, 1.5, 0, 6).finished());
  EXPECT_EQ(changed.prior.scale(), (Vector(3) << 1.5, 2, 2).finished());
  EXPECT_EQ(with_unit_scale(changed).basis, with_unit_scale({basis, prior}).basis);
}

TEST(OnlineEm, LearnsTheScaleInsideAndReportsItInTheBasis) {
  const Matrix record = reference::simulate_record(kPrior, kBasis, 400, 2);
  const Estimate start{1.5 * kBasis.reverse(), kPrior};
  const Fit fit(record, start, {});
  EXPECT_NEAR(fit.given->basis.sum(), start.basis.sum(), 1e-12 * start.basis.sum());
  const double scale = fit.given->prior.scale()[0];
  EXPECT_LT(scale, 0.9);
  for (const Estimate& estimate :
       {fit.learner.last(), fit.learner.averaged(), fit.learner.reported()}) {
    EXPECT_EQ(estimate.prior.scale()[0], 1);
  }
  EXPECT_TRUE(fit.learner.last().basis.isApprox(scale * fit.given->basis, 1e-15));
}

// In a unit that does not move, which is that of counts: the column keeps its sum inside.
TEST(OnlineEm, AveragesTheStatistics) {
  const Matrix record = reference::simulate_record(kPrior, kBasis, 104, 2);
  const Fit fit(record, {1.5 * kBasis, kPrior}, {});
  IterateAverage average;
  std::int64_t t = 0;  // an M-step follows each observation
  for (const Statistics& statistics : fit.statistics) average.add(statistics.sums(), ++t);
  EXPECT_EQ(fit.statistics.size(), 5U);
  Statistics mean = fit.statistics.back();
  mean.set_sums(average.mean());
  const MStep m_step({}, 1.5 * kBasis, kPrior);
  Estimate expected{fit.given->basis, fit.given->prior};
  m_step.update_basis(mean, expected.basis);
  for (int i = 0; i < 2; ++i) m_step.update_prior(mean, expected.prior);
  EXPECT_TRUE(fit.learner.averaged().basis.isApprox(with_unit_scale(expected).basis, 1e-14));
  EXPECT_NEAR(fit.learner.working_average().basis.sum(), 1.5 * kBasis.sum(), 1e-12);
}

TEST(OnlineEm, LeavesThePriorsScaleInThePlainForm) {
  const Matrix record = reference::simulate_record(kPrior, kBasis, 400, 2);
  OnlineEmOptions options;
  options.m_step.scale = Scale::kPlain;
  const Fit fit(record, {1.5 * kBasis, kPrior}, options);
  EXPECT_EQ(fit.given->prior.scale()[0], 1);
  EXPECT_EQ(fit.learner.last().basis, fit.given->basis);
}

// The best estimate of B(m) is the mean of y(m), whose variance is B + B^2 / shape; the averaged
// iterates are worse by a factor of 1.07 at most. From a start 3 times too large, with an alarm
// rate of 1e-6 for each of three entries. Counts are many: the plain form would still be off by
// more than a hundred standard errors.
TEST(OnlineEm, FindsTheScaleFromAWrongOne) {
  constexpr Index kTimes = 3000;
  const Matrix basis = 20 * kBasis;
  const Matrix record = reference::simulate_record(kPrior, basis, kTimes, 5);
  const Matrix found = Fit(record, {3 * basis, kPrior}, {}).learner.reported().basis;
  for (Index m = 0; m < 3; ++m) {
    const double error = std::sqrt((basis(m) + basis(m) * basis(m) / 2) / double(kTimes));
    EXPECT_NEAR(found(m), basis(m), 1.07 * reference::normal_critical(1e-6) * error) << m;
  }
}

}  // namespace
}  // namespace headwater
