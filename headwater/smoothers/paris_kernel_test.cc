#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "headwater/models/basis_selection.hpp"
#include "headwater/models/gamma_prior.hpp"
#include "headwater/models/log_gaussian.hpp"
#include "headwater/models/relaxed_selection.hpp"
#include "headwater/random.hpp"
#include "headwater/reference/particle_runs.hpp"
#include "headwater/reference/statistical_tests.hpp"
#include "headwater/smoothers/backward_kernel.hpp"

namespace headwater {
namespace {

using reference::chi_square_critical;
using reference::chi_square_statistic;

constexpr double kAlarmRate = 1e-6;
constexpr Index kDraws = 20'000;

// A tiny cloud, one of whose particles has no weight, and where each of a few particles came from.
struct Cloud {
  explicit Cloud(const AnyPrior& prior)
      : filter(prior, Matrix::Ones(1, prior.num_components()), {1, Resampling::kSystematic, 1, 99},
               reference::threads(1)) {
    before.states = reference::draw(prior, 6, 2);
    before.weights = (Vector(6) << 0.1, 0.3, 0, 0.25, 0.3, 0.05).finished();
    next = reference::move_on(prior, before.states).topRows(4);
  }

  Vector law_of(Index i) const {
    Vector law;
    backward_law(filter.prior(), before, next.row(i), law);
    return law;
  }

  // A step of many particles that are all at the state of particle i of the few.
  ParticleStep step_at(Index i) const {
    ParticleStep step;
    step.states = next.row(i).replicate(kDraws, 1);
    step.weights = Vector::Constant(kDraws, 1.0 / double(kDraws));
    step.ancestors.assign(kDraws, 0);
    return step;
  }

