#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "headwater/engines/engine.hpp"
#include "headwater/error.hpp"
#include "headwater/inference.hpp"
#include "headwater/io/test_support.hpp"
#include "headwater/learning/online_em.hpp"
#include "headwater/observation.hpp"
#include "headwater/reference/streams.hpp"
#include "headwater/registry.hpp"
#include "headwater/session.hpp"
#include "headwater/simulate.hpp"

namespace headwater {
namespace {

using testing::HasSubstr;

constexpr Index kRows = 600;
constexpr Index kCut = 350;  // in the middle of a block

const Matrix& true_basis() {
  static const Matrix basis = random_basis(4, 2, 6, 1);
  return basis;
}

// From the prior of that name, with its usual parameters.
const Matrix& rows(const std::string& prior = "basis-selection") {
  static std::map<std::string, Matrix> records;
  if (!records.contains(prior)) {
    records[prior] =
        reference::simulate_record(make_prior(2, {.name = prior}), true_basis(), kRows, 2);
  }
  return records[prior];
}

Observation row(Index t, const std::string& prior = "basis-selection") {
  Vector counts = rows(prior).col(t);
  if (t % 7 == 0) counts[2] = std::numeric_limits<double>::quiet_NaN();
  return Observation(as_span(counts));
}

void take_in(Session& session, Index first, Index last) {
  for (Index t = first; t < last; ++t) session.update(row(t, session.config().prior.name));
}

Model ended(Session session, Index first, Index last) {
  take_in(session, first, last);
  session.finish();
  return session.model();
}

Model fitted(const Config& config, Index first, Index last) {
  return ended(Session(config), first, last);
}

Model through_a_file(const Model& model) {
  const TestFolder folder;
  write_model(model, folder.path("model.h5"));
  return read_model(folder.path("model.h5"));
}

Config config_with(const char* prior, SmootherKind smoother = SmootherKind::kAuto) {
  Config config;
  config.num_components = 2;
  config.prior.name = prior;
  config.initial_basis = reference::perturbed(true_basis(), 0.3, 3);
  config.smoother = smoother;
  config.engine.num_particles = 100;
  return config;
}

// Every engine, smoother and law has state of its own.
std::vector<Config> every_kind() {
  std::vector<Config> kinds;
  kinds.push_back(config_with("basis-selection"));
  kinds.push_back(config_with("basis-selection", SmootherKind::kForward));
  kinds.push_back(config_with("basis-selection"));
  kinds.back().paper_exact = true;
  kinds.push_back(config_with("basis-selection"));
  kinds.back().engine.kind = EngineKind::kBeam;
  kinds.back().engine.beam_width = 3;
  kinds.push_back(config_with("basis-selection"));
  kinds.back().counts.law = "drifting";
  kinds.push_back(config_with("basis-selection"));
  kinds.back().counts.law = "negative-binomial";
  kinds.back().counts.dispersion = DispersionOf::kShared;
  kinds.push_back(config_with("basis-selection"));
  kinds.back().season.periods = {{.steps = 5}};
  kinds.push_back(config_with("relaxed-selection", SmootherKind::kPath));
  kinds.push_back(config_with("log-gaussian", SmootherKind::kParis));
  kinds.push_back(config_with("gamma"));
  kinds.back().background = true;
  kinds.push_back(config_with("gamma"));
  kinds.back().engine.kind = EngineKind::kFast;
  kinds.push_back(config_with("basis-selection"));
  kinds.back().initial_basis = {};  // it is searched for
  return kinds;
}

std::string name_of(const Config& config) {
  return config.prior.name + " " + to_string(config.engine.kind) + " " +
         to_string(config.smoother) + " " + config.counts.law;
}

double difference(const Model& a, const Model& b) {
  return reference::largest_relative_difference(a.reported.basis, b.reported.basis);
}

double second_half(const Model& model, const Model& half) {
  return (model.log_likelihood - half.log_likelihood) / static_cast<double>(kRows - kCut);
}

// Not the same bits: at the cut the last rows entered the statistics with fewer later rows, and the
// fit may go on from its average, in smaller steps. Its predictions are as good: within 2 %, which
// is more than M-steps at other times change fits of so few rows.
TEST(Continued, TwoHalvesAreAsGoodAsOneFit) {
  for (const Config& config : every_kind()) {
    const Model whole = fitted(config, 0, kRows);
    const Model half = fitted(config, 0, kCut);
    const Model both = ended(Session(through_a_file(half)), kCut, kRows);
    EXPECT_EQ(both.observations, kRows);
    EXPECT_GT(second_half(both, half), 1.02 * second_half(whole, half)) << name_of(config);
    EXPECT_LT(difference(both, whole), 0.15) << name_of(config);
  }
}

// Steps that somebody has asked for go on as they were, and so does everything else: then the bits
// differ only by what enters the statistics early.
TEST(Continued, StepsThatWereAskedForGoOn) {
  Config config = config_with("basis-selection");
  config.step_size = StepSize::power(0.8);
  const Model whole = fitted(config, 0, kRows);
  const Model both = ended(Session(fitted(config, 0, kCut)), kCut, kRows);
  EXPECT_LT(difference(both, whole), 0.05);
  EXPECT_NEAR(both.log_likelihood, whole.log_likelihood, 1e-3 * std::abs(whole.log_likelihood));
}

TEST(Continued, AFileKeepsAllBits) {
  for (const Config& config : every_kind()) {
    const Model half = fitted(config, 0, kCut);
    const Model by_file = ended(Session(through_a_file(half)), kCut, kRows);
    const Model directly = ended(Session(half), kCut, kRows);
    EXPECT_EQ(by_file.state, directly.state) << name_of(config);
    EXPECT_EQ(by_file.trace.t, directly.trace.t) << name_of(config);
  }
}

// With everything held there is nothing to learn: the fit is a filter, and must go on as one that
// never stopped.
TEST(Continued, ActivationsFollowOnIfTheDataDo) {
  Config config = config_with("basis-selection");
  config.m_step.hold_basis = true;
  config.m_step.held_parameters = {"stay_off", "stay_on"};
  config.counts.law = "poisson";
  const Model half = fitted(config, 0, kCut);
  for (const bool follows_on : {true, false}) {
    ModelFilter filter(half.last, false, {});
    for (Index t = 0; t < kCut; ++t) filter.step(row(t));
    Session session(half, Continuation{.follows_on = follows_on});
    double found = 0;
    session.on_step([&](const StepReport& report) { found = report.filter.log_predictive; });
    for (Index t = kCut; t < kRows; ++t) {
      Observation y = row(t);
      session.update(y);
      y.set_begins_sequence(t == kCut && !follows_on);
      EXPECT_NEAR(found, filter.step(y).log_predictive, 1e-9);
    }
  }
}

TEST(Continued, ThePhaseFollowsOnIfTheDataDo) {
  Config config = config_with("basis-selection");
  config.season = {{{.steps = 7}}, 3};
  const Model half = fitted(config, 0, kCut);
  Session next(half);
  take_in(next, kCut, kCut + 1);
  EXPECT_EQ(next.learner()->engine().position(), 3 + kCut);
  Session other(half, Continuation{.follows_on = false});
  take_in(other, kCut, kCut + 1);
  EXPECT_EQ(other.learner()->engine().position(), 3);
  Model old = half;
  old.state.clear();
  Session from_estimate(old);
  take_in(from_estimate, kCut, kCut + 1);
  EXPECT_EQ(from_estimate.learner()->engine().position(), 3 + kCut);
}

TEST(Continued, StepSizesGoOnOrAreSetBack) {
  Config config = config_with("basis-selection");
  const Model given = fitted(config, 0, kCut);
  config.initial_basis = {};
  const Model searched = fitted(config, 0, kCut);
  const auto first_step = [&](const Model& half, std::int64_t forget) {
    Session session(half, Continuation{.forget = forget});
    double found = 0;
    session.on_step([&](const StepReport& report) { found = report.step_size; });
    take_in(session, kCut, kCut + 1);
    return found;
  };
  const auto step_after = [](double n) { return std::pow(n, -0.3) * std::pow(n + 1, -0.7); };
  EXPECT_DOUBLE_EQ(first_step(searched, 0), step_after(kCut));
  EXPECT_DOUBLE_EQ(first_step(searched, 40), step_after(40));
  EXPECT_DOUBLE_EQ(first_step(searched, kRows), step_after(kCut));  // it has not seen so many
  // From a start that was given, observations have weighed the same, too.
  EXPECT_DOUBLE_EQ(first_step(given, 0), step_after(kCut));
  EXPECT_DOUBLE_EQ(first_step(given, 40), step_after(40));
  Session session(searched, Continuation{.forget = 40});
  EXPECT_DOUBLE_EQ(session.learner()->engine().statistics().effective_count(), 40);
}

// A stream that is shorter than a burn-in has ended with one M-step. Each row that follows is
// learned from.
TEST(Continued, AShortStreamIsLearnedFrom) {
  Config config;
  config.num_components = 2;
  Session first(config);
  const Model begun = ended(first, 0, 40);
  Session session(begun);
  take_in(session, 40, 140);
  EXPECT_GT(session.learner()->m_steps(), begun.iterations + 2);
  const Model few = ended(Session(begun), 40, 43);
  EXPECT_GT(difference(few, begun), 0);
}

TEST(Continued, BatchEmWithASeasonGoesOnOnline) {
  Config config = config_with("basis-selection");
  config.method = Method::kBatch;
  config.season.periods = {{.steps = 5}};
  const Model batch = fitted(config, 0, kCut);
  EXPECT_EQ(ended(Session(through_a_file(batch)), kCut, kRows).observations, kRows);
}

TEST(Continued, BatchEmGoesOnOnline) {
  Config config = config_with("basis-selection");
  config.method = Method::kBatch;
  const Model batch = fitted(config, 0, kCut);
  ASSERT_FALSE(batch.state.empty());
  const Model both = ended(Session(through_a_file(batch)), kCut, kRows);
  EXPECT_EQ(both.observations, kRows);
  EXPECT_EQ(both.method, Method::kOnline);
  const Model whole = fitted(config, 0, kRows);
  EXPECT_LT(difference(both, whole), difference(batch, whole));
}

// Of version 0.1, or of one's own making. Four rows change it as little as they change one that has
// its statistics.
TEST(Continued, AModelWithoutStatisticsWeighsAsItsObservations) {
  for (const Config& config : every_kind()) {
    Model model = fitted(config, 0, kCut);
    const Model with_statistics = ended(Session(model), kCut, kCut + 4);
    model.state.clear();
    const Model longer = ended(Session(through_a_file(model)), kCut, kCut + 4);
    EXPECT_EQ(longer.observations, kCut + 4);
    EXPECT_LT(difference(longer, with_statistics), 0.1) << name_of(config);
    Model of_another_version = fitted(config, 0, kCut);
    of_another_version.version = "0.1.0";
    EXPECT_EQ(ended(Session(of_another_version), kCut, kCut + 4).state, longer.state);
  }
}

TEST(Continued, WhatTheModelIsCannotBeChanged) {
  const Model half = fitted(config_with("basis-selection"), 0, kCut);
  const auto error_with = [&](const auto& change) {
    Config config = config_of(half);
    change(config);
    try {
      Session session(half, config);
    } catch (const UsageError& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  EXPECT_EQ(error_with([](Config& c) { c.num_components = 7; }),
            "components is 7; the model that is continued has 2");
  EXPECT_EQ(error_with([](Config& c) { c.prior.name = "gamma"; }),
            "prior is gamma; the model that is continued has basis-selection");
  EXPECT_EQ(error_with([](Config& c) { c.counts.law = "drifting"; }),
            "counts is drifting; the model that is continued has poisson");
  EXPECT_EQ(error_with([](Config& c) { c.season.periods = {{.steps = 7}}; }),
            "period is 7; the model that is continued has none");
  EXPECT_THAT(error_with([](Config& c) { c.method = Method::kBatch; }), HasSubstr("method batch"));
  EXPECT_THAT(error_with([](Config& c) { c.restarts = 2; }), HasSubstr("restarts"));
  EXPECT_EQ(error_with([](Config& c) { c.engine.kind = EngineKind::kExact; }), "no error");
  EXPECT_EQ(error_with([](Config& c) { c.counts.law = CountsConfig::kAuto; }), "no error");
  EXPECT_EQ(error_with([](Config& c) { c.step_size = StepSize::constant(0.02); }), "no error");
  EXPECT_EQ(error_with([](Config& c) { c.seed = 9; }), "no error");
}

TEST(Continued, OptionsAreThoseOfTheFit) {
  Config config = config_with("gamma");
  config.m_step.held_parameters = {"shape", "persistence"};
  config.step_size = StepSize::constant(0.05);
  config.outliers = Outliers::kKeep;
  config.engine.resample_below = 0.7;
  config.seed = 5;
  const Config found = config_of(through_a_file(fitted(config, 0, kCut)));
  EXPECT_EQ(found.m_step.held_parameters, config.m_step.held_parameters);
  EXPECT_EQ(found.step_size.text(), "constant:0.05");
  EXPECT_EQ(found.average, Average::kAuto);
  EXPECT_EQ(found.outliers, Outliers::kKeep);
  EXPECT_EQ(found.engine.resample_below, 0.7);
  EXPECT_EQ(found.seed, 5);
  EXPECT_EQ(found.engine.num_particles, 100);
}

TEST(Continued, AnEditedBasisIsNotMixedUpWithOldStatistics) {
  Model model = fitted(config_with("basis-selection"), 0, kCut);
  model.last.basis(0, 0) *= 2;
  EXPECT_THROW(Session{model}, InputError);
  model.state.clear();
  Session session(model);
  EXPECT_EQ(session.observations(), kCut);
}

// Either the state is refused, or the fit goes on with it.
TEST(Continued, ADamagedStateIsRefusedOrUsable) {
  for (const Config& config : every_kind()) {
    const Model model = fitted(config, 0, kCut);
    std::mt19937_64 random(1);
    int refused = 0;
    for (int copy = 0; copy < 40; ++copy) {
      Model damaged = model;
      for (std::uint64_t changes = 1 + random() % 3; changes > 0; --changes) {
        const std::size_t at = random() % damaged.state.size();
        damaged.state[at] = static_cast<char>(random() % 2 == 0 ? 0xff : random());
      }
      if (random() % 8 == 0) damaged.state.resize(random() % damaged.state.size());
      try {
        ended(Session(damaged), kCut, kCut + 50);
      } catch (const Error&) {
        ++refused;
      }
    }
    EXPECT_GT(refused, 0) << name_of(config);
  }
}

}  // namespace
}  // namespace headwater
