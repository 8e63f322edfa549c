#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>

#include "headwater/inference.hpp"
#include "headwater/learning/automatic_start.hpp"
#include "headwater/learning/batch_em.hpp"
#include "headwater/observation.hpp"
#include "headwater/reports.hpp"
#include "headwater/session.hpp"
#include "headwater/session/against_mean.hpp"
#include "headwater/session/contender.hpp"
#include "headwater/session/engine_table.hpp"
#include "headwater/session/round_state.hpp"
#include "headwater/session/trace.hpp"

namespace headwater {

// A callback of its owner alone: a copy has none.
template <class F>
class OwnCallback {
 public:
  OwnCallback() = default;
  OwnCallback(const OwnCallback&) {}
  OwnCallback(OwnCallback&&) noexcept = default;
  OwnCallback& operator=(const OwnCallback&) = delete;
  OwnCallback& operator=(OwnCallback&&) = delete;
  ~OwnCallback() = default;

  void set(std::function<F> function) { function_ = std::move(function); }
  const std::function<F>& get() const { return function_; }

 private:
  std::function<F> function_;
};

// What a Session keeps behind its pointer; Session says what each function does.
class Session::Fit {
 public:
  explicit Fit(const Config& config);  // the prior is config.prior
  Fit(Config config, AnyPrior prior, bool is_continued = false);
  Fit(const Model& model, const Config& config, const Continuation& how);

  void update(const Observation& y);
  void update_cells(std::span<const double> counts, std::span<const double> exposures) {
    given_.assign(counts, exposures, observations_ + 1);
    update(given_);
  }
  void finish();
  void exchange(StateArchive& archive);

  const Config& config() const { return config_; }
  std::int64_t observations() const { return observations_; }
  double log_likelihood() const;
  EngineChoice engine() const { return choose_engine(config_, prior(), num_channels_); }
  const OnlineEm* learner() const { return leader_ ? &leader_->learner : nullptr; }
  bool is_settled() const { return is_settled_; }
  const StartReport& start_report() const { return leader_ ? leader_->report : batch_report_; }
  const ParticleHealth& particle_health() const { return health_; }
  Vector filtered_activation() const;
  Matrix forecast(Index horizon) const;
  Forecast forecast(const ForecastOptions& options) const;
  Model model() const;
  // Of the estimate as it is, whatever was asked for in the model. Needs the option.
  std::optional<StandardErrors> standard_errors() const;
  bool is_finished() const { return is_finished_; }
  void set_names(std::vector<std::string> names);
  const std::vector<std::string>& names() const { return names_; }
  void set_seconds_a_row(double seconds) { seconds_a_row_ = seconds; }
  void keep_predictions(bool keep) { keeps_predictions_ = keep; }
  Prediction prediction() const;

  bool is_by_rounds() const { return config_.round > 0; }
  bool wants_start() const;
  void begin_rounds();
  SequenceRound round() const;
  SequenceRound round_of(const std::string& bytes) const;
  RoundStatistics statistics(const SequenceRound& round, const RecordView& sequence,
                             std::int64_t index) const;
  void take_in_round(const RoundStatistics& round);
  void run_rounds_by(RunRound run) { run_.set(std::move(run)); }

  OwnCallback<void(const StepReport&)> on_step;
  OwnCallback<void(std::int64_t, double, const Estimate&)> on_iteration;
  OwnCallback<void()> on_start;
  OwnCallback<void(std::int64_t, std::int64_t)> on_search;

 private:
  Fit(Config config, std::vector<AnyPrior> priors, bool is_continued);

  void check_start() const;
  void check(const Observation& y);
  const Contender& started() const;  // throws UsageError before the start

  // How a fit starts (fit_start.cc).
  bool start_is_given() const;
  bool wants_to_hold_back() const;
  // For this prior, and for the one of those to choose from that wants most.
  Index num_to_hold_back(const AnyPrior& prior) const;
  Index num_to_hold_back() const;
  MStepOptions m_step_options(const AnyPrior& prior, const BasisExpectation& expectation) const;
  // waits_for: see Contender. remembers: whether a long memory was chosen for it.
  OnlineEmOptions learner_options(const AnyPrior& prior, const BasisExpectation& expectation,
                                  std::int64_t waits_for, bool remembers = false) const;
  BatchEmOptions batch_options(const AnyPrior& prior, const BasisExpectation& expectation) const;
  bool searches() const;
  bool learns_season() const;
  // Whether the first M-step waits until what was searched is in.
  bool waits_for_search() const {
    return config_.step_size.is_automatic() && config_.burn_in == 0 && searches();
  }
  bool trusts_given_start() const {
    return config_.step_size.is_automatic() && config_.burn_in == 0 && start_is_given() &&
           !config_.paper_exact;
  }
  // The laws to choose from, the first one for the search.
  std::vector<AnyLaw> laws() const;
  AnyLaw law_of(const std::string& name) const;  // with those parameters of its own that are given
  AnyLaw provisional_law(const RecordView& observations) const;
  Index steps_of(const Period& period) const;
  std::vector<Index> known_periods() const;  // those that need not be looked for
  std::vector<Index> choose_periods(const RecordView& observations, StartReport& report) const;
  Matrix with_background(Matrix basis, const RecordView& observations) const;
  Matrix provisional_basis(const RecordView& observations) const;
  Start provisional_start(const RecordView& observations) const;
  Start find_start(const RecordView& observations, const SearchEffort& effort) const;

