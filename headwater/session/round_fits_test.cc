// Fits by rounds from beginning to end: the same bytes whoever computes, and after a break.

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "headwater/model.hpp"
#include "headwater/reference/round_sequences.hpp"

namespace headwater {
namespace {

using reference::give_sequences;
using reference::largest_relative_difference;
using reference::round_config;
using reference::some_sequences;

// Every prior, engine and smoother that a fit by rounds can have.
std::vector<Config> all_kinds_of_rounds() {
  std::vector<Config> kinds;
  const auto add = [&](const char* prior, SmootherKind smoother = SmootherKind::kAuto,
                       EngineKind engine = EngineKind::kAuto) {
    Config config = round_config(4);
    config.prior.name = prior;
    config.smoother = smoother;
    config.engine.kind = engine;
    config.engine.num_particles = 30;
    kinds.push_back(config);
  };
  add("basis-selection");
  add("basis-selection", SmootherKind::kForward);
  add("basis-selection", SmootherKind::kAuto, EngineKind::kBeam);
  kinds.back().engine.beam_width = 3;
  add("basis-selection", SmootherKind::kLag, EngineKind::kParticle);
  add("gamma", SmootherKind::kPath);
  add("gamma", SmootherKind::kForward);
  kinds.back().m_step.scale = Scale::kPlain;
  add("log-gaussian", SmootherKind::kParis);
  add("log-gaussian");
  kinds.back().engine.proposal = ProposalKind::kGuided;
  add("gamma", SmootherKind::kAuto, EngineKind::kFast);
  add("basis-selection");
  kinds.back().season.periods = {{.steps = 5}};
  kinds.back().initial_basis = {};
  kinds.back().init = Init::kRandom;
  for (const char* law : {"negative-binomial", "drifting", "hurdle"}) {
    add("basis-selection");
    kinds.back().counts.law = law;
  }
  add("basis-selection");
  kinds.back().background = true;
  kinds.back().standard_errors = true;
  add("basis-selection");
  kinds.back().initial_basis = {};
  kinds.back().start_on = 60;
  kinds.back().counts.law = CountsConfig::kAuto;
  return kinds;
}

std::string name_of_kind(const Config& config) {
  std::string text;
  for (const auto& [name, value] : describe(config)) text += name + " " + value + ", ";
  return text;
}

std::string state_of_rounds(Session& session) {
  StateArchive archive;
  archive(session);
  return archive.bytes();
}

// The state says everything but how it is reported.
void expect_same_fit(const Model& a, const Model& b) {
  EXPECT_TRUE(a.state == b.state);
  EXPECT_EQ(a.reported.basis, b.reported.basis);
  EXPECT_EQ(a.last.basis, b.last.basis);
  EXPECT_EQ(a.log_likelihood, b.log_likelihood);
  EXPECT_EQ(a.log_likelihood_after_start, b.log_likelihood_after_start);
  EXPECT_EQ(a.observations, b.observations);
  EXPECT_EQ(a.outliers, b.outliers);
  EXPECT_EQ(a.iterations, b.iterations);
  EXPECT_EQ(a.trace.t, b.trace.t);
  EXPECT_EQ(a.trace.reported, b.trace.reported);
  EXPECT_EQ(a.trace.log_likelihood, b.trace.log_likelihood);
}

// Sequences and rounds as whoever has many machines would go through them.
Model fitted_from_outside(const Config& config, const std::vector<Record>& sequences,
                          std::uint64_t seed) {
  Session session(config);
  std::size_t given = 0;
  while (session.wants_start() && given < sequences.size())
    give_sequences(session, {sequences[given++]});
  session.begin_rounds();
  const Session elsewhere(config);
  std::mt19937_64 random(seed);
  for (std::size_t first = 0; first < sequences.size();) {
    const std::size_t end =
        std::min(first + static_cast<std::size_t>(config.round), sequences.size());
    const SequenceRound round = elsewhere.round_of(session.round().bytes());
    std::vector<RoundStatistics> parts;
    for (std::size_t i = first; i < end; ++i) {
      parts.push_back(RoundStatistics::of_bytes(
          elsewhere.statistics(round, sequences[i], static_cast<std::int64_t>(i)).bytes()));
    }
    while (parts.size() > 1) {  // any two
      std::ranges::shuffle(parts, random);
      parts[parts.size() - 2].merge(parts.back());
      parts.pop_back();
    }
    session.take_in(parts.front());
    first = end;
  }
  session.finish();
  return session.model();
}

TEST(Rounds, ThreadsChangeNoByteAndNeitherDoesWhoComputes) {
  const std::vector<Record> sequences = some_sequences(14);
  for (Config config : all_kinds_of_rounds()) {
    SCOPED_TRACE(name_of_kind(config));
    Session alone(config);
    give_sequences(alone, sequences);
    alone.finish();
    config.engine.num_threads = 3;
    Session shared(config);
    give_sequences(shared, sequences);
    shared.finish();
    EXPECT_TRUE(state_of_rounds(shared) == state_of_rounds(alone));
    EXPECT_GE(alone.model().iterations, 1);
    expect_same_fit(fitted_from_outside(config, sequences, 3), alone.model());
  }
}

TEST(Rounds, AFitThatWasPutAwayEndsInTheSameBits) {
  const std::vector<Record> sequences = some_sequences(14);
  for (const Config& config : all_kinds_of_rounds()) {
    SCOPED_TRACE(name_of_kind(config));
    Session whole(config);
    give_sequences(whole, sequences);
    whole.finish();
    // In the first sequence; inside a round; where a round begins; in the last one.
    for (const Index cut : {2, 75, 120, 190}) {
      Session first(config);
      give_sequences(first, sequences, 0, cut);
      StateArchive archive(state_of_rounds(first));
      Session second(config);
      archive(second);
      archive.expect_end();
      give_sequences(second, sequences, cut);
      second.finish();
      EXPECT_TRUE(state_of_rounds(second) == state_of_rounds(whole)) << cut;
    }
  }
}

TEST(Rounds, EachObservationIsReportedOnceInOrder) {
  const std::vector<Record> sequences = some_sequences(14);
  for (const bool searches : {false, true}) {
    Config config = round_config(4);
    if (searches) config.initial_basis = {};
    if (searches) config.start_on = 60;
    Session session(config);
    std::vector<std::int64_t> told;
    double sum = 0;
    Index updates = 0;
    session.on_step([&](const StepReport& report) {
      told.push_back(report.t);
      sum += report.filter.log_predictive;
      updates += report.updated ? 1 : 0;
      EXPECT_EQ(report.observation->num_channels(), 4);
      EXPECT_TRUE(session.filtered_activation().allFinite());
    });
    give_sequences(session, sequences);
    session.finish();
    std::vector<std::int64_t> expected(static_cast<std::size_t>(session.observations()));
    std::iota(expected.begin(), expected.end(), 1);
    EXPECT_EQ(told, expected);
    EXPECT_NEAR(sum, session.log_likelihood(), 1e-9 * std::abs(sum));
    EXPECT_GE(updates, 2);
  }
}

TEST(Rounds, AModelIsContinuedByRounds) {
  const std::vector<Record> sequences = some_sequences(16);
  const Config config = round_config(4);
  const std::vector<Record> early(sequences.begin(), sequences.begin() + 8);
  const std::vector<Record> late(sequences.begin() + 8, sequences.end());
  Session whole(config);
  give_sequences(whole, sequences);
  whole.finish();
  Session first(config);
  give_sequences(first, early);
  first.finish();
  Session second(first.model());
  EXPECT_EQ(second.config().round, 4);
  give_sequences(second, late);
  second.finish();
  EXPECT_EQ(second.model().observations, whole.model().observations);
  EXPECT_LT(largest_relative_difference(second.model().last.basis, whole.model().last.basis), 1e-9);
  Model without_state = first.model();
  without_state.state.clear();
  Session imagined(without_state);
  give_sequences(imagined, late);
  imagined.finish();
  EXPECT_EQ(imagined.model().observations, whole.model().observations);
}

TEST(Rounds, AForecastIsOfASequenceThatIsAboutToBegin) {
  Session session(round_config(4));
  give_sequences(session, some_sequences(12));
  session.finish();
  const Estimate last = session.model().last;
  const Matrix ahead = session.forecast(3);
  const FiniteChain chain = last.prior.finite_chain();
  double often = 0;  // how often a component is on: the chain is stationary
  for (Index i = 0; i < chain.axes[0].size(); ++i) {
    often += chain.axes[0].initial[i] * chain.axes[0].states(i, 0);
  }
  for (Index h = 0; h < 3; ++h) {
    EXPECT_LT(largest_relative_difference(ahead.col(h), often * last.basis.rowwise().sum()), 1e-9);
  }
}

TEST(Rounds, AGlitchIsLeftOutOfItsSequence) {
  std::vector<Record> sequences = some_sequences(12);
  const std::vector<double> glitch = {1e9, 0, 0, 0};
  Record with_glitch;
  for (Index t = 0; t < sequences[9].size(); ++t) {
    Observation y = sequences[9][t];
    if (t == 2) y.assign(glitch);
    with_glitch.add(y);
  }
  sequences[9] = with_glitch;
  Session session(round_config(4));
  give_sequences(session, sequences);
  session.finish();
  Index before = 0;
  for (std::size_t i = 0; i < 9; ++i) before += sequences[i].size();
  EXPECT_EQ(session.model().outliers, 1);
  EXPECT_EQ(session.model().first_outlier, before + 3);
  EXPECT_LT(session.model().reported.basis.maxCoeff(), 50);
}

}  // namespace
}  // namespace headwater
