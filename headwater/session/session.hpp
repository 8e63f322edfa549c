#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "headwater/learning/automatic_start.hpp"
#include "headwater/learning/batch_em.hpp"
#include "headwater/session/config.hpp"
#include "headwater/session/held_back.hpp"
#include "headwater/session/model.hpp"
#include "headwater/session/particle_health.hpp"
#include "headwater/session/trace.hpp"

namespace headwater {

// A fit from beginning to end: everything is built from a Config by name.
//
//   Session session(config);
//   while (source->next(y)) session.update(y);
//   session.finish();
//   write_model(session.model(), "model.h5");
//
// The first observations may be held back until there are enough of them to choose a start from;
// they are then taken in as if they had just come. Batch EM holds back all of them.
class Session {
 public:
  explicit Session(const Config& config);
  Session(Config config, AnyPrior prior);  // a prior of one's own; config.prior is not looked at

  // Called for each observation when it is taken in (online), or after each iteration (batch).
  using OnStep = std::function<void(const StepReport&)>;
  void on_step(OnStep callback) { on_step_ = std::move(callback); }
  void on_iteration(OnIteration callback) { on_iteration_ = std::move(callback); }
  // Called while a start is searched for among the first observations.
  void on_search(OnSearch callback) { on_search_ = std::move(callback); }

  // Throws InputError if the number of channels changes, or a value is negative or infinite. A
  // channel of exposure 0 counts as missing, whatever stands there.
  //
  // A callback may throw: the call ends there, and the session can be used on. What it had been
  // given is taken in by the next call; a search, or batch EM, starts over.
  void update(Observation y);
  // The stream has ended. Throws InputError if there was no observation at all.
  void finish();

  // Puts the state of a fit under way into the archive, or takes it up: of online EM, with the same
  // Config. What follows then is the same, bit for bit, as if there had been no break.
  void exchange(StateArchive& archive);

  const Config& config() const { return config_; }
  std::int64_t observations() const { return observations_; }  // given so far
  double log_likelihood() const;                               // of those taken in
  // The engine that was chosen; before the first observation, as far as it can be told.
  EngineChoice engine() const;
  // Nothing before the start was chosen.
  const OnlineEm* learner() const { return learner_ ? &*learner_ : nullptr; }
  const StartReport& start_report() const { return start_report_; }  // of the search, if any
  const ParticleHealth& particle_health() const { return health_; }  // online, with particles
  Vector filtered_activation() const;    // E[x_t | y_1..t], K numbers, as the last iterate has it
  Matrix forecast(Index horizon) const;  // E[y_t+h | y_1..t] for h = 1, ..., M x horizon
  Model model() const;                   // after at least one observation was taken in, or finish()
  bool is_finished() const { return is_finished_; }

 private:
  void check_start() const;
  const OnlineEm& started() const;  // throws UsageError before the start
  void check(Observation y);
  Observation with_unexposed_missing(Observation y);
  bool wants_to_hold_back() const;
  Index num_to_hold_back() const;
  OnlineEmOptions learner_options() const;
  bool searches() const;
  Estimate starting_estimate();
  void start();
  void take_in_held_back();
  void take_in(Observation y);
  void run_batch();
  void record(std::int64_t t, double log_likelihood, bool is_end);

  Config config_;
  AnyPrior prior_;
  OnStep on_step_;
  OnIteration on_iteration_;
  OnSearch on_search_;
  StartReport start_report_;
  bool is_finished_ = false;
  Index num_channels_ = 0;
  std::int64_t observations_ = 0;
  HeldBack held_back_;
  Index num_taken_in_ = 0;           // of those held back
  std::vector<double> seen_counts_;  // of an observation with exposures, those of 0 missing
  std::optional<OnlineEm> learner_;
  std::optional<BatchEmResult> batch_;
  ParticleHealth health_;
  Trace trace_;
};

}  // namespace headwater
