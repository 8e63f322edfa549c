#include "headwater/learning/average_filter.hpp"

#include <gtest/gtest.h>

#include <optional>

#include "headwater/engines/exact_engine.hpp"
#include "headwater/engines/particle_engine.hpp"
#include "headwater/models/basis_selection.hpp"
#include "headwater/models/gamma_prior.hpp"
#include "headwater/observation.hpp"
#include "headwater/reference/streams.hpp"

namespace headwater {
namespace {

constexpr Index kRowsAveraged = 400;

OnlineEm learner_of(const Estimate& start) {
  OnlineEmOptions options;
  options.burn_in = 50;
  const Emission emission = start.emission();
  if (start.prior.is_finite()) {
    return {std::make_unique<ExactEngine>(start.prior, emission, ExactEngineOptions{}), start,
            options};
  }
  ParticleEngineOptions particles;
  particles.filter.num_particles = 40;
  return {std::make_unique<ParticleEngine>(start.prior, emission, particles,
                                           std::make_shared<ThreadPool>(1)),
          start, options};
}

// The learner's engine as it is, with its smoother, given the average whenever the learner makes an
// M-step: what it predicts does not depend on the smoother.
TEST(AverageFilter, IsTheLearnersFilterAtTheAverage) {
  const Matrix basis = (Matrix(3, 2) << 5, 1, 1, 6, 3, 2).finished();
  for (const AnyPrior& prior :
       {AnyPrior(BasisSelection(2, 0.8, 0.7)), AnyPrior(GammaPrior(2, 2.0, 0.6))}) {
    const Matrix record = reference::simulate_record(prior, basis, kRowsAveraged, 3);
    OnlineEm learner = learner_of({basis, prior});
    std::optional<AverageFilter> filter;
    std::unique_ptr<Engine> right;
    bool differs = false;
    for (Index t = 0; t < kRowsAveraged; ++t) {
      const Observation y(as_span(record.col(t)));
      const double step_size = learner.next_step_size();
      FilterStep by_average;
      if (filter) {
        by_average = filter->step(y, step_size);
        EXPECT_EQ(by_average.log_predictive, right->step(y, step_size).log_predictive);
        EXPECT_EQ(filter->engine().predicted_activation(), right->predicted_activation());
      }
      const StepReport report = learner.update(y);
      EXPECT_EQ(report.step_size, step_size);
      differs = differs || (filter && by_average.log_predictive != report.filter.log_predictive);
      if (!report.updated) continue;
      ASSERT_TRUE(learner.has_average());
      if (filter) {
        filter->follow(learner);
      } else {
        right = learner.engine().clone();
        filter.emplace(learner);
      }
      const Estimate average = learner.working_average();
      right->set_basis(average.basis);
      right->set_law(average.law);
      right->set_prior(average.prior);
      Vector x = right->filtered_activation();
      if (prior.has_scale()) x.array() /= average.prior.scale().array();
      EXPECT_EQ(filter->filtered_activation(), x);
    }
    EXPECT_TRUE(differs);
  }
}

TEST(AverageFilter, IsTheSameAfterABreak) {
  const Matrix basis = (Matrix(3, 2) << 5, 1, 1, 6, 3, 2).finished();
  const AnyPrior prior(GammaPrior(2, 2.0, 0.6));
  const Matrix record = reference::simulate_record(prior, basis, kRowsAveraged, 3);
  OnlineEm learner = learner_of({basis, prior});
  for (Index t = 0; t < 100; ++t) learner.update(as_span(record.col(t)));
  AverageFilter filter(learner);
  for (Index t = 100; t < 110; ++t) filter.step(Observation(as_span(record.col(t))), 0.1);
  StateArchive saved;
  filter.exchange(saved);
  AverageFilter other(learner);
  StateArchive read(saved.bytes());
  other.exchange(read);
  for (Index t = 110; t < 120; ++t) {
    const Observation y(as_span(record.col(t)));
    EXPECT_EQ(filter.step(y, 0.1).log_predictive, other.step(y, 0.1).log_predictive);
    EXPECT_EQ(filter.filtered_activation(), other.filtered_activation());
  }
}

}  // namespace
}  // namespace headwater
