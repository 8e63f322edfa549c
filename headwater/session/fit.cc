#include "headwater/session/fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "headwater/core/state_checks.hpp"
#include "headwater/emission/levels.hpp"
#include "headwater/engines/forecast.hpp"
#include "headwater/error.hpp"
#include "headwater/io/channel_names.hpp"
#include "headwater/law_table.hpp"
#include "headwater/learning/activation_law.hpp"
#include "headwater/learning/monte_carlo_em.hpp"
#include "headwater/parallel/ranks.hpp"
#include "headwater/registry.hpp"

namespace headwater {

namespace {

// Of a stream, enough to see how it went; of batch EM, every iteration as a rule.
constexpr Index kOnlineTraceRows = 256;
constexpr Index kBatchTraceRows = 100000;

Trace new_trace(const Config& config) {
  return Trace(config.trace_every,
               config.method == Method::kBatch ? kBatchTraceRows : kOnlineTraceRows);
}

}  // namespace

Session::Fit::Fit(const Config& config)
    : Fit(config, make_priors(config.num_components, config.prior), false) {}

Session::Fit::Fit(Config config, AnyPrior prior, bool is_continued)
    : Fit(std::move(config), std::vector<AnyPrior>{std::move(prior)}, is_continued) {}

Session::Fit::Fit(Config config, std::vector<AnyPrior> priors, bool is_continued)
    : config_(std::move(config)),
      priors_(std::move(priors)),
      is_continued_(is_continued),
      trace_(new_trace(config_)) {
  const AnyPrior& first = priors_.front();
  if (config_.num_components == 0) config_.num_components = first.num_components();
  config_.validate();
  if (first.num_components() != config_.num_components) {
    throw UsageError(fmt::format("the prior has {} components and {} were asked for",
                                 first.num_components(), config_.num_components));
  }
  const Parameters parameters = first.parameters();
  for (const std::string& name : config_.m_step.held_parameters) {
    const bool is_profile =
        (name == kProfile || name == kChannelProfile) && !config_.season.periods.empty();
    if (is_law_parameter(name) || is_profile) continue;
    if (chooses_prior()) refuse_with_auto_prior(name);
    if (find_parameter(parameters, name) == nullptr) {
      throw UsageError(fmt::format("prior '{}' has no parameter '{}' to hold", first.name(), name));
    }
  }
  leave_out_unreachable();
  if (is_continued_) return;
  check_start();
  law_is_chosen_ = config_.counts.law == CountsConfig::kAuto && searches();
}

void Session::Fit::check(const Observation& y) {
  const Index size = y.num_channels();
  if (num_channels_ == 0) {
    if (size == 0) throw InputError("the first observation has no channels");
    const Matrix& basis = config_.initial_basis;
    if (basis.size() > 0 && basis.rows() != size) {
      throw InputError(fmt::format("the starting basis has {} rows and the data have {} channels",
                                   basis.rows(), size));
    }
    check_names(names_, size, "the data");
    check_cost(config_, provisional_prior(), size);
    const KeptRows kept = kept_rows(size);
    if (basis.size() > 0 && kept.size < size) {
      config_.initial_basis = Matrix(basis.middleRows(kept.first, kept.size));
    }
    num_channels_ = size;
  }
  if (size != num_channels_) {
    throw InputError(fmt::format("observation {} has {} channels; expected {}", observations_ + 1,
                                 size, num_channels_));
  }
}

void Session::Fit::set_names(std::vector<std::string> names) {
  const Index size = num_channels_ > 0 ? num_channels_ : static_cast<Index>(names.size());
  check_names(names, size, "the data");
  names_ = std::move(names);
}

void Session::Fit::update(const Observation& y) {
  if (is_finished_) throw UsageError("the fit is finished; no observation can be added");
  check(y);
  if (has_look_to_take()) look();  // it was interrupted
  ++observations_;
  if (config_.season.periods.empty() && !begins_anew_) {
    add(y);
    return;
  }
  placed_ = y;
  if (std::exchange(begins_anew_, false)) placed_.set_begins_sequence(true);
  const bool is_first = observations_ == 1 || y.begins_sequence();
  position_ = is_first ? config_.season.phase : position_ + 1;
  placed_.set_position(position_);
  add(placed_);
}

void Session::Fit::exchange(StateArchive& archive) {
  if (config_.method == Method::kBatch) {
    throw UsageError("method batch cannot be saved in the middle; only online fits can");
  }
  if (is_torn_) throw UsageError("the fit was interrupted in the middle of an observation");
  archive.count(num_channels_);
  archive(observations_, is_finished_, position_, held_back_, num_taken_in_, climbed_,
          has_searched_, is_settled_, has_seen_a_cell_, race_, takes_looks_, looked_at_,
          last_look_);
  archive(log_likelihood_, impossible_, length_of_start_, observations_after_start_,
          log_likelihood_after_start_, health_, trace_, names_, against_mean_);
  archive.expect(position_ >= -1, "an invalid position");
  archive(is_continued_, begins_anew_, is_after_search_, law_is_chosen_, even_beginning_,
          grows_from_);
  archive.expect(is_count(even_beginning_) && is_count(grows_from_),
                 "step sizes that begin in an unknown way");
  archive.expect(is_count(observations_) && held_back_.size() <= observations_ &&
                     num_taken_in_ >= 0 && num_taken_in_ <= held_back_.size() && climbed_ >= 0 &&
                     climbed_ <= observations_ && is_count(impossible_),
                 "an invalid number of observations");
  archive.expect(names_.empty() || num_channels_ == 0 || std::ssize(names_) == num_channels_,
                 "names of other channels");
  archive.expect(against_mean_.num_channels() == 0 || against_mean_.num_channels() == num_channels_,
                 "means of other channels");
  archive.expect(held_back_.empty() || held_back_.num_channels() == num_channels_,
                 "observations of the wrong length");
  archive.expect(looked_at_.empty() || (looked_at_.num_channels() == num_channels_ &&
                                        looked_at_.size() == observations_),
                 "observations that were not seen");
  archive.expect(is_count(last_look_), "an invalid number of observations");
  archive.expect(std::isfinite(log_likelihood_) && std::isfinite(log_likelihood_after_start_),
                 "a log-likelihood that is not finite");
  for (std::optional<Contender>* contender : {&leader_, &rival_}) {
    std::string prior = (*contender ? prior_of(**contender) : provisional_prior()).name();
    if (chooses_prior()) archive(prior);
    archive.expect(std::ranges::find(priors_, prior, &AnyPrior::name) != priors_.end(),
                   "a prior that is not among those to choose from");
    exchange_contender(archive, *contender, start_prior(prior));
    if (*contender) (*contender)->exchange_average(archive);
  }
  archive.expect(leader_.has_value() == (observations_ > 0), "observations without a fit");
  exchange_rounds(archive);
  if (leader_) {
    archive.expect(trace_.has_length(trace_values(leader_->learner.last()).size()),
                   "a trace of the wrong length");
  }
}

void Session::Fit::exchange_contender(StateArchive& archive, std::optional<Contender>& contender,
                                      const AnyPrior& prior) {
  bool is_there = contender.has_value();
  archive(is_there);
  if (archive.is_reading()) contender.reset();
  if (!is_there) return;
  archive.expect(num_channels_ > 0, "a fit without a channel");
  std::int64_t waits_for = contender ? contender->waits_for : 0;
  std::string law;
  std::vector<Index> periods;
  if (contender) {
    const Estimate& estimate = contender->learner.working();
    law = estimate.law->name();
    for (const Matrix& profile : estimate.season.profiles()) periods.push_back(profile.cols());
  }
  bool remembers = contender && contender->report.memory.is_long;
  archive(waits_for, remembers, law, periods);
  archive.expect(is_count(waits_for) || waits_for == Contender::kNever,
                 "an invalid number of observations");
  if (!contender) {
    Estimate blank = blank_estimate(archive, num_channels_, prior, law, periods);
    auto engine = is_between_rounds()
                      ? round_engine_for(blank)
                      : engine_for(blank, config_.seed,
                                   std::make_shared<ThreadPool>(config_.engine.num_threads));
    contender.emplace(Contender{waits_for,
                                {},
                                OnlineEm(std::move(engine), std::move(blank),
                                         learner_options(prior, {}, waits_for, remembers))});
  }
  archive(contender->report, contender->learner, contender->guard, contender->outliers,
          contender->first_outlier);
  const Index guarded = contender->guard.num_channels();
  archive.expect(guarded == 0 || guarded == num_channels_, "largest counts of other channels");
}

Estimate Session::Fit::blank_estimate(const StateArchive& archive, Index num_channels,
                                      const AnyPrior& prior, const std::string& law,
                                      const std::vector<Index>& periods) const {
  archive.expect(std::ranges::find(law_table(), law, &LawInfo::name) != law_table().end(),
                 "an unknown law of the counts");
  archive.expect(
      std::ssize(periods) <= kMostPeriods &&
          std::ranges::all_of(periods,
                              [](Index period) { return period >= 2 && period <= kLongestPeriod; }),
      "an invalid period");
  CountsConfig counts = config_.counts;
  counts.law = law;
  counts.parameters.clear();
  const Index columns = config_.num_components + (config_.background ? 1 : 0);
  return {Matrix::Ones(num_channels, columns), prior, make_law(num_channels, counts),
          Season::flat(config_.num_components, periods)};
}

void Session::Fit::finish() {
  if (is_finished_) throw UsageError("the fit is finished already");
  if (observations_ == 0) throw InputError("there are no observations");
  if (config_.method == Method::kBatch) {
    run_batch();
  } else {
    if (is_by_rounds()) {
      if (!is_driven_) go_on_by_rounds(true);
      position_ = config_.season.phase - 1;  // the next sequence begins anew
    } else {
      catch_up();
      if (has_look_to_take()) look();  // it was interrupted
      end_race_if_over();
      if (!is_settled_) settle(held_back_);
    }
    leader_->finish();
    standard_errors_ = standard_errors();
    record(observations_, log_likelihood_, true);
    collect_rows();
  }
  is_finished_ = true;
  if (is_elsewhere_) return;
  refuse_infinite_estimate();
  remember_past();
}

// What a filter at the average was to predict is no part of what a fit remembers.
void Session::Fit::collect_rows() {
  SharedChannels* const shared = SharedChannels::of_own_rows();
  if (shared == nullptr) return;
  leader_->average.reset();
  leader_->learner.collect_rows(*shared);
  is_elsewhere_ = shared->ranks().rank() > 0;
}

// Counts, exposures or starting values beyond what arithmetic can hold.
void Session::Fit::refuse_infinite_estimate() const {
  const Estimate estimate = batch_ ? batch_->estimate : leader_->learner.reported();
  const Estimate last = batch_ ? batch_->last : leader_->learner.last();
  if (estimate.is_finite() && last.is_finite()) return;
  throw InputError(
      "the fit has not led to a finite estimate: counts, exposures or starting values are too "
      "large "
      "or too small for arithmetic");
}

std::unique_ptr<Engine> Session::Fit::engine_for(const Estimate& estimate, std::uint64_t seed,
                                                 std::shared_ptr<const ThreadPool> pool) const {
  return make_engine({config_, estimate, seed, std::move(pool), true});
}

void Session::Fit::leave_out_giants() {
  Record kept = without_lone_giants(held_back_);
  for (Index t = 0; t < kept.size(); ++t) {
    const bool is_left_out = held_back_[t].any_seen() && !kept[t].any_seen();
    if (is_left_out && batch_outliers_++ == 0) first_batch_outlier_ = t + 1;
  }
  held_back_ = std::move(kept);
}

void Session::Fit::run_batch() {
  trace_ = new_trace(config_);
  if (guards()) leave_out_giants();
  const auto tell = [&](std::int64_t iteration, double log_likelihood, const Estimate& estimate) {
    const Vector values = trace_values(estimate);
    if (trace_.is_due(iteration)) trace_.add({iteration, log_likelihood, values, values});
    if (on_iteration.get()) on_iteration.get()(iteration, log_likelihood, estimate);
  };
  Start start = find_start(held_back_, {});
  batch_report_ = std::move(start.report);
  const AnyPrior& prior = start_prior(start.estimate.prior.name());
  const BatchEmOptions options = batch_options(prior, start.expectation);
  const EngineKind kind = choose_engine(config_, prior, num_channels_).kind;
  if (kind == EngineKind::kExact && !drifts(start.estimate.law)) {
    batch_ = batch_em(held_back_, std::move(start.estimate), options, tell);
  } else {
    const auto pool = std::make_shared<ThreadPool>(config_.engine.num_threads);
    const auto engine_of_iteration = [&](const Estimate& estimate, std::int64_t iteration) {
      const std::uint64_t seed = config_.seed + (static_cast<std::uint64_t>(iteration) << 32);
      return engine_for(estimate, seed, pool);
    };
    batch_ =
        monte_carlo_em(held_back_, std::move(start.estimate), options, engine_of_iteration, tell);
  }
  trace_.add_last({batch_->iterations, batch_->log_likelihood.back(),
                   trace_values(batch_->estimate), trace_values(batch_->last)});
}

void Session::Fit::record(std::int64_t t, double log_likelihood, bool is_end) {
  const OnlineEm& learner = leader_->learner;
  TraceRow row{t, log_likelihood, {}, {}};
  if (is_traced(learner.working().basis)) {
    row.reported = trace_values(learner.reported_but_law());
    row.last = trace_values(learner.last());
  } else {
    row.reported = trace_values(learner.reported_prior());
    row.last = trace_values(learner.working().prior);
  }
  if (is_end) {
    trace_.add_last(std::move(row));
  } else {
    trace_.add(std::move(row));
  }
}

double Session::Fit::log_likelihood() const {
  if (batch_) return batch_->log_likelihood.back();
  return log_likelihood_;
}

const Contender& Session::Fit::started() const {
  if (!leader_) throw UsageError("there is no estimate before the start of the fit");
  return *leader_;
}

Vector Session::Fit::filtered_activation() const {
  if (is_between_rounds()) return activation_between_rounds();
  return started().filtered_activation().head(config_.num_components);
}

Matrix Session::Fit::forecast(Index horizon) const {
  if (is_between_rounds()) return forecast_means(*engine_of_next_sequence(), horizon);
  return forecast_means(started().engine(), horizon);
}

Forecast Session::Fit::forecast(const ForecastOptions& options) const {
  if (is_between_rounds()) return {*engine_of_next_sequence(), options};
  return {started().engine(), options};
}

Model Session::Fit::model() const {
  if (!leader_ && !batch_) throw UsageError("there is no model before the start of the fit");
  if (is_elsewhere_) throw UsageError("the first rank has the model");
  Model model(batch_ ? batch_->estimate : leader_->learner.reported(),
              batch_ ? batch_->last : leader_->learner.last());
  if (leader_ && !model.reported.season.empty()) {
    const std::vector<Matrix> of_channels = leader_->learner.engine().channel_profiles();
    model.reported.season.set_channel_profiles(of_channels);
    model.last.season.set_channel_profiles(of_channels);
  }
  model.background = config_.background;
  model.names = names_;
  const EngineChoice choice = engine();
  model.engine = choice.kind;
  model.engine_reason = choice.reason;
  model.lost_mass = batch_ ? 0 : leader_->learner.mean_lost_mass();
  if (choice.kind == EngineKind::kParticle) {
    model.proposal = health_.was_guided() ? ProposalKind::kGuided
                                          : choose_proposal(config_, prior(), num_channels_);
    model.effective_part = health_.mean_part();
  }
  model.method = config_.method;
  model.keeps_its_start = is_continued_ || waits_for_search();
  model.seed = config_.seed;
  model.version = version();
  model.observations = observations_;
  model.impossible_observations = batch_ ? batch_->impossible_observations : impossible_;
  model.outliers = batch_ ? batch_outliers_ : leader_->outliers;
  model.first_outlier = batch_ ? first_batch_outlier_ : leader_->first_outlier;
  model.revivals = batch_ ? 0 : leader_->learner.revivals();
  model.iterations = batch_ ? batch_->iterations : leader_->learner.m_steps();
  model.converged = batch_ && batch_->converged;
  model.log_likelihood = log_likelihood();
  model.log_likelihood_after_start = log_likelihood_after_start_;
  model.observations_after_start = observations_after_start_;
  if (!is_by_rounds()) model.over_running_mean = against_mean_.gain();
  model.options = describe(config_);
  model.state = past_;
  model.standard_errors = standard_errors_;
  model.choice_of_prior = start_report().priors;
  for (const Parameter& parameter : prior().parameters()) {
    model.options.emplace_back("start-" + parameter.name,
                               fmt::format("{}", fmt::join(as_span(parameter.value), ",")));
  }

  const std::vector<TraceRow>& rows = trace_.rows();
  model.trace.names = trace_names(model.last, model.background);
  const auto num_rows = static_cast<Index>(rows.size());
  const auto num_values = static_cast<Index>(model.trace.names.size());
  model.trace.t.resize(num_rows);
  model.trace.log_likelihood.resize(num_rows);
  model.trace.reported.resize(num_rows, num_values);
  model.trace.last.resize(num_rows, num_values);
  for (Index i = 0; i < num_rows; ++i) {
    model.trace.t[i] = static_cast<double>(rows[i].t);
    model.trace.log_likelihood[i] = rows[i].log_likelihood;
    model.trace.reported.row(i) = rows[i].reported;
    model.trace.last.row(i) = rows[i].last;
  }
  return model;
}

}  // namespace headwater
