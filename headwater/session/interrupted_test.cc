// A callback that throws, as one does to stop a fit, leaves a session that can be used on.
#include <gtest/gtest.h>

#include <stdexcept>

#include "headwater/learning/automatic_start.hpp"
#include "headwater/learning/online_em.hpp"
#include "headwater/models/basis_selection.hpp"
#include "headwater/observation.hpp"
#include "headwater/reference/streams.hpp"
#include "headwater/session.hpp"
#include "headwater/session/trace.hpp"
#include "headwater/simulate.hpp"
#include "headwater/state_archive.hpp"

namespace headwater {
namespace {

struct Stop : std::runtime_error {
  Stop() : std::runtime_error("stop") {}
};

Config config_of(Method method = Method::kOnline) {
  Config config;
  config.num_components = 2;
  config.method = method;
  config.iterations = 10;
  config.tolerance = 0;
  return config;
}

Matrix record_of(Index length) {
  return reference::simulate_record(AnyPrior(BasisSelection(2, 0.8, 0.7)), random_basis(4, 2, 6, 1),
                                    length, 2);
}

// How often it was stopped on the way.
int give(Session& session, const Matrix& record) {
  int stops = 0;
  for (Index t = 0; t < record.cols(); ++t) {
    try {
      session.update(as_span(record.col(t)));
    } catch (const Stop&) {
      ++stops;
    }
  }
  return stops;
}

void expect_same_model(Session& session, Session& undisturbed) {
  session.finish();
  undisturbed.finish();
  EXPECT_EQ(session.model().observations, undisturbed.model().observations);
  EXPECT_EQ(session.model().log_likelihood, undisturbed.model().log_likelihood);
  EXPECT_EQ(session.model().reported.basis, undisturbed.model().reported.basis);
  EXPECT_EQ(session.model().trace.reported, undisturbed.model().trace.reported);
}

TEST(Interrupted, WhileObservationsAreTakenIn) {
  const Matrix record = record_of(1300);
  Session session(config_of());
  Session undisturbed(config_of());
  // None is lost or comes twice.
  session.on_step([](const StepReport& report) {
    if (report.t % 400 == 0) throw Stop();
  });
  EXPECT_EQ(give(session, record), 3);
  EXPECT_EQ(session.observations(), 1300);
  give(undisturbed, record);
  expect_same_model(session, undisturbed);
}

class InterruptedOnThreads : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Interrupted, InterruptedOnThreads, testing::Values(1, 2, 3));

TEST_P(InterruptedOnThreads, DuringTheSearchForAStart) {
  const Matrix record = record_of(1100);
  Config config = config_of();
  config.engine.num_threads = GetParam();
  Session session(config);
  Session undisturbed(config_of());
  int calls = 0;
  session.on_search([&](std::int64_t, std::int64_t) {
    if (++calls == 5 || calls == 9) throw Stop();
  });
  EXPECT_EQ(give(session, record), 2);
  give(undisturbed, record);
  expect_same_model(session, undisturbed);
}

TEST(Interrupted, TheSessionCanBePutAwayBeforeItsStart) {
  const Matrix record = record_of(1300);
  Session session(config_of());
  StateArchive saved;
  Index num_saved = 0;
  session.on_start([&] {  // the last time, before the thorough search
    saved = StateArchive();
    session.exchange(saved);
    num_saved = session.observations();
  });
  give(session, record);
  ASSERT_EQ(num_saved, 1000);
  Session resumed(config_of());
  StateArchive read(saved.bytes());
  resumed.exchange(read);
  give(resumed, record.rightCols(record.cols() - num_saved));
  expect_same_model(resumed, session);
}

TEST(Interrupted, DuringBatchEm) {
  const Matrix record = record_of(200);
  Session session(config_of(Method::kBatch));
  Session undisturbed(config_of(Method::kBatch));
  give(session, record);
  give(undisturbed, record);
  session.on_iteration([](std::int64_t iteration, double, const Estimate&) {
    if (iteration == 4) throw Stop();
  });
  EXPECT_THROW(session.finish(), Stop);
  EXPECT_FALSE(session.is_finished());
  session.on_iteration({});
  expect_same_model(session, undisturbed);
}

}  // namespace
}  // namespace headwater
