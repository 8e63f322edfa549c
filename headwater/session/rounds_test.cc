// Statistics of rounds: sums over sequences that start from the same parameters, in one fixed tree.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <random>

#include "headwater/engines/exact_batch.hpp"
#include "headwater/engines/exact_engine.hpp"
#include "headwater/engines/round_engine.hpp"
#include "headwater/error.hpp"
#include "headwater/learning/online_em.hpp"
#include "headwater/reference/round_sequences.hpp"
#include "headwater/session/round_state.hpp"

namespace headwater {
namespace {

using reference::give_sequences;
using reference::largest_relative_difference;
using reference::round_config;
using reference::some_sequences;
using testing::HasSubstr;

TEST(Rounds, StatisticsAreThoseOfEachSequenceAddedUp) {
  for (const char* law : {"poisson", "negative-binomial"}) {
    Config config = round_config(11);
    config.counts.law = law;
    const std::vector<Record> sequences = some_sequences(11);
    Session session(config);
    give_sequences(session, {sequences[0]});
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
    give_sequences(session, {sequences[0]});
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
  give_sequences(session, sequences);
  session.begin_rounds();
  const SequenceRound round = session.round();
  const auto bytes = [&](std::int64_t index) {
    return session.statistics(round, sequences[0], index).log_likelihood();
  };
  EXPECT_EQ(bytes(1), bytes(1));
  EXPECT_NE(bytes(1), bytes(2));
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
  give_sequences(session, sequences);
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
  give_sequences(session, {sequences[0]});
  session.begin_rounds();
  const SequenceRound round = session.round();
  RoundStatistics two = session.statistics(round, sequences[1], 1);
  EXPECT_THAT(round_message([&] { session.take_in(two); }), HasSubstr("lack sequence 1"));
  EXPECT_THAT(round_message([&] { two.merge(two); }), HasSubstr("sequence 2 is in both"));
  EXPECT_THAT(round_message([&] { session.statistics(round, sequences[1], 3); }),
              HasSubstr("sequence 4 is not in the round, which has 1 to 3"));
  EXPECT_THAT(round_message([&] { session.update(sequences[0][0]); }),
              HasSubstr("from the statistics of their rounds"));
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
  give_sequences(session, {sequences[0]});
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
