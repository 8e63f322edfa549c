#include "headwater/session/prior_choice.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "headwater/error.hpp"
#include "headwater/inference.hpp"
#include "headwater/learning/automatic_start.hpp"
#include "headwater/learning/law_choice.hpp"
#include "headwater/observation.hpp"
#include "headwater/reference/streams.hpp"
#include "headwater/registry.hpp"
#include "headwater/session.hpp"
#include "headwater/simulate.hpp"

namespace headwater {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

// Noise around a mean, the same kind for every prior and other numbers for each.
Vector noise_around(double mean, double spread, std::uint64_t seed) {
  const Matrix uniform = random_basis(60, 1, 1, seed);
  return mean + spread * (uniform.array() - uniform.mean());
}

std::string chosen_in(const std::vector<PriorScore>& table) {
  const auto found = std::ranges::find_if(table, &PriorScore::chosen);
  return found == table.end() ? "none" : found->prior;
}

TEST(PriorChoice, TakesTheBestWithErrorsOfDifferences) {
  const Vector good = noise_around(-3, 1, 1);
  const Vector bad = noise_around(-5, 1, 2);
  PriorChoice choice(1);
  choice.set("gamma", "poisson", bad);
  EXPECT_TRUE(choice.table().empty());
  choice.set("log-gaussian", "drifting", good);
  const std::vector<PriorScore> table = choice.table();
  ASSERT_EQ(table.size(), 2);
  EXPECT_EQ(chosen_in(table), "log-gaussian");
  EXPECT_EQ(table[1].law, "drifting");
  EXPECT_NEAR(table[0].score, bad.mean(), 1e-12);
  EXPECT_NEAR(table[1].score, good.mean(), 1e-12);
  // 60 observations are 60 batches, so that the error is that of independent differences.
  EXPECT_NEAR(table[0].standard_error, gain_of(bad, good).standard_error, 1e-12);
  EXPECT_EQ(table[1].standard_error, 0);
}

TEST(PriorChoice, KeepsThePriorWithoutMemoryUnlessAnotherIsClearlyBetter) {
  const Vector plain = noise_around(-3, 1, 1);
  for (const double gain : {0.01, 0.5}) {
    const Vector other = plain + noise_around(gain, 0.5, 2);
    const Gain found = gain_of(other, plain);
    const bool is_clear = found.mean > 3 * found.standard_error;
    EXPECT_EQ(is_clear, gain == 0.5);  // or this test shows nothing
    // Of 300 channels it is less than .002 nats each.
    for (const Index channels : {1, 300}) {
      PriorChoice choice(channels);
      choice.set("gamma", "poisson", other);
      choice.set("independent", "poisson", plain);
      EXPECT_EQ(chosen_in(choice.table()), is_clear && channels == 1 ? "gamma" : "independent");
    }
  }
}

TEST(PriorChoice, LeavesOutWhatIsImpossibleAndWhatIsOutOfReach) {
  PriorChoice choice(1);
  choice.set("gamma", "poisson", noise_around(-3, 1, 1));
  choice.set("log-gaussian", "poisson", noise_around(-3.1, 1, 2));
  choice.set("basis-selection", "poisson", noise_around(-9, 1, 3));
  EXPECT_THAT(choice.within_reach(), ElementsAre("gamma", "log-gaussian"));
  EXPECT_EQ(choice.table().size(), 3);
  Vector impossible = noise_around(-1, 1, 4);
  impossible[7] = kImpossible;
  choice.set("log-gaussian", "poisson", impossible);
  EXPECT_EQ(choice.table().size(), 2);
  EXPECT_EQ(chosen_in(choice.table()), "gamma");
}

Config auto_config() {
  Config config;
  config.num_components = 2;
  config.prior.name = PriorConfig::kAuto;
  config.counts.law = "poisson";
  config.engine.num_particles = 50;
  return config;
}

Matrix record_of(const std::string& prior, Index length) {
  return reference::simulate_record(make_prior(2, {prior, {}, false}), random_basis(4, 2, 12, 1),
                                    length, 2);
}

void feed(Session& session, const Matrix& record, Index first, Index last) {
  for (Index t = first; t < last; ++t) session.update(as_span(record.col(t)));
}

Model model_of(const Config& config, const Matrix& record) {
  Session session(config);
  feed(session, record, 0, record.cols());
  session.finish();
  return session.model();
}

TEST(AutoPrior, IsTheFitOfThePriorThatItHasChosen) {
  for (const char* prior : {"basis-selection", "gamma"}) {
    const Matrix record = record_of(prior, 240);
    for (const Method method : {Method::kOnline, Method::kBatch}) {
      Config config = auto_config();
      config.method = method;
      config.iterations = 3;
      const Model chosen = model_of(config, record);
      EXPECT_EQ(chosen_in(chosen.choice_of_prior), chosen.reported.prior.name());
      EXPECT_EQ(chosen.reported.prior.name(), prior);
      config.prior.name = chosen.reported.prior.name();
      const Model alone = model_of(config, record);
      EXPECT_EQ(chosen.reported.basis, alone.reported.basis);
      EXPECT_EQ(chosen.last.basis, alone.last.basis);
      EXPECT_EQ(chosen.engine, alone.engine);
      EXPECT_EQ(chosen.trace.names, alone.trace.names);
      EXPECT_TRUE(alone.choice_of_prior.empty());
    }
  }
}

// The mean log-probability of the last third, by a filter with what a search in the rest has found.
double held_out_score(const Config& config, const Matrix& record, const std::string& prior,
                      const SearchEffort& effort) {
  Record all;
  for (Index t = 0; t < record.cols(); ++t) all.add(Observation(as_span(record.col(t))));
  const Index fitted = 2 * record.cols() / 3;
  const StartSearch start =
      automatic_start(RecordView(all).first(fitted), make_prior(2, {prior, {}, false}), {AnyLaw()},
                      false, config.effective_m_step(), config.seed, {}, {}, effort);
  ModelFilter filter(start.estimate, false, config.engine, config.seed);
  double sum = 0;
  for (Index t = 0; t < record.cols(); ++t) {
    const double log_predictive = filter.step(all[t]).log_predictive;
    if (t >= fitted) sum += log_predictive;
  }
  return sum / static_cast<double>(record.cols() - fitted);
}

TEST(AutoPrior, ScoresArePredictionsOfTheLastThirdByAFitToTheRest) {
  const Matrix record = record_of("gamma", 240);
  const Config config = auto_config();
  const Model model = model_of(config, record);
  ASSERT_EQ(model.choice_of_prior.size(), priors_of_auto().size());
  for (const PriorScore& row : model.choice_of_prior) {
    const double light = held_out_score(config, record, row.prior, SearchEffort::light());
    const double thorough = held_out_score(config, record, row.prior, {});
    EXPECT_NEAR(std::min(std::abs(row.score - light), std::abs(row.score - thorough)), 0, 1e-9)
        << row.prior << ' ' << row.score << ' ' << light << ' ' << thorough;
  }
}

// At every kind of moment: provisional, after light searches with a rival under way, at the end.
TEST(AutoPrior, GoesOnBitForBit) {
  const Matrix record = record_of("basis-selection", 260);
  const Config config = auto_config();
  Session whole(config);
  feed(whole, record, 0, record.cols());
  whole.finish();
  for (const Index at : {10, 55, 210, 250}) {
    Session first(config);
    feed(first, record, 0, at);
    StateArchive state;
    state(first);
    Session second(config);
    StateArchive archive(state.bytes());
    archive(second);
    archive.expect_end();
    feed(second, record, at, record.cols());
    second.finish();
    EXPECT_EQ(second.model().reported.basis, whole.model().reported.basis) << at;
    EXPECT_EQ(second.log_likelihood(), whole.log_likelihood()) << at;
    EXPECT_EQ(second.model().trace.last, whole.model().trace.last) << at;
    EXPECT_EQ(second.model().choice_of_prior.size(), whole.model().choice_of_prior.size()) << at;
  }
}

TEST(AutoPrior, PredictionsDoNotLookAhead) {
  const Matrix record = record_of("basis-selection", 260);
  Matrix other = record;
  other.rightCols(40).setConstant(3);
  std::vector<double> seen;
  std::vector<double> seen_in_other;
  const auto run = [](const Matrix& rows, std::vector<double>& predictions) {
    Session session(auto_config());
    session.on_step(
        [&](const StepReport& report) { predictions.push_back(report.filter.log_predictive); });
    feed(session, rows, 0, rows.cols());
  };
  run(record, seen);
  run(other, seen_in_other);
  ASSERT_EQ(seen.size(), 260);
  EXPECT_TRUE(std::equal(seen.begin(), seen.begin() + 220, seen_in_other.begin()));
  EXPECT_NE(seen[220], seen_in_other[220]);
}

TEST(AutoPrior, BeginsWithTheFirstOfItsPriors) {
  Session session(auto_config());
  feed(session, record_of("basis-selection", 20), 0, 20);
  EXPECT_EQ(session.model().reported.prior.name(), priors_of_auto().front());
  EXPECT_TRUE(session.model().choice_of_prior.empty());
}

TEST(AutoPrior, RefusesWhatOnlySomePriorsHave) {
  const auto refusal = [](const Config& config) { return [config] { Session session(config); }; };
  Config config = auto_config();
  config.prior.parameters = {scalar_parameter("shape", 2)};
  EXPECT_THAT(refusal(config), ThrowsMessage<UsageError>(HasSubstr(
                                   "'shape' is a parameter of gamma and independent only, and "
                                   "prior auto chooses among several priors")));
  config = auto_config();
  config.m_step.held_parameters = {"stay_on"};
  EXPECT_THAT(refusal(config), ThrowsMessage<UsageError>(HasSubstr("of basis-selection only")));
  config.m_step.held_parameters = {"nonsense"};
  EXPECT_THAT(refusal(config), ThrowsMessage<UsageError>("no prior has a parameter 'nonsense'"));
  config = auto_config();
  config.init = Init::kRandom;
  EXPECT_THAT(refusal(config), ThrowsMessage<UsageError>(
                                   HasSubstr("search for a start, which init random leaves out")));
  config = auto_config();
  config.paper_exact = true;
  EXPECT_THAT(refusal(config),
              ThrowsMessage<UsageError>(HasSubstr("which paper-exact leaves out")));
  config = auto_config();
  config.engine.kind = EngineKind::kExact;  // which can do one of them: no choice
  EXPECT_EQ(model_of(config, record_of("basis-selection", 40)).reported.prior.name(),
            "basis-selection");
}

}  // namespace
}  // namespace headwater
