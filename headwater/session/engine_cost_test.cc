#include "headwater/session/engine_cost.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "headwater/error.hpp"
#include "headwater/models/finite_prior.hpp"
#include "headwater/registry.hpp"
#include "headwater/session.hpp"

namespace headwater {
namespace {

Config config_for(const std::string& prior, Index components) {
  Config config;
  config.prior.name = prior;
  config.num_components = components;
  return config;
}

AnyPrior prior_of(const Config& config) { return make_prior(config.num_components, config.prior); }

std::string refusal(const Config& config, Index num_channels) {
  try {
    check_cost(config, prior_of(config), num_channels);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(EngineCost, DefaultsAreNeitherRefusedNorSlow) {
  for (const char* prior : {"basis-selection", "relaxed-selection", "gamma", "log-gaussian"}) {
    for (const Index components : {3, 14, 20}) {
      const Config config = config_for(prior, components);
      EXPECT_EQ(refusal(config, 1000), "") << prior << components;
      EXPECT_FALSE(slowness(config, prior_of(config), 100)) << prior << components;
    }
  }
}

TEST(EngineCost, AWideBeamIsRefused) {
  Config config = config_for("basis-selection", 20);
  config.engine.beam_width = 1'000'000;
  EXPECT_EQ(refusal(config, 8),
            "engine 'beam' would need about 44 hours an observation; the limit is 60 seconds: it "
            "compares 1000000 states with each other; use a smaller beam-width");
}

// No wider than there are states: 2^10.
TEST(EngineCost, ABeamIsNoWiderThanThereAreStates) {
  Config config = config_for("basis-selection", 10);
  config.engine.kind = EngineKind::kBeam;
  config.engine.beam_width = 1'000'000;
  EXPECT_EQ(refusal(config, 8), "");
}

TEST(EngineCost, ManyParticlesAreRefusedForTheirMemory) {
  Config config = config_for("relaxed-selection", 20);
  config.engine.num_particles = 1 << 24;
  const std::string message = refusal(config, 8);
  EXPECT_NE(message.find("GB of memory"), std::string::npos) << message;
  EXPECT_NE(message.find("use fewer particles"), std::string::npos) << message;
}

TEST(EngineCost, AllPairsOfManyParticlesAreRefused) {
  Config config = config_for("relaxed-selection", 5);
  config.engine.num_particles = 1'000'000;
  EXPECT_EQ(refusal(config, 8), "");
  config.smoother = SmootherKind::kForward;
  EXPECT_NE(refusal(config, 8).find("smoother 'forward' compares 1000000 particles"),
            std::string::npos);
}

TEST(EngineCost, WhatIsSlowIsSaid) {
  Config config = config_for("basis-selection", 20);
  config.engine.beam_width = 4000;
  EXPECT_EQ(refusal(config, 8), "");
  const std::optional<std::string> line = slowness(config, prior_of(config), 8);
  ASSERT_TRUE(line);
  EXPECT_EQ(*line,
            "engine 'beam' needs about 3 seconds an observation: it compares 4000 states with each "
            "other; to be faster, use a smaller beam-width");
}

TEST(EngineCost, FitsSideBySideAreSlowTogether) {
  const Config one = config_for("basis-selection", 20);
  ASSERT_FALSE(slowness(one, prior_of(one), 8));
  EXPECT_FALSE(slowness_together(std::vector(9, one), 8));
  EXPECT_EQ(slowness_together(std::vector(40, one), 8),
            "40 fits side by side need about 0.4 seconds of one core an observation");
  EXPECT_NO_THROW(check_cost_together(std::vector(40, one), 8));
}

TEST(EngineCost, FitsSideBySideNeedTheMemoryOfAll) {
  Config one = config_for("relaxed-selection", 5);
  one.engine.num_particles = 500'000;
  EXPECT_EQ(refusal(one, 8), "");
  const std::vector<Config> fits(8, one);
  const std::string line = slowness_together(fits, 8).value_or("");
  EXPECT_NE(line.find("8 fits side by side need about"), std::string::npos) << line;
  EXPECT_NE(line.find("GB of memory"), std::string::npos) << line;
  EXPECT_THROW(check_cost_together(fits, 8), UsageError);
}

TEST(EngineCost, AChainOfThousandsOfStatesIsSlow) {
  const auto line_for = [](Index states) {
    Config config = config_for("finite", 1);
    const Matrix levels = Vector::LinSpaced(states, 0, 1);
    const Matrix transition = Matrix::Constant(states, states, 1 / static_cast<double>(states));
    return slowness(config, AnyPrior(FiniteStatePrior(levels, transition)), 8).value_or("");
  };
  EXPECT_EQ(line_for(300), "");
  EXPECT_EQ(
      line_for(3000),
      "engine 'exact' needs about 0.2 seconds an observation: prior 'finite' has 3000 states; "
      "to be faster, use fewer states, or engine 'particle'");
}

TEST(EngineCost, StepsThatAreNotSharedAreSaid) {
  Config config = config_for("relaxed-selection", 5);
  EXPECT_FALSE(unshared_steps(config, prior_of(config), 8));  // one thread
  config.engine.num_threads = 2;
  EXPECT_EQ(unshared_steps(config, prior_of(config), 8),
            "steps of 1000 particles are too small to be shared: observations were taken in on one "
            "thread; a search for a start has 2");
  EXPECT_FALSE(unshared_steps(config, prior_of(config), 100));
  config.engine.num_particles = 4000;
  EXPECT_FALSE(unshared_steps(config, prior_of(config), 8));
  config = config_for("basis-selection", 5);
  config.engine.num_threads = 3;
  EXPECT_EQ(
      unshared_steps(config, prior_of(config), 8),
      "engine 'exact' shares no steps: observations were taken in on one thread; a search for "
      "a start has 3");
}

// At the first observation, when the number of channels is known, and before any start is searched.
TEST(EngineCost, ASessionRefusesItsFirstObservation) {
  Config config = config_for("basis-selection", 20);
  config.engine.beam_width = 1'000'000;
  Session session(config);
  const std::vector<double> counts{1, 2, 3};
  EXPECT_THROW(session.update(counts), UsageError);
}

}  // namespace
}  // namespace headwater