  ParticleFilter filter;
  ParticleStep before;
  Matrix next;
};

// Of each particle's draws, the one numbered r. Cells of less than twenty are left together.
void expect_drawn_from(const Vector& law, const ParticleStep& step, Index num_draws, Index r) {
  ASSERT_EQ(step.draws.size(), static_cast<std::size_t>(kDraws * num_draws));
  Vector counts = Vector::Zero(law.size());
  for (Index i = 0; i < kDraws; ++i) counts[step.draws[i * num_draws + r]] += 1;
  std::vector<double> observed{0.0};
  std::vector<double> expected{0.0};
  for (Index j = 0; j < law.size(); ++j) {
    const double expects = law[j] * double(kDraws);
    EXPECT_TRUE(law[j] > 0 || counts[j] == 0) << j;
    if (expects < 20) {
      observed[0] += counts[j];
      expected[0] += expects;
    } else {
      observed.push_back(counts[j]);
      expected.push_back(expects);
    }
  }
  if (expected[0] < 20) {
    EXPECT_LT(observed[0], 80);  // Poisson of mean 20 or less: probability below 1e-20
    observed.erase(observed.begin());
    expected.erase(expected.begin());
  }
  if (expected.size() < 2) return;
  EXPECT_LT(chi_square_statistic(observed, expected),
            chi_square_critical(double(expected.size()) - 1, kAlarmRate));
}

std::vector<AnyPrior> priors() {
  return {AnyPrior(LogGaussian(2, 0.7, 0.8)), AnyPrior(GammaPrior(1, 0.8, 0.5)),
          AnyPrior(RelaxedSelection(1, 0.7)), AnyPrior(BasisSelection(2, 0.7, 0.6))};
}

TEST(BackwardLaw, IsTheWeightTimesTheDensity) {
  for (const AnyPrior& prior : priors()) {
    const Cloud cloud(prior);
    for (Index i = 0; i < cloud.next.rows(); ++i) {
      Vector density(6);
      for (Index j = 0; j < 6; ++j) {
        prior.log_transition(cloud.before.states.row(j), cloud.next.row(i), density.segment(j, 1));
      }
      const Vector law = cloud.before.weights.array() * density.array().exp();
      EXPECT_LT((cloud.law_of(i) - law / law.sum()).cwiseAbs().maxCoeff(), 1e-12) << prior.name();
    }
  }
}

TEST(BackwardLaw, IsThatOfTheWeightsWhereNoneCouldHaveCome) {
  Cloud cloud{AnyPrior(LogGaussian(2, 0.7, 0.8))};
  cloud.next(0, 0) = std::numeric_limits<double>::quiet_NaN();
  cloud.next(1, 0) = std::numeric_limits<double>::infinity();
  EXPECT_EQ(cloud.law_of(0), cloud.before.weights);
  EXPECT_EQ(cloud.law_of(1), cloud.before.weights);
}

// Both draws of each particle, at an alarm rate of 1e-6 each.
TEST(ParisKernel, DrawsFromTheDenseLaw) {
  for (const AnyPrior& prior : priors()) {
    const Cloud cloud(prior);
    for (const auto draw : {BackwardDraw::kRejection, BackwardDraw::kExact}) {
      for (Index i = 0; i < cloud.next.rows(); ++i) {
        ParticleStep step = cloud.step_at(i);
        ParisKernel(draw, 2).prepare(cloud.filter, cloud.before, step);
        for (Index r = 0; r < 2; ++r) expect_drawn_from(cloud.law_of(i), step, 2, r);
      }
    }
  }
}

// If the ancestor is drawn from the dense law, so is whatever a Metropolis step makes of it.
TEST(ParisKernel, MetropolisStepsLeaveTheDenseLawAsItIs) {
  for (const AnyPrior& prior : priors()) {
    const Cloud cloud(prior);
    for (Index i = 0; i < cloud.next.rows(); ++i) {
      const Vector law = cloud.law_of(i);
      ParticleStep step = cloud.step_at(i);
      for (Index p = 0; p < kDraws; ++p) {
        Generator generator =
            RandomStream(17).at(1, static_cast<std::uint32_t>(p), Purpose::backward);
        step.ancestors[p] = static_cast<std::int32_t>(categorical(generator, as_span(law)));
      }
      ParisKernel(BackwardDraw::kMcmc, 3).prepare(cloud.filter, cloud.before, step);
      for (Index r = 0; r < 3; ++r) expect_drawn_from(law, step, 3, r);
      EXPECT_EQ(step.draws[0], step.ancestors[0]);
    }
  }
}

// From any ancestor, many steps lead to the dense law: an independent Metropolis step forgets where
// it was with probability at least 1 / max f(x | .) / sum W f. Here this is above a fifth, and what
// is left after 100 steps is below 1e-9.
TEST(ParisKernel, ManyMetropolisStepsForgetTheAncestor) {
  const Cloud cloud{AnyPrior(LogGaussian(1, 0.5, 1))};
  ParticleStep step = cloud.step_at(0);
  ParisKernel(BackwardDraw::kMcmc, 101).prepare(cloud.filter, cloud.before, step);
  expect_drawn_from(cloud.law_of(0), step, 101, 100);
}

// What is pulled back by many draws is, up to their spread, what all weights give; and pulling back
// keeps the mass.
TEST(ParisKernel, PullsBackAsTheDenseKernelDoes) {
  constexpr Index kMany = 20'000;
  for (const AnyPrior& prior : priors()) {
    const Cloud cloud(prior);
    ParticleStep step;
    step.states = cloud.next;
    step.weights = (Vector(4) << 0.4, 0.1, 0.2, 0.3).finished();
    step.ancestors = {0, 1, 3, 4};
    const auto pull_back = [&](BackwardKernel&& kernel, Vector& law) {
      Vector s3 = Vector::Zero(prior.num_statistics());
      kernel.prepare(cloud.filter, cloud.before, step);
      kernel.pull_back(cloud.filter, cloud.before, step, step.weights, 0.5, law, as_span(s3));
      EXPECT_NEAR(law.sum(), 1, 1e-12);
      EXPECT_EQ(law[2], 0);
      return s3;
    };
    Vector dense_law;
    const Vector dense = pull_back(DenseKernel(), dense_law);
    Vector truth = Vector::Zero(6);
    Vector s3 = Vector::Zero(prior.num_statistics());
    for (Index i = 0; i < 4; ++i) {
      const Vector row = step.weights[i] * cloud.law_of(i);
      truth += row;
      prior.add_statistics(cloud.before.states, cloud.next.row(i), 0.5 * row, as_span(s3));
    }
    EXPECT_LT((dense_law - truth).cwiseAbs().maxCoeff(), 1e-14);
    EXPECT_LT((dense - s3).cwiseAbs().maxCoeff(), 1e-12);
    // A frequency in 20,000 draws has a standard deviation below 0.5 / sqrt(20,000) = 0.0036; an
    // alarm rate of 1e-6 for the six frequencies of independent draws. Metropolis draws depend on
    // each other, which at most triples that here.
    for (const auto draw : {BackwardDraw::kRejection, BackwardDraw::kExact, BackwardDraw::kMcmc}) {
      Vector law;
      pull_back(ParisKernel(draw, kMany), law);
      const double factor = draw == BackwardDraw::kMcmc ? 3 : 1;
      EXPECT_LT((law - truth).cwiseAbs().maxCoeff(),
                factor * reference::normal_critical(kAlarmRate / 6) * 0.0036)
          << prior.name();
    }
  }
}

TEST(GenealogyKernel, PullsBackToTheAncestors) {
  const AnyPrior prior(LogGaussian(2, 0.7, 0.8));
  const Cloud cloud(prior);
  ParticleStep step;
  step.states = cloud.next;
  step.ancestors = {1, 1, 3, 4};
  const Vector law = (Vector(4) << 0.4, 0.1, 0.2, 0.3).finished();
  Vector before_law;
  Vector s3 = Vector::Zero(prior.num_statistics());
  GenealogyKernel().pull_back(cloud.filter, cloud.before, step, law, 0.5, before_law, as_span(s3));
  EXPECT_LT((before_law - (Vector(6) << 0, 0.5, 0, 0.2, 0.3, 0).finished()).norm(), 1e-15);
  Vector truth = Vector::Zero(prior.num_statistics());
  const Matrix parents = cloud.before.states(step.ancestors, Eigen::all);
  prior.add_statistics(parents, cloud.next, 0.5 * law, as_span(truth));
  EXPECT_LT((s3 - truth).cwiseAbs().maxCoeff(), 1e-14);
}

}  // namespace
}  // namespace headwater
