#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string_view>

#include "headwater/emission/negative_binomial.hpp"
#include "headwater/emission/negative_binomial_terms.hpp"
#include "headwater/learning/batch_em.hpp"
#include "headwater/learning/monte_carlo_em.hpp"
#include "headwater/reference/learners.hpp"
#include "headwater/reference/streams.hpp"

// Learning under the negative binomial law: the basis and the dispersion.

namespace headwater {
namespace {

using reference::Learner;
using reference::perturbed;
using reference::three_states;

constexpr Index kDispersedLength = 2000;

struct Truth {
  const char* name;
  Vector dispersion;  // one, or one for each channel
};

const std::vector<Truth>& truths() {
  static const std::vector<Truth> all = {{"shared", Vector::Constant(1, 0.3)},
                                         {"channel", Vector{{0.1, 0.2, 0.3, 0.5, 0.8}}}};
  return all;
}

Record dispersed_record(const AnyPrior& prior, const Truth& truth,
                        Index length = kDispersedLength) {
  return reference::imperfect_record(prior, NegativeBinomial(truth.dispersion), length);
}

Estimate start_with(const AnyPrior& prior, const Matrix& basis, const Truth& truth) {
  return {basis, prior, NegativeBinomial(Vector::Constant(truth.dispersion.size(), 0.05))};
}

Estimate poor_start(const AnyPrior& prior, const Truth& truth) {
  return start_with(prior, perturbed(reference::learned_basis(), 0.3, 2), truth);
}

Vector dispersions_of(const Estimate& estimate) { return estimate.law.parameters()[0].value; }

// Less than a thousandth of a nat an iteration, of records of 30,000 nats.
BatchEmOptions until_little_is_gained() {
  BatchEmOptions options;
  options.max_iterations = 3000;
  options.tolerance = 1e-8;
  return options;
}

// What batch EM climbs to with one dispersion held at a value.
double held_log_likelihood(const Record& record, Estimate start, Index m, double value) {
  BatchEmOptions options = until_little_is_gained();
  options.m_step.held_parameters = {"dispersion"};
  Vector dispersion = dispersions_of(start);
  dispersion[m] = value;
  start.law.set_parameter({"dispersion", dispersion});
  return batch_em(record, start, options).log_likelihood.back();
}

// The standard errors of the maximum-likelihood estimates, by the curvature of the likelihood's
// profile: at a dispersion e^+-h times the best one, the basis and the prior are fitted anew.
Vector standard_errors(const Record& record, const Estimate& best, double log_likelihood) {
  constexpr double kStep = 0.1;
  const Vector dispersion = dispersions_of(best);
  Vector errors(dispersion.size());
  for (Index m = 0; m < errors.size(); ++m) {
    const double up = held_log_likelihood(record, best, m, dispersion[m] * std::exp(kStep));
    const double down = held_log_likelihood(record, best, m, dispersion[m] * std::exp(-kStep));
    const double curvature = (2 * log_likelihood - up - down) / (kStep * kStep);
    EXPECT_GT(curvature, 0);
    errors[m] = dispersion[m] / std::sqrt(curvature);
  }
  return errors;
}

// Within 4 standard errors. For an estimate that is normal, one of six dispersions is farther off
// with probability 1 - (1 - 6.3e-5)^6 = 4e-4 (with 3 standard errors one record in 60 would fail);
// all engines see the same record, so their errors are almost the same.
void expect_found(const Estimate& found, const Truth& truth, const Vector& errors,
                  const char* who) {
  const Vector dispersion = dispersions_of(found);
  for (Index m = 0; m < errors.size(); ++m) {
    EXPECT_NEAR(dispersion[m], truth.dispersion[m], 4 * errors[m]) << who << ", channel " << m;
  }
}

BatchEmResult most_likely(const Record& record, const Estimate& start) {
  BatchEmResult result = batch_em(record, start, until_little_is_gained());
  EXPECT_TRUE(result.converged);
  return result;
}

void expect_never_falls(const BatchEmResult& result) {
  for (std::size_t i = 1; i < result.log_likelihood.size(); ++i) {
    const double before = result.log_likelihood[i - 1];
    EXPECT_GE(result.log_likelihood[i], before - 1e-10 * std::abs(before)) << i;
  }
}

TEST(NegativeBinomialLearning, EveryFiniteEngineFindsTheDispersion) {
  for (const Truth& truth : truths()) {
    const Record record = dispersed_record(three_states(), truth);
    const BatchEmResult best = most_likely(record, poor_start(three_states(), truth));
    expect_never_falls(best);
    const Vector errors = standard_errors(record, best.estimate, best.log_likelihood.back());
    expect_found(best.estimate, truth, errors, "exact, batch");
    for (const Learner& learner : reference::all_learners()) {
      if (!learner.prior.is_finite()) continue;
      OnlineEm em = learner.from(poor_start(learner.prior, truth));
      for (Index t = 0; t < record.size(); ++t) em.update(record[t]);
      em.finish();
      expect_found(em.reported(), truth, errors, learner.name);
    }
  }
}

TEST(NegativeBinomialLearning, MonteCarloEmFindsTheDispersion) {
  const Truth& truth = truths()[0];
  const Record record = dispersed_record(three_states(), truth, 1000);
  const BatchEmResult best = most_likely(record, poor_start(three_states(), truth));
  const Vector errors = standard_errors(record, best.estimate, best.log_likelihood.back());
  BatchEmOptions options;
  options.max_iterations = 40;
  const auto make = [](const Estimate& estimate, std::int64_t iteration) {
    const auto particles = reference::particle_options(ParticleEngineOptions::Smoother::kLag, 200,
                                                       static_cast<std::uint64_t>(iteration) + 1);
    return std::make_unique<ParticleEngine>(estimate.prior, estimate.emission(), particles,
                                            reference::threads(1));
  };
  const BatchEmResult found =
      monte_carlo_em(record, poor_start(three_states(), truth), options, make);
  expect_found(found.estimate, truth, errors, "particles, batch");
}

// However bad the start, and with so few observations that the channels' dispersions are shrunk.
TEST(NegativeBinomialLearning, BatchEmNeverFalls) {
  for (const Truth& truth : truths()) {
    for (const double start : {0.0, 1e-4, 0.3, 30.0}) {
      for (const Index length : {15, 150}) {
        const Record record = dispersed_record(three_states(), truth, length);
        Estimate estimate = poor_start(three_states(), truth);
        estimate.law.set_parameter(scalar_parameter("dispersion", start));
        BatchEmOptions options;
        options.max_iterations = 60;
        SCOPED_TRACE(std::string(truth.name) + ", from " + std::to_string(start));
        const BatchEmResult result = batch_em(record, estimate, options);
        expect_never_falls(result);
        EXPECT_TRUE(result.estimate.is_finite());
      }
    }
  }
}

// On Poisson counts the dispersion goes to nothing.
TEST(NegativeBinomialLearning, PoissonCountsHaveNoDispersion) {
  const Record record = reference::imperfect_record(three_states(), AnyLaw(), kDispersedLength);
  for (const Truth& truth : truths()) {
    const BatchEmResult result = batch_em(record, poor_start(three_states(), truth), {});
    EXPECT_LT(dispersions_of(result.estimate).maxCoeff(), 0.01) << truth.name;
  }
}

TEST(NegativeBinomialLearning, AHeldDispersionStays) {
  const Truth& truth = truths()[1];
  const Record record = dispersed_record(three_states(), truth, 200);
  BatchEmOptions options;
  options.max_iterations = 5;
  options.m_step.held_parameters = {"dispersion"};
  const BatchEmResult result = batch_em(record, poor_start(three_states(), truth), options);
  EXPECT_EQ(dispersions_of(result.estimate), Vector::Constant(5, 0.05).eval());
}

// The standard error of one dispersion, if all activations were known: by the slope of the cells'
// scores. Activations that have to be found can only make it larger.
double least_standard_error(const AnyPrior& prior, const Record& record, double phi) {
  constexpr double kStep = 0.01;
  const Matrix& basis = reference::learned_basis();
  Simulator simulator(prior, Emission(basis, NegativeBinomial(Vector::Constant(1, phi))), 7);
  double information = 0;
  for (Index t = 0; t < record.size(); ++t) {
    simulator.next();
    const Eigen::Map<const Vector> x(simulator.activation().data(), basis.cols());
    for_each_seen(record[t], [&](Index m, double count, double exposure) {
      const double mean = exposure * basis.row(m).dot(x);
      information += (negative_binomial::dispersion_score(count, mean, phi - kStep) -
                      negative_binomial::dispersion_score(count, mean, phi + kStep)) /
                     (2 * kStep);
    });
  }
  return 1 / std::sqrt(information);
}

// Online, from the true basis. Particles: within 3 standard errors, as above. The fast engine is
// biased: by 6 % with these gamma activations, and by less with log-gaussian ones.
TEST(NegativeBinomialLearning, ContinuousPriorsFindTheDispersion) {
  const Truth& truth = truths()[0];
  const double phi = truth.dispersion[0];
  for (const Learner& learner : reference::all_learners()) {
    if (learner.prior.is_finite()) continue;
    const Record record = dispersed_record(learner.prior, truth);
    OnlineEm em = learner.from(start_with(learner.prior, reference::learned_basis(), truth));
    for (Index t = 0; t < record.size(); ++t) em.update(record[t]);
    em.finish();
    const bool is_fast = std::string_view(learner.name).starts_with("fast");
    const double bias = is_fast ? 0.06 * phi : 0;
    EXPECT_NEAR(dispersions_of(em.reported())[0], phi,
                3 * least_standard_error(learner.prior, record, phi) + bias)
        << learner.name;
  }
}

void add_stretch(const AnyPrior& prior, const AnyLaw& law, double scale, Index length,
                 std::uint64_t seed, Record& record) {
  Simulator simulator(prior, Emission(scale * reference::learned_basis(), law), seed);
  for (Index t = 0; t < length; ++t) {
    simulator.next();
    record.add(Observation(simulator.observation()));
  }
}

// Of the logarithm of a dispersion, if so many counts of this mean were known with it.
double standard_error_of_logarithm(double phi, double mean, double observations) {
  const NegativeBinomial law(Vector::Constant(1, phi));
  double information = 0;
  for (double y = 0; y < 1000; ++y) {
    const double score = phi * negative_binomial::dispersion_score(y, mean, phi);
    information += std::exp(law.log_density(0, y, mean)) * score * score;
  }
  return 1 / std::sqrt(information * observations);
}

// 90 observations of hardly a count, then 810 of means 500 times as large. The basis of the quiet
// ones is far too small for the others, and a larger dispersion would explain their counts as well.
// The last estimates are worth some 220 observations. Means are 3 and more: the larger, the more a
// count tells. Five standard errors are passed with probability 6e-7. Without what
// asked_information() adds they are passed by the exact engine, at 1.7 and 2.
//
// Where an engine's statistics cannot be changed, M-steps are not lengthened, and the basis, and
// with it the dispersions, take longer than this stream.
TEST(NegativeBinomialLearning, DispersionsAreFoundAfterAQuietBeginning) {
  const double phi = 0.8;
  const AnyLaw law(NegativeBinomial(Vector::Constant(1, phi)));
  int tried = 0;
  for (const Learner& learner : reference::all_learners()) {
    Record record;
    add_stretch(learner.prior, law, 0.002, 90, 3, record);
    add_stretch(learner.prior, law, 1, 810, 4, record);
    const Estimate start{0.002 * reference::learned_basis(), learner.prior,
                         NegativeBinomial(Vector::Constant(5, 0.1))};
    OnlineEmOptions options;
    options.step_size = StepSize::power(0.7).with_even_beginning(60);
    options.burn_in = 60;
    options.m_step.held_parameters = learner.held;
    std::unique_ptr<Engine> engine = learner.make(start);
    if (engine->mutable_statistics() == nullptr) continue;
    ++tried;
    OnlineEm em(std::move(engine), start, options);
    for (Index t = 0; t < record.size(); ++t) em.update(record[t]);
    em.finish();
    const double worth = em.engine().statistics().effective_count();
    const double bound = 5 * standard_error_of_logarithm(phi, 3, worth);
    for (const double found : dispersions_of(em.last())) {
      EXPECT_LT(std::abs(std::log(found / phi)), bound) << learner.name << " " << found;
    }
  }
  EXPECT_GE(tried, 6);
}

TEST(NegativeBinomialLearning, ASavedStateGoesOnBitForBit) {
  for (const Truth& truth : truths()) {
    for (const Learner& learner : reference::all_learners()) {
      const Estimate start = poor_start(learner.prior, truth);
      Estimate other = start;
      other.law.set_parameter(scalar_parameter("dispersion", 3));
      reference::expect_saved_state_goes_on(learner, dispersed_record(learner.prior, truth, 300),
                                            start, other);
    }
  }
}

}  // namespace
}  // namespace headwater