  // Which prior it is to be (fit_prior.cc).
  void leave_out_unreachable();
  bool chooses_prior() const { return priors_.size() > 1; }
  // Before a choice the first one.
  const AnyPrior& provisional_prior() const { return priors_.front(); }
  const Vector& mean_of_provisional_prior() const;
  // As it starts: the one of this name, and the one of the fit that leads.
  const AnyPrior& start_prior(const std::string& name) const;
  const AnyPrior& prior() const;
  const AnyPrior& prior_of(const Contender& contender) const;
  // A start under this prior. periods: of the season.
  StartSearch search_start(const RecordView& observations, const AnyPrior& prior,
                           const std::vector<Index>& periods, const SearchEffort& effort) const;
  // The scores of all that can be afforded, of which one is chosen; none where there are too few
  // observations.
  std::vector<PriorScore> compare_priors(const RecordView& observations,
                                         const std::vector<Index>& periods,
                                         const SearchEffort& effort) const;

  // How a stream is taken in (fit_live.cc).
  void add(const Observation& y);
  void begin();
  void catch_up();
  void climb_if_due();
  void take_up_means(const RecordView& seen);
  void settle(const RecordView& observations);
  void take_in(const Observation& y);
  // Looks at all observations so far at once (fit_looks.cc).
  bool may_take_looks(const Estimate& start) const;
  void keep_for_looks(const Observation& y);
  bool has_look_to_take() const;
  void look();
  StepReport first_step();
  void end_race_if_over();
  // A law of the counts that has proved too narrow (fit_law.cc): what is to tell, and what follows.
  AgainstMean::Losses losses_that_count() const;
  void widen_law();
  void begin_trace_if_new(const std::string& prior_before);
  StepReport predicted_step(const Observation& y);
  void publish(StepReport& report);
  void tell_of_start();
  void keep_prediction();  // of the last observation, before what it was made from changes
  // A fit from this start that has taken in the observations. report: on the last of them.
  Contender contender(Start start, const RecordView& observations, std::int64_t waits_for,
                      StepReport* report = nullptr) const;
  StepReport step(Contender& contender, const Observation& y,
                  const OnlineEm::BeforeMStep& before_m_step = {}) const;
  // Not if it is an outlier, which is treated as missing.
  bool is_let_in(Contender& contender, const Observation& y) const;
  // prior: what a contender that is read is to start with.
  void exchange_contender(StateArchive& archive, std::optional<Contender>& contender,
                          const AnyPrior& prior);
  // Of the sizes that were read, for the archive to fill.
  Estimate blank_estimate(const StateArchive& archive, Index num_channels, const AnyPrior& prior,
                          const std::string& law, const std::vector<Index>& periods) const;

  // How a fit goes by rounds (fit_rounds.cc).
  // One sequence of a round, under way.
  struct SequenceRun {
    const SequenceRound::State& from;
    bool is_new;  // whether nothing was reported of it before
    std::unique_ptr<Engine> engine;
    RoundSums sums = {};
    Observation placed = {};
  };
  void refuse_without_rounds() const;
  void add_by_rounds(const Observation& y);
  void go_on_by_rounds(bool is_end);
  void start_rounds(const RecordView& observations);
  void run_round(Index num_observations);
  RoundStatistics run_on_threads(const SequenceRound& round, const RecordView& rows);
  SequenceRun begin_sequence(const SequenceRound::State& from, Index length,
                             std::int64_t index) const;
  void step_in_sequence(SequenceRun& run, const Observation& y, Index t) const;
  bool is_outlier_in_sequence(SequenceRun& run, const Observation& y, Index t) const;
  void enter_round(const RoundSums& sums);
  void tell_of_rows();
  void refuse_impossible(const RoundSums& sums) const;
  bool is_between_rounds() const { return is_by_rounds() && is_settled_; }
  Vector activation_between_rounds() const;
  Observation before_a_sequence(const Season& season, Index num_channels) const;
  std::unique_ptr<Engine> engine_of_next_sequence() const;
  std::unique_ptr<Engine> round_engine_for(const Estimate& estimate) const;
  Contender round_contender(Start start, std::int64_t waits_for) const;
  void exchange_rounds(StateArchive& archive);

