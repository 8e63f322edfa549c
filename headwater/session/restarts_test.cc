#include "headwater/session/restarts.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "headwater/error.hpp"
#include "headwater/learning/automatic_start.hpp"
#include "headwater/learning/online_em.hpp"
#include "headwater/models/basis_selection.hpp"
#include "headwater/observation.hpp"
#include "headwater/reference/streams.hpp"
#include "headwater/registry.hpp"
#include "headwater/session/trace.hpp"
#include "headwater/simulate.hpp"

namespace headwater {
namespace {

Config small_config(Init init) {
  Config config;
  config.num_components = 2;
  config.init = init;
  return config;
}

Matrix restarts_record(Index length) {
  return reference::simulate_record(AnyPrior(BasisSelection(2, 0.8, 0.7)), random_basis(4, 2, 6, 1),
                                    length, 2);
}

template <class Fit>
void feed(Fit& fit, const Matrix& record) {
  for (Index t = 0; t < record.cols(); ++t) fit.update(as_span(record.col(t)));
  fit.finish();
}

void expect_same_estimates(const Model& a, const Model& b) {
  EXPECT_EQ(a.reported.basis, b.reported.basis);
  EXPECT_EQ(a.last.basis, b.last.basis);
  EXPECT_EQ(a.observations, b.observations);
  EXPECT_EQ(a.iterations, b.iterations);
  const Parameters first = a.reported.prior.parameters();
  const Parameters second = b.reported.prior.parameters();
  ASSERT_EQ(first.size(), second.size());
  for (std::size_t i = 0; i < first.size(); ++i) EXPECT_EQ(first[i].value, second[i].value);
}

void expect_same_bits(const Model& a, const Model& b) {
  expect_same_estimates(a, b);
  EXPECT_EQ(a.log_likelihood, b.log_likelihood);
  EXPECT_EQ(a.trace.t, b.trace.t);
  EXPECT_EQ(a.trace.last, b.trace.last);
}

// Lengths that end inside a block, at its end, and before the first one is full.
TEST(Restarts, AreTheFitsWithTheirSeeds) {
  for (const Index length : {1, 100, 512, 700}) {
    const Matrix record = restarts_record(length);
    for (const Method method : {Method::kOnline, Method::kBatch}) {
      Config config = small_config(Init::kRandom);
      config.method = method;
      config.iterations = 5;
      config.seed = 11;
      for (const int threads : {1, 2}) {
        config.engine.num_threads = threads;
        Restarts restarts(config, 3);
        feed(restarts, record);
        ASSERT_EQ(restarts.size(), 3);
        for (Index i = 0; i < 3; ++i) {
          Config own = config;
          own.seed = 11 + static_cast<std::uint64_t>(i);
          Session single(own);
          feed(single, record);
          expect_same_bits(restarts.session(i).model(), single.model());
          EXPECT_EQ(restarts.session(i).model().seed, own.seed);
        }
      }
    }
  }
}

TEST(Restarts, AreTheSameFitsByParticles) {
  const Matrix record = restarts_record(300);
  Config config = small_config(Init::kRandom);
  config.engine.kind = EngineKind::kParticle;
  config.engine.num_particles = 600;
  config.engine.num_threads = 2;
  Restarts restarts(config, 2);
  feed(restarts, record);
  for (Index i = 0; i < 2; ++i) {
    Config own = config;
    own.seed += static_cast<std::uint64_t>(i);
    Session single(own);
    feed(single, record);
    expect_same_bits(restarts.session(i).model(), single.model());
  }
}

TEST(Restarts, TheBestHasTheLargestLikelihood) {
  Restarts restarts(small_config(Init::kRandom), 5);
  feed(restarts, restarts_record(600));
  const double best = merit(restarts.session(restarts.best()));
  Index others_below = 0;
  for (Index i = 0; i < 5; ++i) {
    EXPECT_LE(merit(restarts.session(i)), best);
    others_below += merit(restarts.session(i)) < best;
  }
  EXPECT_EQ(others_below, 4);
}

// A single fit sees each observation when it comes; several see blocks.
TEST(Restarts, OneIsThePlainSession) {
  const Matrix record = restarts_record(300);
  Config config = small_config(Init::kRandom);
  config.engine.num_threads = 2;
  Restarts one(config, 1);
  Session plain(config);
  for (Index t = 0; t < record.cols(); ++t) {
    one.update(as_span(record.col(t)));
    plain.update(as_span(record.col(t)));
    EXPECT_EQ(one.session(0).observations(), plain.observations());
  }
  one.finish();
  plain.finish();
  EXPECT_EQ(one.best(), 0);
  EXPECT_EQ(one.session(0).config().engine.num_threads, 2);
  expect_same_bits(one.session(0).model(), plain.model());
}

std::string restarts_message(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(Restarts, PassOnWhatASessionFindsWrong) {
  for (const Index count : {1, 3}) {
    Config config = small_config(Init::kRandom);
    config.engine.num_threads = 2;
    EXPECT_EQ(restarts_message([&] {
                Restarts restarts(config, count);
                restarts.update(std::vector<double>{1, 2, 3});
                restarts.update(std::vector<double>{1, -2, 3});
                restarts.finish();
              }),
              "channel 2: -2 found; observations must be from 0 to 1e+15");
    EXPECT_EQ(restarts_message([&] {
                Restarts restarts(config, count);
                for (int t = 0; t < 300; ++t) restarts.update(std::vector<double>{1, 2, 3});
                for (int t = 0; t < 300; ++t) restarts.update(std::vector<double>{1, 2});
              }),
              "observation 301 has 2 channels; expected 3");
    EXPECT_EQ(restarts_message([&] { Restarts(config, count).finish(); }),
              "there are no observations");
  }
}

TEST(Restarts, AreAtLeastOneAndNotTooMany) {
  for (const Index count : {-1, 0, 1001}) {
    EXPECT_EQ(restarts_message([&] { Restarts(small_config(Init::kRandom), count); }),
              "restarts is " + std::to_string(count) + "; expected a whole number from 1 to 1000");
  }
  Config config = small_config(Init::kRandom);
  config.num_components = 0;
  EXPECT_EQ(restarts_message([&] { Restarts(config, 2); }),
            "components is 0; expected a whole number from 1 to 65536");
}

// What a fit with a search is to equal: one that is given what the search finds among the first
// observations, and then all observations.
Session replayed(const Config& config, const Matrix& record) {
  const AnyPrior prior = make_prior(config.num_components, config.prior);
  const Index most = std::min(record.cols(), start_buffer(record.rows(), prior));
  StartSearch found = automatic_start(Record(record.leftCols(most)), prior, {AnyLaw()},
                                      config.background, config.m_step, config.seed);
  Config given = config;
  given.initial_basis = found.estimate.basis;
  given.burn_in = start_buffer(record.rows(), prior);
  given.step_size = StepSize::power(0.7).with_even_beginning(given.burn_in);
  Session session(given, found.estimate.prior);
  feed(session, record);
  return session;
}

TEST(AutomaticSession, LosesNothingAndReadsNothingTwice) {
  ASSERT_EQ(start_buffer(4, AnyPrior(BasisSelection(2, 0.9, 0.7))), 1000);
  for (const Index length : {1, 2, 5, 99, 999, 1000, 1001, 1300}) {
    const Matrix record = restarts_record(length);
    for (const bool background : {false, true}) {
      Config config = small_config(Init::kAuto);
      config.counts.law = "poisson";  // of a few observations another one is taken
      config.m_step.basis_shape =
          1;  // so that a search expects nothing that a given start does not
      config.background = background;
      config.seed = 3;
      config.smoother = SmootherKind::kForward;  // which lengthens no steps, after a search or not
      Session session(config);
      std::vector<std::int64_t> seen;
      session.on_step([&](const StepReport& report) { seen.push_back(report.t); });
      feed(session, record);
      ASSERT_EQ(seen.size(), static_cast<std::size_t>(length));
      for (Index t = 0; t < length; ++t) EXPECT_EQ(seen[t], t + 1);
      EXPECT_EQ(session.observations(), length);
      EXPECT_EQ(session.model().observations, length);
      const Session expected = replayed(config, record);
      expect_same_estimates(session.model(), expected.model());
      // Reports are from before: what the fit from the last start has of its own is its merit.
      EXPECT_EQ(merit(session), merit(expected));
    }
  }
}

// What the start was found from enters with equal weights before anything moves.
TEST(AutomaticSession, TheFirstMStepWaitsForTheObservationsOfTheSearch) {
  Session session(small_config(Init::kAuto));
  std::int64_t first_update = 0;
  session.on_step([&](const StepReport& report) {
    if (report.updated && report.t > 1000 && first_update == 0) first_update = report.t;
    const auto t = static_cast<double>(report.t);
    if (report.t > 1000) {
      EXPECT_DOUBLE_EQ(report.step_size, std::pow(t, -0.7));
    }
  });
  std::int64_t m_steps_before = -1;
  const Matrix record = restarts_record(1300);
  for (Index t = 0; t < record.cols(); ++t) {
    session.update(as_span(record.col(t)));
    if (t == 999) m_steps_before = session.learner()->m_steps();
  }
  EXPECT_LE(m_steps_before, 1);  // one where a block ends with the last observation of the search
  EXPECT_GE(first_update, 1001);
  EXPECT_LT(first_update, 1100);
}

// EM is slow where activations know no bound, and nothing lengthens its steps there.
TEST(GivenStart, HasLargerStepsWhereActivationsKnowNoBound) {
  const Matrix record = restarts_record(1050);
  for (const auto& [prior, exponent] : {std::pair("basis-selection", 0.7), std::pair("gamma", 0.6),
                                        std::pair("independent", 0.6)}) {
    Config config = small_config(Init::kAuto);
    config.prior.name = prior;
    config.engine.num_particles = 10;
    config.initial_basis = random_basis(4, 2, 6, 3);
    Session session(config);
    session.on_step([&, exponent = exponent](const StepReport& report) {
      const auto t = static_cast<double>(report.t);
      EXPECT_DOUBLE_EQ(report.step_size, t > 1000 ? std::pow(t, -exponent) : 1 / t) << prior;
    });
    feed(session, record);
  }
}

TEST(AutomaticSession, StepsThatAreAskedForAreMade) {
  Config config = small_config(Init::kAuto);
  config.step_size = StepSize::power(0.8);
  Session session(config);
  std::int64_t first_update = 0;
  session.on_step([&](const StepReport& report) {
    if (report.updated && first_update == 0) first_update = report.t;
    EXPECT_DOUBLE_EQ(report.step_size, std::pow(static_cast<double>(report.t), -0.8));
  });
  feed(session, restarts_record(300));
  EXPECT_GE(first_update, 100);
  EXPECT_LT(first_update, 200);
}

TEST(AutomaticSession, BatchStartsFromTheSearchToo) {
  const Matrix record = restarts_record(1200);
  Config config = small_config(Init::kAuto);
  config.method = Method::kBatch;
  config.iterations = 3;
  Session session(config);
  feed(session, record);
  EXPECT_EQ(session.model().observations, 1200);
  EXPECT_FALSE(session.start_report().chosen.empty());
  expect_same_bits(session.model(), replayed(config, record).model());
}

TEST(AutomaticSession, ContinuousPriorsAreSearchedUnderTheirStandIn) {
  const Matrix record = restarts_record(60);
  Config config = small_config(Init::kAuto);
  config.prior.name = "gamma";
  config.engine.num_particles = 50;
  Session session(config);
  feed(session, record);
  EXPECT_FALSE(session.start_report().chosen.empty());
  EXPECT_EQ(session.model().observations, 60);
  EXPECT_TRUE(session.model().reported.basis.allFinite());
}

// Light searches come before it; the last one is told of as they are.
TEST(AutomaticSession, TheLastStartIsFoundWhenTheBufferIsFull) {
  const Matrix record = restarts_record(1000);
  Session session(small_config(Init::kAuto));
  std::vector<std::int64_t> searched;
  session.on_start([&] { searched.push_back(session.observations()); });
  for (Index t = 0; t < 999; ++t) session.update(as_span(record.col(t)));
  const std::vector<std::int64_t> first = {2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 50};
  ASSERT_GE(searched.size(), first.size());
  EXPECT_TRUE(std::equal(first.begin(), first.end(), searched.begin()));
  EXPECT_EQ(std::ranges::count(searched, 200), 1);
  EXPECT_FALSE(session.is_settled());
  session.update(as_span(record.col(999)));
  EXPECT_EQ(searched.back(), 1000);
  EXPECT_TRUE(session.is_settled());
  EXPECT_EQ(session.learner()->observations(), 1000);
}

// Nothing is searched for where the basis is given, or to start as the paper has it.
TEST(AutomaticSession, SearchesOnlyWhereThereIsSomethingToFind) {
  const Matrix record = restarts_record(150);
  Config given = small_config(Init::kAuto);
  given.initial_basis = random_basis(4, 2, 6, 1);
  Config printed = small_config(Init::kAuto);
  printed.paper_exact = true;
  for (const Config& config : {given, printed, small_config(Init::kRandom)}) {
    Session session(config);
    feed(session, record);
    EXPECT_TRUE(session.start_report().chosen.empty());
    EXPECT_TRUE(session.start_report().trials.empty());
  }
}

}  // namespace
}  // namespace headwater
