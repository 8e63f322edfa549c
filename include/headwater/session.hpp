#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "headwater/config.hpp"
#include "headwater/export.hpp"
#include "headwater/forecast.hpp"
#include "headwater/model.hpp"
#include "headwater/reports.hpp"
#include "headwater/round.hpp"

namespace headwater {

class Observation;
class OnlineEm;
struct Prediction;

// How a fit continues a model.
struct Continuation {
  // Whether the first observation follows on the last one that the model has seen. If not, its
  // activations, levels and phase begin anew, as in a new sequence.
  bool follows_on = true;
  // From now on as if the model had seen only so many observations. 0: all that it has seen.
  std::int64_t forget = 0;
};

// A fit from beginning to end: everything is built from a Config by name.
//
//   Session session(config);
//   while (source->next(y)) session.update(y);
//   session.finish();
//   write_model(session.model(), "model.h5");
//
// Each observation is predicted and processed when it comes, from the first one on. The session
// also keeps the first observations: it searches for a start among them when there are 50, 200, and
// so on, up to a number that depends on the prior and on the number of channels. A fit from a new
// start processes these observations again, without reports, and takes the place of the earlier fit
// if it predicts better. If the stream ends earlier, finish() does the last search. Batch EM keeps
// all observations.
//
// A copy continues from the state of the original. It has no callbacks.
class HEADWATER_EXPORT Session {
 public:
  explicit Session(const Config& config);
  Session(Config config, AnyPrior prior);  // a prior of one's own; config.prior is ignored
  // Goes on where the fit of a model ended: with its estimate, statistics, averages, step sizes
  // and, if the data follow on, activations. `observations` and `log_likelihood` add up. config:
  // config_of(model), changed as you like; throws UsageError for what must stay as it is. A model
  // without a state that this version reads is continued from its estimate, which is given the
  // weight of its observations.
  Session(const Model& model, const Config& config, const Continuation& how = {});
  explicit Session(const Model& model, const Continuation& how = {});
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
  // Called before a start is searched for or drawn, and the observations so far are processed from
  // it. This may take long; the state can be saved here.
  void on_start(std::function<void()> callback);
  // Called while a start is searched for among the first observations.
  void on_search(std::function<void(std::int64_t done, std::int64_t all)> callback);

  // Throws InputError if the number of channels changes. What an Observation may hold is checked
  // where it is made.
  //
  // A callback may throw. The call then ends, and the session can still be used: the next call
  // processes the observations that are left. A search for a start, or batch EM, starts over.
  void update(const Observation& y);
  // The same from one number for each channel; checks the numbers as Observation::assign() does.
  template <class Counts>
  requires std::convertible_to<const Counts&, std::span<const double>>
  void update(const Counts& counts, std::span<const double> exposures = {}) {
    update_cells(counts, exposures);
  }
  // The stream has ended. Throws InputError if there was no observation at all, or if the fit has
  // not led to a finite estimate.
  void finish();

  // Fits by rounds (Config::round, see SequenceRound). update() and finish() run the rounds by
  // themselves, on the threads of the engine's options; reports on observations come when their
  // round is complete. run_rounds_by() has someone else compute the statistics of each round.
  void run_rounds_by(RunRound run);
  // Or the caller has the sequences: it gives the first ones to update(), observation by
  // observation, as long as wants_start(), then calls begin_rounds(). From there on it takes
  // round(), has the statistics() of config().round sequences computed, the first ones included,
  // merges them and gives them to take_in(), and so on to the last sequence, and calls finish().
  // The result has the same bytes as if update() had been given everything.
  bool wants_start() const;
  void begin_rounds();
  SequenceRound round() const;
  // From SequenceRound::bytes(). Throws InputError.
  SequenceRound round_of(const std::string& bytes) const;
  // Of the sequence with this index, from 0. Any session of the same Config can be asked, whatever
  // it has seen, and by several threads at once.
  RoundStatistics statistics(const SequenceRound& round, const RecordView& sequence,
                             std::int64_t index) const;
  void take_in(const RoundStatistics& round);

  // Saves or restores the state of an unfinished fit by online EM. To restore it, make a Session
  // with the same Config. The fit then continues bit for bit as if there had been no break. Throws
  // UsageError if an error has interrupted it in the middle of an observation.
  void exchange(StateArchive& archive);

  const Config& config() const;
  std::int64_t observations() const;  // given so far
  // The sum of what was reported of each observation, impossible ones left out.
  double log_likelihood() const;
  // The engine that was chosen. Before the first observation the number of channels is not known,
  // and the choice may still change.
  EngineChoice engine() const;
  // The fit that leads: null before the first observation, and for batch EM.
  const OnlineEm* learner() const;
  // Whether the last start has been found, so that no search follows.
  bool is_settled() const;
  const StartReport& start_report() const;        // of the search that it started from, if any
  const ParticleHealth& particle_health() const;  // online, with particles
  Vector filtered_activation() const;    // E[x_t | y_1..t], K numbers, as the last iterate has it
  Matrix forecast(Index horizon) const;  // E[y_t+h | y_1..t] for h = 1, ..., M x horizon
  Forecast forecast(const ForecastOptions& options) const;  // with quantiles
  Model model() const;  // after at least one observation was taken in, or finish()
  bool is_finished() const;
  // Of the estimate as it is, online EM before finish() too. Nothing without the option, or as long
  // as there are too few observations. Takes about as long as some thousand observations.
  std::optional<StandardErrors> standard_errors() const;

  // What channels are called: one name for each, or none. The model has them too. Throws InputError
  // if their number is not that of the channels.
  void set_names(std::vector<std::string> names);
  const std::vector<std::string>& names() const;

  // How far apart observations are in time, for periods that are durations. Call it before the
  // first observation, and again after exchange() has restored a session.
  void set_seconds_a_row(double seconds);

  // The prediction of the last processed observation, as it was before that observation. Call
  // keep_predictions(true) before that observation, since an M-step may follow it. Valid until the
  // next observation is processed.
  void keep_predictions(bool keep);
  Prediction prediction() const;

 private:
  void update_cells(std::span<const double> counts, std::span<const double> exposures);

  class Fit;
  std::unique_ptr<Fit> fit_;
};

}  // namespace headwater