  // Where ranks keep their own rows: the first one has all of the fit from here on.
  void collect_rows();

  void run_batch();
  void leave_out_giants();
  void record(std::int64_t t, double log_likelihood, bool is_end);
  void refuse_infinite_estimate() const;
  // Not in the paper's algorithm.
  bool predicts_by_average() const { return !config_.paper_exact; }
  bool guards() const { return config_.outliers == Outliers::kSkip && !config_.paper_exact; }

  // How a fit goes on that has ended (fit_continued.cc).
  void remember_past();
  void exchange_past(StateArchive& archive);
  void take_up_past(const Model& model);
  void imagine_past(const Model& model);
  void take_up_trace(const Model& model);
  void choose_steps();
  void forget_all_but(std::int64_t observations);
  std::optional<StandardErrors> errors_of(const OnlineEm& learner, const Estimate& estimate,
                                          const BlockStatistics& blocks) const;
  std::unique_ptr<Engine> engine_for(const Estimate& estimate, std::uint64_t seed,
                                     std::shared_ptr<const ThreadPool> pool) const;

  Config config_;
  std::vector<AnyPrior> priors_;     // to choose from; one where there is no choice
  bool law_is_chosen_ = false;       // by a search, so that it may be given up
  mutable Vector provisional_mean_;  // computed when it is first asked for: by draws, mostly
  mutable Matrix even_factors_;      // of the provisional start; so are these
  bool is_finished_ = false;
  bool is_elsewhere_ = false;  // the first rank has the fit, and this one is another
  bool is_torn_ = false;       // an error came in the middle of an observation
  Index num_channels_ = 0;
  std::vector<std::string> names_;  // of the channels
  std::int64_t observations_ = 0;
  Observation given_;
  double seconds_a_row_ = 0;   // 0: not known
  Observation placed_;         // the same, at its position in the season
  std::int64_t position_ = 0;  // of the latest observation; -1 before position 0

  bool is_continued_ = false;        // a model's
  bool begins_anew_ = false;         // the next observation does not follow on those of the model
  bool is_after_search_ = false;     // whether the fit that is continued was started by a search
  std::int64_t even_beginning_ = 1;  // of its step sizes
  std::int64_t grows_from_ = 0;      // see StepSize; 0: step sizes go on as they were
  std::string past_;                 // of a fit that has ended, for its model

  // Until the last start is found: everything so far, and how many of these were taken in.
  Record held_back_;
  Index num_taken_in_ = 0;
  std::int64_t climbed_ = 0;      // observations that the latest start was found from
  bool has_searched_ = false;     // whether a search for a start has been finished
  bool is_settled_ = false;       // whether the last start has been found
  bool has_seen_a_cell_ = false;  // whether not all that was taken in was missing
  std::optional<Contender> leader_;
  std::optional<Contender> rival_;
  Race race_;
  bool takes_looks_ = false;
  Record looked_at_;            // all observations so far, as long as there will be a look at them
  std::int64_t last_look_ = 0;  // how many there were at the last one

  // Of a fit by rounds: sequences that are in, those that were reported one observation at a time,
  // and observations that were reported. In the middle of a report, what is left of it.
  std::int64_t sequences_ = 0;
  std::int64_t num_reported_ = 0;
  std::int64_t reported_ = 0;
  bool is_driven_ = false;  // whether the statistics of rounds come from outside
  OnlineEm::RoundReport last_round_;
  Record untold_;
  std::vector<SequenceRow> untold_rows_;
  Index num_told_ = 0;
  Vector told_activation_;
  OwnCallback<RoundStatistics(const SequenceRound&, const RecordView&)> run_;
  std::shared_ptr<const ThreadPool> pool_;  // for its sequences

  // What was published.
  double log_likelihood_ = 0;
  std::int64_t impossible_ = 0;
  std::int64_t length_of_start_ = 0;  // observations that a start may be found from
  std::int64_t observations_after_start_ = 0;
  double log_likelihood_after_start_ = 0;
  ParticleHealth health_;
  AgainstMean against_mean_;
  Trace trace_;

  std::optional<StandardErrors> standard_errors_;  // when the fit has ended
  std::optional<BatchEmResult> batch_;
  StartReport batch_report_;
  std::int64_t batch_outliers_ = 0;
  std::int64_t first_batch_outlier_ = 0;

  bool keeps_predictions_ = false;
  // Of the last observation, where an M-step or another start has followed it.
  std::optional<Prediction> prediction_before_m_step_;
};

}  // namespace headwater
