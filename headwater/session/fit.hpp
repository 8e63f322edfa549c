#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>

#include "headwater/inference.hpp"
#include "headwater/learning/automatic_start.hpp"
#include "headwater/learning/batch_em.hpp"
#include "headwater/learning/outlier_guard.hpp"
#include "headwater/observation.hpp"
#include "headwater/reports.hpp"
#include "headwater/session.hpp"
#include "headwater/session/engine_table.hpp"
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
  Fit(Config config, AnyPrior prior);

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
  EngineChoice engine() const { return choose_engine(config_, prior_, num_channels_); }
  const OnlineEm* learner() const { return learner_ ? &*learner_ : nullptr; }
  const StartReport& start_report() const { return start_report_; }
  const ParticleHealth& particle_health() const { return health_; }
  Vector filtered_activation() const;
  Matrix forecast(Index horizon) const;
  Forecast forecast(const ForecastOptions& options) const;
  Model model() const;
  bool is_finished() const { return is_finished_; }
  void set_names(std::vector<std::string> names);
  const std::vector<std::string>& names() const { return names_; }
  void set_seconds_a_row(double seconds) { seconds_a_row_ = seconds; }
  void keep_predictions(bool keep) { keeps_predictions_ = keep; }
  PredictiveDraws prediction() const;

  OwnCallback<void(const StepReport&)> on_step;
  OwnCallback<void(std::int64_t, double, const Estimate&)> on_iteration;
  OwnCallback<void()> on_start;
  OwnCallback<void(std::int64_t, std::int64_t)> on_search;

 private:
  void add(const Observation& y);
  void check_start() const;
  const OnlineEm& started() const;  // throws UsageError before the start
  void check(const Observation& y);
  bool wants_to_hold_back() const;
  Index num_to_hold_back() const;
  MStepOptions m_step_options() const;
  OnlineEmOptions learner_options() const;
  BatchEmOptions batch_options() const;
  bool searches() const;
  bool learns_season() const;
  // Whether the first M-step waits until what was searched is in.
  bool waits_for_search() const {
    return config_.step_size.is_automatic() && config_.burn_in == 0 && searches();
  }
  // The laws to choose from, the first one for the search.
  std::vector<AnyLaw> laws() const;
  Index steps_of(const Period& period) const;
  void choose_periods();
  Estimate starting_estimate();
  void start();
  void take_in_held_back();
  void take_in(const Observation& y);
  void run_batch();
  void leave_out_giants();
  void record(std::int64_t t, double log_likelihood, bool is_end);
  void refuse_infinite_estimate() const;
  std::unique_ptr<Engine> engine_for(const Estimate& estimate, std::uint64_t seed,
                                     std::shared_ptr<const ThreadPool> pool) const;

  Config config_;
  AnyPrior prior_;
  StartReport start_report_;
  BasisExpectation expectation_;  // of the basis, found with the start
  bool is_finished_ = false;
  bool is_torn_ = false;  // an error came in the middle of an observation
  Index num_channels_ = 0;
  std::vector<std::string> names_;  // of the channels
  std::int64_t observations_ = 0;
  Observation given_;
  double seconds_a_row_ = 0;    // 0: not known
  Observation placed_;          // the same, at its position in the season
  std::int64_t position_ = 0;   // of the latest observation
  std::vector<Index> periods_;  // from the start on
  Record held_back_;
  Index num_taken_in_ = 0;            // of those held back
  std::int64_t length_of_start_ = 0;  // observations that the start was found from
  std::int64_t observations_after_start_ = 0;
  double log_likelihood_after_start_ = 0;
  OutlierGuard guard_;
  std::int64_t outliers_ = 0;
  std::int64_t first_outlier_ = 0;
  Observation missing_;
  Vector usual_activation_;  // under the prior that the fit began with
  std::optional<OnlineEm> learner_;
  std::optional<BatchEmResult> batch_;
  bool guards() const { return config_.outliers == Outliers::kSkip && !config_.paper_exact; }
  // The observation, or a missing one in its place if it is an outlier.
  const Observation& guarded(const Observation& y);

  ParticleHealth health_;
  Trace trace_;
  bool keeps_predictions_ = false;
  // Of the last observation, where an M-step has followed it.
  std::optional<PredictiveDraws> prediction_before_m_step_;
};

}  // namespace headwater
