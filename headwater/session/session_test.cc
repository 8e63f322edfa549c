#include "headwater/session.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "headwater/error.hpp"
#include "headwater/inference.hpp"
#include "headwater/io/test_support.hpp"
#include "headwater/learning/automatic_start.hpp"
#include "headwater/learning/online_em.hpp"
#include "headwater/matching.hpp"
#include "headwater/model.hpp"
#include "headwater/models/basis_selection.hpp"
#include "headwater/models/finite_prior.hpp"
#include "headwater/observation.hpp"
#include "headwater/prediction.hpp"
#include "headwater/reference/streams.hpp"
#include "headwater/registry.hpp"
#include "headwater/session/trace.hpp"
#include "headwater/simulate.hpp"

namespace headwater {
namespace {

Config small_config() {
  Config config;
  config.num_components = 2;
  config.initial_basis = random_basis(4, 2, 5, 3);
  return config;
}

Matrix small_record(Index length = 600) {
  return reference::simulate_record(AnyPrior(BasisSelection(2, 0.8, 0.7)), random_basis(4, 2, 6, 1),
                                    length, 2);
}

Session fitted(Config config, const Matrix& record) {
  Session session(std::move(config));
  for (Index t = 0; t < record.cols(); ++t) session.update(as_span(record.col(t)));
  session.finish();
  return session;
}

std::string session_message(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(Session, ReportsEachObservationOnceAndStartsAtRandomFromTheFirstHundred) {
  Config config = small_config();
  config.initial_basis = {};
  config.init = Init::kRandom;
  const Matrix record = small_record();
  Session session(config);
  std::vector<std::int64_t> seen;
  session.on_step([&](const StepReport& report) { seen.push_back(report.t); });
  for (Index t = 0; t < 99; ++t) session.update(as_span(record.col(t)));
  EXPECT_EQ(seen.size(), 99u);
  EXPECT_FALSE(session.is_settled());
  session.update(as_span(record.col(99)));
  EXPECT_TRUE(session.is_settled());
  EXPECT_EQ(session.learner()->observations(), 100);
  for (Index t = 100; t < record.cols(); ++t) session.update(as_span(record.col(t)));
  session.finish();
  ASSERT_EQ(seen.size(), 600u);
  for (std::size_t i = 0; i < seen.size(); ++i)
    EXPECT_EQ(seen[i], static_cast<std::int64_t>(i) + 1);
  EXPECT_EQ(session.model().observations, 600);
}

TEST(Session, AStreamShorterThanTheStartsBufferIsFitted) {
  Config config = small_config();
  config.initial_basis = {};
  const Model model = fitted(config, small_record(5)).model();
  EXPECT_EQ(model.observations, 5);
  EXPECT_TRUE(model.reported.basis.allFinite());
  EXPECT_GT(model.reported.basis.minCoeff(), 0);
}

TEST(Session, SameSeedSameBits) {
  Config config = small_config();
  config.initial_basis = {};
  config.init = Init::kRandom;  // a search ends at the same place as a rule
  const Matrix record = small_record();
  EXPECT_EQ(fitted(config, record).model().last.basis, fitted(config, record).model().last.basis);
  Config other = config;
  other.seed = 2;
  EXPECT_NE(fitted(config, record).model().last.basis, fitted(other, record).model().last.basis);
}

TEST(Session, BackgroundIsReportedApart) {
  const Matrix basis = random_basis(4, 2, 6, 1);
  Matrix record = small_record(3000);
  Simulator noise(AnyPrior(FiniteStatePrior::one_hot(1, 0.5)), Matrix::Constant(4, 1, 2.0), 5);
  for (Index t = 0; t < record.cols(); ++t) {
    noise.next();
    record.col(t) += Eigen::Map<const Vector>(noise.observation().data(), 4);
  }
  Config config = small_config();
  config.background = true;
  config.initial_basis = basis;
  const Model model = fitted(config, record).model();
  EXPECT_EQ(model.num_components(), 2);
  EXPECT_EQ(basis_of(model.reported, true).cols(), 2);
  // A background of 2 a channel: standard error about .1 with 3000 observations.
  EXPECT_LT((background_of(model.reported, true).array() - 2).abs().maxCoeff(), 0.5);
}

TEST(Session, BatchGivesTheWholeRecordsLikelihood) {
  Config config = small_config();
  config.method = Method::kBatch;
  config.iterations = 30;
  const Matrix record = small_record();
  const Model model = fitted(config, record).model();
  EXPECT_EQ(model.method, Method::kBatch);
  ModelFilter filter(model.reported, model.background);
  double log_likelihood = 0;
  for (Index t = 0; t < record.cols(); ++t) {
    log_likelihood += filter.step(as_span(record.col(t))).log_predictive;
  }
  EXPECT_NEAR(model.log_likelihood, log_likelihood, 1e-9 * std::abs(log_likelihood));
  EXPECT_EQ(model.trace.t.size(), model.iterations + 1);
}

TEST(ModelFilter, RefusesOptionsThatAreOutOfRange) {
  const Model model = fitted(small_config(), small_record()).model();
  const auto refused = [&](const EngineConfig& engine) {
    const std::string words = session_message([&] { ModelFilter(model.reported, false, engine); });
    EXPECT_EQ(words, session_message([&] {
                smoothed_activations(model.reported, false, Record(small_record()), engine);
              }));
    return words;
  };
  EXPECT_EQ(refused({.kind = EngineKind::kParticle, .num_particles = 0}),
            "particles is 0; expected a whole number from 1 to 16777216");
  EXPECT_EQ(refused({.beam_width = 0}),
            "beam-width is 0; expected a whole number from 1 to 1000000");
  EXPECT_EQ(refused({.resample_below = -1}),
            "resample-below is -1; expected a number from 0 to 1000000");
  EXPECT_EQ(refused({.num_threads = 0}), "threads is 0; expected a whole number from 1 to 1024");
}

TEST(Session, RefusesWhatMakesNoSense) {
  const auto refuses = [](auto change, const std::string& words) {
    Config config = small_config();
    change(config);
    EXPECT_EQ(session_message([&] { Session session(config); }), words);
  };
  refuses([](Config& c) { c.num_components = 0; },
          "components is 0; expected a whole number from 1 to 65536");
  refuses([](Config& c) { c.prior.name = "nothing"; },
          "unknown prior 'nothing'; there are: basis-selection, relaxed-selection, log-gaussian, "
          "gamma, "
          "independent, finite");
  refuses([](Config& c) { c.prior.parameters = {scalar_parameter("speed", 1)}; },
          "prior 'basis-selection' has no parameter 'speed'; it has: stay_off, stay_on");
  refuses([](Config& c) { c.prior.parameters = {scalar_parameter("stay_on", 1.5)}; },
          "stay_on is 1.5; expected a number inside (0, 1)");
  refuses([](Config& c) { c.m_step.held_parameters = {"speed"}; },
          "prior 'basis-selection' has no parameter 'speed' to hold");
  refuses([](Config& c) { c.burn_in = -1; },
          "burn-in is -1; expected a whole number from 0 to 1000000000000000");
  refuses([](Config& c) { c.initial_basis = Matrix::Ones(4, 3); },
          "the starting basis has 3 columns; expected 2, one for each component");
  refuses([](Config& c) { c.initial_basis(1, 1) = -1; },
          "the starting basis has the entry -1; expected 0, or from 1e-200 to 1e+15");
  refuses(
      [](Config& c) {
        c.num_components = 15;
        c.initial_basis = {};
        c.engine.kind = EngineKind::kExact;
      },
      "prior 'basis-selection' with 15 components has more than 16384 states, the exact engine's "
      "reach; use engine particle or fewer components");
}

TEST(Session, IsFinishedOnce) {
  for (const Method method : {Method::kOnline, Method::kBatch}) {
    Config config = small_config();
    config.method = method;
    Session session = fitted(config, small_record(50));
    EXPECT_EQ(session_message([&] { session.finish(); }), "the fit is finished already");
    EXPECT_EQ(session_message([&] {
                session.update(std::vector<double>{1, 2, 3, 4});
              }),
              "the fit is finished; no observation can be added");
    EXPECT_EQ(session.model().observations, 50);
  }
}

// Constant steps are there to follow a basis that drifts: the average would lag far behind.
TEST(Session, ConstantStepsReportTheLastIterate) {
  Config config = small_config();
  config.step_size = StepSize::constant(0.05);
  const Model model = fitted(config, small_record()).model();
  EXPECT_EQ(model.reported.basis, model.last.basis);
  config.average = Average::kPolyak;
  const Model averaged = fitted(config, small_record()).model();
  EXPECT_NE(averaged.reported.basis, averaged.last.basis);
}

TEST(Session, RefusesObservationsThatDoNotFit) {
  Session session(small_config());
  const auto message = [&](const std::vector<double>& y) {
    return session_message([&] { session.update(y); });
  };
  EXPECT_EQ(message({1, 2, 3}), "the starting basis has 4 rows and the data have 3 channels");
  session.update(std::vector<double>{1, 2, 3, 4});
  EXPECT_EQ(message({1, 2, 3}), "observation 2 has 3 channels; expected 4");
  EXPECT_EQ(message({1, -2, 3, 4}),
            "observation 2, channel 2: -2 found; observations must be from 0 to 1e+15");
  EXPECT_EQ(session_message([] { Session(small_config()).finish(); }), "there are no observations");
}

TEST(Trace, StaysBoundedHoweverLongTheStream) {
  Trace trace;
  std::int64_t taken = 0;
  for (std::int64_t t = 1; t <= 300000; ++t) {
    if (!trace.is_due(t)) continue;
    ++taken;
    trace.add({t, 0, Vector::Zero(3), Vector::Zero(3)});
  }
  EXPECT_LT(trace.rows().size(), 256u);
  EXPECT_GE(trace.rows().size(), 127u);
  EXPECT_LT(taken, 10000);
  for (std::size_t i = 1; i < trace.rows().size(); ++i) {
    EXPECT_EQ(trace.rows()[i].t - trace.rows()[i - 1].t, trace.rows()[1].t - trace.rows()[0].t);
  }
}

TEST(Trace, AnAskedForIntervalIsKept) {
  Config config = small_config();
  config.trace_every = 50;
  const Model model = fitted(config, small_record()).model();
  ASSERT_EQ(model.trace.t.size(), 12);
  EXPECT_EQ(model.trace.t[0], 50);
  EXPECT_EQ(model.trace.t[11], 600);
  EXPECT_EQ(model.trace.names.front(), "stay_off");
  EXPECT_EQ(model.trace.names.back(), "basis_4_2");
  EXPECT_EQ(model.trace.reported(11, 2 + 7), model.reported.basis(3, 1));
  EXPECT_EQ(model.trace.last(11, 2 + 7), model.last.basis(3, 1));
}

void expect_same(const Model& a, const Model& b) {
  EXPECT_EQ(a.reported.basis, b.reported.basis);
  EXPECT_EQ(a.last.basis, b.last.basis);
  EXPECT_EQ(a.background, b.background);
  EXPECT_EQ(a.reported.prior.name(), b.reported.prior.name());
  const Parameters first = a.reported.prior.parameters();
  const Parameters second = b.reported.prior.parameters();
  ASSERT_EQ(first.size(), second.size());
  for (std::size_t i = 0; i < first.size(); ++i) {
    EXPECT_EQ(first[i].name, second[i].name);
    EXPECT_LT(reference::largest_relative_difference(first[i].value, second[i].value), 1e-15);
  }
  EXPECT_EQ(a.seed, b.seed);
  EXPECT_EQ(a.log_likelihood, b.log_likelihood);
  EXPECT_EQ(a.observations, b.observations);
  EXPECT_EQ(a.options.size(), b.options.size());
  EXPECT_EQ(a.trace.names, b.trace.names);
  EXPECT_EQ(a.trace.reported, b.trace.reported);
}

TEST(ModelFile, ReadsWhatItWrites) {
  const TestFolder folder;
  Config own = small_config();
  own.prior.per_component = true;
  own.background = true;
  own.seed = 0xfedcba9876543210;
  Config finite = small_config();
  finite.prior.name = "finite";
  finite.prior.parameters = {{"states", (Matrix(3, 2) << 0, 1, 1, 0, 1, 1).finished()}};
  for (const Config& config : {small_config(), own, finite}) {
    const Model model = fitted(config, small_record()).model();
    const std::string name = folder.path("model.h5");
    write_model(model, name);
    expect_same(read_model(name), model);
  }
}

// Inside, the prior has a scale; what is handed out does not, and means the same intensities.
TEST(Session, ActivationsGoWithTheBasisThatIsReported) {
  Config config = small_config();
  config.prior.name = "gamma";
  config.engine.num_particles = 50;
  Session session(config);
  const Matrix record = small_record(300);
  for (Index t = 0; t < record.cols(); ++t) session.update(as_span(record.col(t)));
  const OnlineEm& learner = *session.learner();
  EXPECT_FALSE(learner.last().basis.isApprox(learner.engine().basis(), 1e-3));
  EXPECT_TRUE(
      (learner.last().basis * learner.filtered_activation())
          .isApprox(learner.engine().basis() * learner.engine().filtered_activation(), 1e-12));
}

TEST(Session, ExposuresThatAreNotAreRefused) {
  Session session(small_config());
  const std::vector<double> y = {1, 2, 3, 4};
  EXPECT_EQ(session_message([&] {
              session.update(y, std::vector<double>{1, 2});
            }),
            "observation 1 has 4 channels and 2 exposures");
  EXPECT_EQ(
      session_message([&] {
        session.update(y, std::vector<double>{1, 2, -1, 1});
      }),
      "observation 1, channel 3: exposure -1 found; exposures must be 0, or from 1e-15 to 1e+15");
  EXPECT_EQ(session.observations(), 0);
}

// With an M-step after every observation, what was predicted of it must not know that M-step.
TEST(Session, PredictionsAreOfTheParametersBeforeTheMStep) {
  Config config = small_config();
  config.block = 1;
  config.burn_in = 1;
  config.lag = 1;
  config.average = Average::kNone;  // so that the learner's own parameters predict
  Session session(config);
  session.keep_predictions(true);
  const Matrix record = small_record();
  Matrix before;
  int m_steps = 0;
  for (Index t = 0; t < 40; ++t) {
    if (session.learner() != nullptr) before = session.learner()->engine().basis();
    session.update(as_span(record.col(t)));
    if (t == 0) continue;
    EXPECT_EQ(session.prediction().emission->basis(), before) << t;
    m_steps += session.learner()->engine().basis() != before;
  }
  EXPECT_GT(m_steps, 10);
}

TEST(Session, CopiesHaveNoCallbacksAndSessionsMove) {
  Session session(small_config());
  int calls = 0;
  session.on_step([&](const StepReport&) { ++calls; });
  Session copy(session);
  Session moved(std::move(session));
  const Matrix record = small_record();
  copy.update(as_span(record.col(0)));
  EXPECT_EQ(calls, 0);
  moved.update(as_span(record.col(0)));
  EXPECT_EQ(calls, 1);
  copy = moved;
  copy.update(as_span(record.col(1)));
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(copy.observations(), 2);
}

TEST(Session, HasHardlyMovedHeedsTheBurnIn) {
  Config config = small_config();
  config.initial_basis.resize(0, 0);
  const Matrix record = small_record();
  EXPECT_FALSE(fitted(config, record).model().has_hardly_moved());
  config.burn_in = record.cols() - 1;  // a burn-in that was asked for, and few M-steps after it
  EXPECT_TRUE(fitted(config, record).model().has_hardly_moved());
}

TEST(Session, ImpossibleObservationsAreLeftOutOfTheLikelihood) {
  Config config = small_config();
  config.m_step.hold_basis = true;
  config.initial_basis = Matrix::Ones(4, 2);
  config.initial_basis.row(3).setZero();
  Session session(config);
  session.update(std::vector<double>{1, 0, 2, 0});
  const double one = session.log_likelihood();
  session.update(std::vector<double>{1, 0, 2, 5});  // no state can have given the last channel
  EXPECT_TRUE(std::isfinite(one));
  EXPECT_EQ(session.log_likelihood(), one);
  session.finish();
  EXPECT_EQ(session.model().impossible_observations, 1);
}

// A prior whose parameters run away.
class LostPrior : public BasisSelection {
 public:
  using BasisSelection::BasisSelection;
  Parameters parameters() const {
    return {scalar_parameter("stay_on", std::numeric_limits<double>::quiet_NaN())};
  }
};

TEST(Session, RefusesAnEstimateThatIsNotFinite) {
  Session session(small_config(), AnyPrior(LostPrior(2, 0.9, 0.7)));
  for (int t = 0; t < 200; ++t) session.update(std::vector<double>(4, 1));
  EXPECT_THAT(session_message([&] { session.finish(); }),
              testing::HasSubstr("has not led to a finite estimate"));
}

}  // namespace
}  // namespace headwater
