// Fits by rounds: sums over sequences that start from the same parameters, in one fixed tree.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <random>

#include "headwater/engines/exact_batch.hpp"
#include "headwater/engines/exact_engine.hpp"
#include "headwater/engines/round_engine.hpp"
#include "headwater/error.hpp"
#include "headwater/learning/online_em.hpp"
#include "headwater/models/basis_selection.hpp"
#include "headwater/observation.hpp"
#include "headwater/reference/streams.hpp"
#include "headwater/session.hpp"
#include "headwater/session/round_state.hpp"
#include "headwater/simulate.hpp"

namespace headwater {
namespace {

using reference::largest_relative_difference;
using testing::HasSubstr;

const Matrix kRoundBasis = (Matrix(4, 2) << 9, 1, 2, 7, 4, 4, 0.5, 3).finished();

// Sequences of 3 to 30 observations, some with missing cells and exposures.
std::vector<Record> some_sequences(int number, std::uint64_t seed = 1) {
  std::vector<Record> sequences;
  for (int i = 0; i < number; ++i) {
    Simulator simulator(AnyPrior(BasisSelection(2, 0.8, 0.7)), kRoundBasis,
                        seed + static_cast<std::uint64_t>(i));
    sequences.emplace_back();
    const Index length = 3 + (7 * i) % 28;
    for (Index t = 0; t < length; ++t) {
      simulator.next();
      std::vector<double> counts = simulator.observation();
      if ((i + t) % 9 == 0) counts[2] = std::numeric_limits<double>::quiet_NaN();
      const std::vector<double> exposures((i + t) % 5 == 0 ? 4 : 0, 1.5);
      Observation y(counts, exposures);
      y.set_begins_sequence(t == 0);
      sequences.back().add(y);
    }
  }
  return sequences;
}

Config round_config(Index round) {
  Config config;
  config.num_components = 2;
  config.round = round;
  config.initial_basis = reference::perturbed(kRoundBasis, 0.3, 4);
  config.counts.law = "poisson";
  config.burn_in = 20;
  return config;
}

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
  kinds.back().m_step.scale = Scale::kCentred;
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

std::string name_of(const Config& config) {
  std::string text;
  for (const auto& [name, value] : describe(config)) text += name + " " + value + ", ";
  return text;
}

void feed(Session& session, const std::vector<Record>& sequences, Index first = 0,
          Index last = std::numeric_limits<Index>::max()) {
  Index at = 0;
  for (const Record& sequence : sequences) {
    for (Index t = 0; t < sequence.size(); ++t, ++at) {
      if (at >= first && at < last) session.update(sequence[t]);
    }
  }
}

std::string state_of(Session& session) {
  StateArchive archive;
  archive(session);
  return archive.bytes();
}

// The state says everything but how it is reported.
void expect_same_model(const Model& a, const Model& b) {
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
  while (session.wants_start() && given < sequences.size()) feed(session, {sequences[given++]});
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

TEST(Rounds, StatisticsAreThoseOfEachSequenceAddedUp) {
  for (const char* law : {"poisson", "negative-binomial"}) {
    Config config = round_config(11);
    config.counts.law = law;
    const std::vector<Record> sequences = some_sequences(11);
    Session session(config);
    feed(session, {sequences[0]});
    ASSERT_FALSE(session.wants_start());
    session.begin_rounds();
    const SequenceRound round = session.round();
    const Estimate& estimate = round.state().estimate;
    RoundStatistics all;
    Statistics truth(4, 2, estimate.prior.num_statistics(), estimate.law->num_statistics(4));
    double log_likelihood = 0;
    for (std::size_t i = 0; i < sequences.size(); ++i) {
      all.merge(session.statistics(round, sequences[i], static_cast<std::int64_t>(i)));
      ExactBatch alone(estimate.prior.finite_chain(), estimate.emission(), sequences[i]);
      truth.add_sums(alone.statistics(true), static_cast<double>(sequences[i].size()));
      log_likelihood += alone.log_likelihood();
    }
    const Statistics found = all.tree().root().statistics;
    EXPECT_LT(largest_relative_difference(found.s1, truth.s1), 1e-12);
    EXPECT_LT(largest_relative_difference(found.s2, truth.s2), 1e-12);
    EXPECT_LT(largest_relative_difference(found.s3, truth.s3), 1e-12);
    EXPECT_LT(largest_relative_difference(found.unseen, truth.unseen), 1e-12);
    if (truth.s4.size() > 0) {
      EXPECT_LT(largest_relative_difference(found.s4, truth.s4), 1e-12);
    }
    EXPECT_NEAR(all.log_likelihood(), log_likelihood, 1e-10 * std::abs(log_likelihood));
    EXPECT_EQ(all.sequences(), 11);
  }
}

TEST(Rounds, MergingIsAssociativeAndCommutativeToTheLastBit) {
  for (const int number : {1, 2, 3, 8, 13}) {
    const std::vector<Record> sequences = some_sequences(number);
    Session session(round_config(number));
    feed(session, {sequences[0]});
    session.begin_rounds();
    std::vector<RoundStatistics> single;
    RoundStatistics in_order;
    for (int i = 0; i < number; ++i) {
      single.push_back(
          session.statistics(session.round(), sequences[static_cast<std::size_t>(i)], i));
      in_order.merge(single.back());
    }
    std::mt19937_64 random(7);
    for (int trial = 0; trial < 20; ++trial) {
      std::vector<RoundStatistics> parts = single;
      while (parts.size() > 1) {
        std::ranges::shuffle(parts, random);
        parts[0].merge(parts.back());
        parts.pop_back();
      }
      EXPECT_TRUE(parts[0].bytes() == in_order.bytes());
    }
    EXPECT_LE(in_order.tree().nodes().size(), 4u);  // 13 = 8 + 4 + 1
  }
}

TEST(Rounds, TheStatisticsOfASequenceDependOnItsIndexByRandomNumbersAlone) {
  Config config = round_config(4);
  config.engine.kind = EngineKind::kParticle;
  config.engine.num_particles = 20;
  const std::vector<Record> sequences = some_sequences(1);
  Session session(config);
  feed(session, sequences);
  session.begin_rounds();
  const SequenceRound round = session.round();
  const auto bytes = [&](std::int64_t index) {
    return session.statistics(round, sequences[0], index).log_likelihood();
  };
  EXPECT_EQ(bytes(1), bytes(1));
  EXPECT_NE(bytes(1), bytes(2));
}

TEST(Rounds, ThreadsChangeNoByteAndNeitherDoesWhoComputes) {
  const std::vector<Record> sequences = some_sequences(14);
  for (Config config : all_kinds_of_rounds()) {
    SCOPED_TRACE(name_of(config));
    Session alone(config);
    feed(alone, sequences);
    alone.finish();
    config.engine.num_threads = 3;
    Session shared(config);
    feed(shared, sequences);
    shared.finish();
    EXPECT_TRUE(state_of(shared) == state_of(alone));
    EXPECT_GE(alone.model().iterations, 1);
    expect_same_model(fitted_from_outside(config, sequences, 3), alone.model());
  }
}

TEST(Rounds, AFitThatWasPutAwayEndsInTheSameBits) {
  const std::vector<Record> sequences = some_sequences(14);
  for (const Config& config : all_kinds_of_rounds()) {
    SCOPED_TRACE(name_of(config));
    Session whole(config);
    feed(whole, sequences);
    whole.finish();
    // In the first sequence; inside a round; where a round begins; in the last one.
    for (const Index cut : {2, 75, 120, 190}) {
      Session first(config);
      feed(first, sequences, 0, cut);
      StateArchive archive(state_of(first));
      Session second(config);
      archive(second);
      archive.expect_end();
      feed(second, sequences, cut);
      second.finish();
      EXPECT_TRUE(state_of(second) == state_of(whole)) << cut;
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
    feed(session, sequences);
    session.finish();
    std::vector<std::int64_t> expected(static_cast<std::size_t>(session.observations()));
    std::iota(expected.begin(), expected.end(), 1);
    EXPECT_EQ(told, expected);
    EXPECT_NEAR(sum, session.log_likelihood(), 1e-9 * std::abs(sum));
    EXPECT_GE(updates, 2);
  }
}

// What a sequence is predicted with was there before its round.
TEST(Rounds, TheLogLikelihoodOfARoundIsThatOfTheParametersBefore) {
  const std::vector<Record> sequences = some_sequences(9);
  Session session(round_config(3));
  double expected = 0;
  session.run_rounds_by([&](const SequenceRound& round, const RecordView& rows) {
    RoundStatistics all;
    const std::vector<Index> begins = rows.sequences();
    for (std::size_t i = 0; i < begins.size(); ++i) {
      const Index end = i + 1 < begins.size() ? begins[i + 1] : rows.size();
      const RecordView sequence = rows.part(begins[i], end - begins[i]);
      const Estimate& estimate = round.state().estimate;
      EXPECT_EQ(estimate.basis, session.learner()->working().basis);
      ExactBatch alone(estimate.prior.finite_chain(), estimate.emission(), sequence);
      expected += alone.log_likelihood();
      all.merge(session.statistics(round, sequence, round.first() + static_cast<Index>(i)));
    }
    return all;
  });
  feed(session, sequences);
  session.finish();
  EXPECT_NEAR(session.log_likelihood(), expected, 1e-10 * std::abs(expected));
  EXPECT_EQ(session.model().iterations, 3);
}

// Where a round is everything and weighs 1, rounds are the iterations of EM.
TEST(Rounds, RoundsOfAllSequencesNeverLowerTheLikelihood) {
  const std::vector<Record> sequences = some_sequences(12);
  Config config = round_config(12);
  config.m_step.drop_weak_priors();
  config.m_step.held_parameters = {"stay_off", "stay_on"};
  Session of_sums(config);
  const AnyPrior prior(BasisSelection(2, 0.8, 0.7));
  const Estimate start{config.initial_basis, prior};
  ExactEngineOptions filtering;
  filtering.smoother = ExactEngineOptions::Smoother::kNone;
  OnlineEmOptions options;
  options.step_size = StepSize::constant(0.9);
  options.burn_in = 1;
  options.lengthen_steps = false;
  options.revive_after = 0;
  options.m_step = config.m_step;
  OnlineEm learner(
      std::make_unique<RoundEngine>(
          std::make_unique<ExactEngine>(prior, start.emission(), filtering), Statistics(4, 2, 0)),
      start, options);
  double before = -std::numeric_limits<double>::infinity();
  for (int i = 0; i < 30; ++i) {
    const SequenceRound round(
        std::make_shared<SequenceRound::State>(SequenceRound::State{learner.working()}));
    RoundStatistics all;
    for (std::size_t s = 0; s < sequences.size(); ++s) {
      all.merge(of_sums.statistics(round, sequences[s], static_cast<std::int64_t>(s)));
    }
    EXPECT_GE(all.log_likelihood(), before - 1e-9);
    before = all.log_likelihood();
    EXPECT_EQ(learner.take_in(all.tree().root()).weight, 1);
  }
  EXPECT_EQ(learner.m_steps(), 30);
}

TEST(Rounds, AModelIsContinuedByRounds) {
  const std::vector<Record> sequences = some_sequences(16);
  const Config config = round_config(4);
  const std::vector<Record> early(sequences.begin(), sequences.begin() + 8);
  const std::vector<Record> late(sequences.begin() + 8, sequences.end());
  Session whole(config);
  feed(whole, sequences);
  whole.finish();
  Session first(config);
  feed(first, early);
  first.finish();
  Session second(first.model());
  EXPECT_EQ(second.config().round, 4);
  feed(second, late);
  second.finish();
  EXPECT_EQ(second.model().observations, whole.model().observations);
  EXPECT_LT(largest_relative_difference(second.model().last.basis, whole.model().last.basis), 1e-9);
  Model without_state = first.model();
  without_state.state.clear();
  Session imagined(without_state);
  feed(imagined, late);
  imagined.finish();
  EXPECT_EQ(imagined.model().observations, whole.model().observations);
}

TEST(Rounds, AForecastIsOfASequenceThatIsAboutToBegin) {
  Session session(round_config(4));
  feed(session, some_sequences(12));
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
  feed(session, sequences);
  session.finish();
  Index before = 0;
  for (std::size_t i = 0; i < 9; ++i) before += sequences[i].size();
  EXPECT_EQ(session.model().outliers, 1);
  EXPECT_EQ(session.model().first_outlier, before + 3);
  EXPECT_LT(session.model().reported.basis.maxCoeff(), 50);
}

std::string round_message(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(Rounds, WhatCannotBeIsRefused) {
  const std::vector<Record> sequences = some_sequences(6);
  Config config = round_config(3);
  Session session(config);
  EXPECT_THAT(round_message([&] { session.round(); }), HasSubstr("before the start"));
  feed(session, {sequences[0]});
  session.begin_rounds();
  const SequenceRound round = session.round();
  RoundStatistics two = session.statistics(round, sequences[1], 1);
  EXPECT_THAT(round_message([&] { session.take_in(two); }), HasSubstr("lack sequence 1"));
  EXPECT_THAT(round_message([&] { two.merge(two); }), HasSubstr("sequence 2 is in both"));
  EXPECT_THAT(round_message([&] { session.statistics(round, sequences[1], 3); }),
              HasSubstr("sequence 4 is not in the round, which has 1 to 3"));
  EXPECT_THAT(round_message([&] { session.update(sequences[0][0]); }),
              HasSubstr("come with the statistics of their rounds"));
  const Record narrow(Matrix::Ones(3, 2));
  EXPECT_THAT(round_message([&] { session.statistics(round, narrow, 0); }),
              HasSubstr("sequence 1 has 3 channels; expected 4"));
  EXPECT_THAT(round_message([&] { RoundStatistics::of_bytes(two.bytes() + "x"); }),
              HasSubstr("longer"));
  EXPECT_THAT(round_message([&] { session.prediction(); }), HasSubstr("by rounds"));
  config.paper_exact = true;
  EXPECT_THAT(round_message([&] { config.validate(); }), HasSubstr("paper-exact"));
  config.paper_exact = false;
  config.method = Method::kBatch;
  EXPECT_THAT(round_message([&] { config.validate(); }), HasSubstr("method batch"));
  EXPECT_THAT(round_message([&] { Session(round_config(0)).begin_rounds(); }),
              HasSubstr("round is 0"));
}

// Either it is refused, or it is usable.
TEST(Rounds, DamagedBytesAreRefusedOrUsable) {
  const std::vector<Record> sequences = some_sequences(2);
  Session session(round_config(2));
  feed(session, {sequences[0]});
  session.begin_rounds();
  RoundStatistics other = session.statistics(session.round(), sequences[1], 1);
  const std::string good = session.statistics(session.round(), sequences[0], 0).bytes();
  const std::string good_round = session.round().bytes();
  std::mt19937_64 random(5);
  Index refused = 0;
  for (int trial = 0; trial < 300; ++trial) {
    for (std::string bytes : {good, good_round}) {
      const bool is_round = bytes.size() == good_round.size();
      bytes[random() % bytes.size()] ^= static_cast<char>(1 << random() % 8);
      if (trial % 10 == 0) bytes.resize(random() % bytes.size());
      try {
        if (is_round) {
          session.statistics(session.round_of(bytes), sequences[0], 0);
        } else {
          RoundStatistics read = RoundStatistics::of_bytes(bytes);
          read.merge(other);
        }
      } catch (const Error&) {
        ++refused;
      }
    }
  }
  EXPECT_GT(refused, 60);
}

}  // namespace
}  // namespace headwater
