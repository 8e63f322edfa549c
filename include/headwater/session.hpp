#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "headwater/config.hpp"
#include "headwater/export.hpp"
#include "headwater/model.hpp"
#include "headwater/reports.hpp"

namespace headwater {

class Observation;
class OnlineEm;
struct PredictiveDraws;

// A fit from beginning to end: everything is built from a Config by name.
//
//   Session session(config);
//   while (source->next(y)) session.update(y);
//   session.finish();
//   write_model(session.model(), "model.h5");
//
// The first observations may be held back until there are enough of them to choose a start from;
// they are then taken in as if they had just come. Batch EM holds back all of them.
//
// A copy goes on from where the other session stands. It has no callbacks: those belong to whoever
// set them.
class HEADWATER_EXPORT Session {
 public:
  explicit Session(const Config& config);
  Session(Config config, AnyPrior prior);  // a prior of one's own; config.prior is not looked at
  Session(const Session& other);
  Session(Session&& other) noexcept;
  Session& operator=(const Session& other);
  Session& operator=(Session&& other) noexcept;
  ~Session();

  // Called for each observation when it is taken in (online), or after each iteration (batch).
  void on_step(std::function<void(const StepReport&)> callback);
  void on_iteration(
      std::function<void(std::int64_t iteration, double log_likelihood, const Estimate& estimate)>
          callback);
  // Called while a start is searched for among the first observations.
  void on_search(std::function<void(std::int64_t done, std::int64_t all)> callback);

  // Throws InputError if the number of channels changes. What an Observation may hold is checked
  // where it is made.
  //
  // A callback may throw: the call ends there, and the session can be used on. What it had been
  // given is taken in by the next call; a search, or batch EM, starts over.
  void update(const Observation& y);
  // The same from one number a channel, which are checked here: see Observation::assign().
  template <class Counts>
  requires std::convertible_to<const Counts&, std::span<const double>>
  void update(const Counts& counts, std::span<const double> exposures = {}) {
    update_cells(counts, exposures);
  }
  // The stream has ended. Throws InputError if there was no observation at all, or if the fit has
  // not led to a finite estimate.
  void finish();

  // Puts the state of a fit under way into the archive, or takes it up: of online EM, with the same
  // Config. What follows then is the same, bit for bit, as if there had been no break.
  void exchange(StateArchive& archive);

  const Config& config() const;
  std::int64_t observations() const;  // given so far
  double log_likelihood() const;      // of those taken in, impossible ones left out
  // The engine that was chosen; before the first observation, as far as it can be told.
  EngineChoice engine() const;
  // Nothing before the start was chosen.
  const OnlineEm* learner() const;
  const StartReport& start_report() const;        // of the search, if any
  const ParticleHealth& particle_health() const;  // online, with particles
  Vector filtered_activation() const;    // E[x_t | y_1..t], K numbers, as the last iterate has it
  Matrix forecast(Index horizon) const;  // E[y_t+h | y_1..t] for h = 1, ..., M x horizon
  Model model() const;                   // after at least one observation was taken in, or finish()
  bool is_finished() const;

  // What was predicted of the last observation that was taken in, before it could move anything.
  // Needs keep_predictions(true) before that observation: an M-step may have followed it.
  void keep_predictions(bool keep);
  PredictiveDraws prediction() const;

 private:
  void update_cells(std::span<const double> counts, std::span<const double> exposures);

  class Fit;
  std::unique_ptr<Fit> fit_;
};

}  // namespace headwater
