// Sequences in every engine: a chain begins anew where an observation says so.

#include <gtest/gtest.h>

#include "headwater/engines/beam_engine.hpp"
#include "headwater/engines/exact_batch.hpp"
#include "headwater/engines/exact_engine.hpp"
#include "headwater/engines/fast_engine.hpp"
#include "headwater/engines/particle_engine.hpp"
#include "headwater/models/basis_selection.hpp"
#include "headwater/models/gamma_prior.hpp"
#include "headwater/reference/streams.hpp"
#include "headwater/simulate.hpp"

namespace headwater {
namespace {

using reference::largest_relative_difference;

const AnyPrior kOnOff(BasisSelection(2, 0.8, 0.7));
const AnyPrior kGamma(GammaPrior(2, 1.5, 0.8));
const Matrix kSequenceBasis = (Matrix(3, 2) << 9, 1, 2, 7, 4, 4).finished();
constexpr Index kLengths[] = {7, 1, 12, 30};

// The sequences apart, and one after another.
struct Trials {
  std::vector<Record> apart;
  Record all;

  explicit Trials(const AnyPrior& prior) {
    std::uint64_t seed = 1;
    for (const Index length : kLengths) {
      Simulator simulator(prior, kSequenceBasis, seed++);
      apart.emplace_back();
      for (Index t = 0; t < length; ++t) {
        simulator.next();
        Observation y(simulator.observation());
        y.set_begins_sequence(t == 0);
        apart.back().add(y);
        all.add(y);
      }
    }
  }
};

// Every observation weighs the same.
double run_through(Engine& engine, const Record& record) {
  double log_likelihood = 0;
  for (Index t = 0; t < record.size(); ++t) {
    log_likelihood += engine.step(record[t], 1 / static_cast<double>(t + 1)).log_predictive;
  }
  engine.finish();
  return log_likelihood;
}

void expect_same(const Statistics& found, const Statistics& truth, double tolerance = 1e-12) {
  EXPECT_LT(largest_relative_difference(found.s1, truth.s1), tolerance);
  EXPECT_LT(largest_relative_difference(found.s2, truth.s2), tolerance);
  EXPECT_LT(largest_relative_difference(found.s3, truth.s3), tolerance);
  EXPECT_EQ(found.observations, truth.observations);
  EXPECT_NEAR(found.squared_weights, truth.squared_weights, 1e-12);
}

// Of sequences with T_i of T observations: sum of T_i / T times what each gives by itself.
template <class MakeEngine>
Statistics mean_of_each(const Trials& trials, const MakeEngine& make, double& log_likelihood) {
  Statistics mean = make()->statistics();  // nothing yet
  log_likelihood = 0;
  for (const Record& record : trials.apart) {
    const auto engine = make();
    log_likelihood += run_through(*engine, record);
    mean.add_sums(engine->statistics(),
                  static_cast<double>(record.size()) / static_cast<double>(trials.all.size()));
  }
  mean.observations = trials.all.size();
  mean.squared_weights = 1 / static_cast<double>(trials.all.size());
  return mean;
}

using ExactSmoother = ExactEngineOptions::Smoother;

template <class Make>
void expect_mean_of_each(const Trials& trials, const Make& make) {
  double truth = 0;
  const Statistics mean = mean_of_each(trials, make, truth);
  const auto engine = make();
  EXPECT_NEAR(run_through(*engine, trials.all), truth, 1e-9);
  expect_same(engine->statistics(), mean);
}

TEST(Sequences, OfAnExactEngineAreTheirMean) {
  const Trials trials(kOnOff);
  for (const ExactSmoother smoother :
       {ExactSmoother::kWindow, ExactSmoother::kForward, ExactSmoother::kForwardAsPrinted}) {
    ExactEngineOptions options;
    options.smoother = smoother;
    options.window = {.lag = 40, .block = 3};
    const auto make = [&] {
      return std::make_unique<ExactEngine>(kOnOff, kSequenceBasis, options);
    };
    double truth = 0;
    const Statistics mean = mean_of_each(trials, make, truth);
    const auto engine = make();
    EXPECT_NEAR(run_through(*engine, trials.all), truth, 1e-9);
    expect_same(engine->statistics(), mean);
  }
}

TEST(Sequences, OfABatchAreTheirMean) {
  const Trials trials(kOnOff);
  ExactBatch batch(kOnOff.finite_chain(), kSequenceBasis, trials.all);
  const Matrix activations = batch.smoothed_activations();
  Statistics mean(3, 2, 8);
  double log_likelihood = 0;
  Index first = 0;
  for (const Record& record : trials.apart) {
    ExactBatch alone(kOnOff.finite_chain(), kSequenceBasis, record);
    log_likelihood += alone.log_likelihood();
    const Statistics statistics = alone.statistics(true, 20);
    const double share =
        static_cast<double>(record.size()) / static_cast<double>(trials.all.size());
    mean.add_sums(statistics, share);
    EXPECT_LT(largest_relative_difference(activations.middleRows(first, record.size()),
                                          alone.smoothed_activations()),
              1e-12);
    first += record.size();
  }
  EXPECT_NEAR(batch.log_likelihood(), log_likelihood, 1e-9);
  const Statistics found = batch.statistics(true, 20);
  EXPECT_LT(largest_relative_difference(found.s1, mean.s1), 1e-12);
  EXPECT_LT(largest_relative_difference(found.s2, mean.s2), 1e-12);
  EXPECT_LT(largest_relative_difference(found.s3, mean.s3), 1e-12);
}

TEST(Sequences, OfABeamThatHoldsAllStatesAreTheirMean) {
  const Trials trials(kOnOff);
  BeamEngineOptions options;
  options.window = {.lag = 40, .block = 3};
  const auto make = [&] { return std::make_unique<BeamEngine>(kOnOff, kSequenceBasis, options); };
  expect_mean_of_each(trials, make);
}

// Without the correction by draws, which differ from sequence to sequence.
TEST(Sequences, OfTheFastEngineAreTheirMean) {
  const Trials trials(kGamma);
  FastEngineOptions options;
  options.filter.most_corrected = 0;
  const auto make = [&] { return std::make_unique<FastEngine>(kGamma, kSequenceBasis, options); };
  expect_mean_of_each(trials, make);
}

// All genealogies of a sequence end before the next: the window over all paths is the recursion.
TEST(Sequences, OfPathsAreThoseOfTheRecursion) {
  const Trials trials(kGamma);
  ParticleEngineOptions options;
  options.filter.num_particles = 100;
  options.window.block = 5;
  const auto pool = std::make_shared<ThreadPool>(1);
  options.smoother = ParticleEngineOptions::Smoother::kPath;
  ParticleEngine window(kGamma, kSequenceBasis, options, pool);
  options.smoother = ParticleEngineOptions::Smoother::kPathAsPrinted;
  ParticleEngine recursion(kGamma, kSequenceBasis, options, pool);
  EXPECT_EQ(run_through(window, trials.all), run_through(recursion, trials.all));
  expect_same(window.statistics(), recursion.statistics(), 1e-9);
}

// A fixed lag as long as the sequences sees all of each: what the paths have is what it has.
TEST(Sequences, EndTheWindowsOfParticles) {
  const Trials trials(kGamma);
  ParticleEngineOptions options;
  options.filter.num_particles = 100;
  const auto pool = std::make_shared<ThreadPool>(1);
  options.smoother = ParticleEngineOptions::Smoother::kPath;
  ParticleEngine paths(kGamma, kSequenceBasis, options, pool);
  options.smoother = ParticleEngineOptions::Smoother::kLag;
  options.window = {.lag = 40, .block = 3};
  ParticleEngine lag(kGamma, kSequenceBasis, options, pool);
  EXPECT_EQ(run_through(paths, trials.all), run_through(lag, trials.all));
  expect_same(lag.statistics(), paths.statistics(), 1e-9);
}

// The same sequence again: the same law, by other random numbers.
TEST(Sequences, HaveRandomNumbersOfTheirOwn) {
  ParticleEngineOptions options;
  options.filter.num_particles = 50;
  options.smoother = ParticleEngineOptions::Smoother::kNone;
  ParticleEngine engine(kGamma, kSequenceBasis, options, std::make_shared<ThreadPool>(1));
  Observation y(std::vector<double>{3, 9, 5});
  y.set_begins_sequence(true);
  engine.step(y, 1);
  const Matrix first = engine.filter().states();
  engine.step(y, 1);
  EXPECT_NE(engine.filter().states(), first);
}

// What is said of a sequence does not depend on who takes in the others, to the last bit.
void expect_same_without_others(const Trials& trials, Engine& whole, Engine& part) {
  Index sequence = -1;
  for (Index t = 0; t < trials.all.size(); ++t) {
    const Observation& y = trials.all[t];
    sequence += y.begins_sequence();
    const FilterStep all = whole.step(y, 0);
    if (sequence % 2 == 0) {
      part.pass_over();
      continue;
    }
    EXPECT_EQ(part.step(y, 0).log_predictive, all.log_predictive) << "row " << t;
    EXPECT_EQ(part.filtered_activation(), whole.filtered_activation()) << "row " << t;
  }
}

TEST(Sequences, CanBePassedOver) {
  const auto pool = std::make_shared<ThreadPool>(1);
  ParticleEngineOptions particles;
  particles.filter.num_particles = 50;
  particles.smoother = ParticleEngineOptions::Smoother::kNone;
  for (const bool guided : {false, true}) {
    particles.filter.guided = guided;
    ParticleEngine whole(kGamma, kSequenceBasis, particles, pool);
    ParticleEngine part = whole;
    expect_same_without_others(Trials(kGamma), whole, part);
  }
  BeamEngineOptions narrow;
  narrow.filter.width = 2;
  BeamEngine beam(kOnOff, kSequenceBasis, narrow);
  BeamEngine part_of_beam = beam;
  expect_same_without_others(Trials(kOnOff), beam, part_of_beam);
  FastEngine fast(kGamma, kSequenceBasis, {});
  FastEngine part_of_fast = fast;
  expect_same_without_others(Trials(kGamma), fast, part_of_fast);
  ExactEngine exact(kOnOff, kSequenceBasis, {});
  ExactEngine part_of_exact = exact;
  expect_same_without_others(Trials(kOnOff), exact, part_of_exact);
}

// The learner is told of new statistics at the end of sequences, but not after each of many short
// ones.
TEST(Sequences, DoNotMakeMStepsOutOfSingleObservations) {
  ExactEngine engine(kOnOff, kSequenceBasis, {});
  Observation y(std::vector<double>{3, 9, 5});
  y.set_begins_sequence(true);
  Index told = 0;
  for (Index t = 1; t <= 320; ++t) {
    engine.step(y, 1 / static_cast<double>(t));
    told += engine.has_new_statistics();
  }
  EXPECT_EQ(told, 20);
  engine.finish();
  EXPECT_TRUE(engine.has_new_statistics());
  EXPECT_EQ(engine.statistics().observations, 320);
}

}  // namespace
}  // namespace headwater
