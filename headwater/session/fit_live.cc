#include <fmt/format.h>

#include <utility>

#include "headwater/error.hpp"
#include "headwater/learning/activation_law.hpp"
#include "headwater/session/fit.hpp"

// How a stream is taken in from its first observation on. One fit leads: what it predicts is
// published at once and never again. While the first observations come, other starts are found from
// more of them. The fit from a new start takes in what has come without a word, and then leads, or
// first shows that it predicts what comes next better than the one that leads.

namespace headwater {

namespace {

// While observations are taken in again, whoever listens is told every so many.
constexpr Index kTellEvery = 64;

}  // namespace

void Session::Fit::add(const Observation& y) {
  if (config_.method == Method::kBatch) {
    held_back_.add(y);
    return;
  }
  if (is_by_rounds()) {
    add_by_rounds(y);
    return;
  }
  if (!leader_ && held_back_.empty()) begin();
  if (is_settled_ && held_back_.empty()) {
    keep_for_looks(y);
    take_in(y);
    if (has_look_to_take()) {
      tell_of_start();
      look();
    }
    return;
  }
  held_back_.add(y);
  catch_up();
}

void Session::Fit::begin() {
  length_of_start_ = wants_to_hold_back() ? num_to_hold_back() : 0;
  if (!start_is_given()) return;
  is_settled_ = length_of_start_ == 0;
  if (is_between_rounds()) {
    leader_.emplace(round_contender(provisional_start(held_back_), 0));
    return;
  }
  leader_.emplace(
      contender(provisional_start(held_back_), held_back_, is_settled_ ? 0 : Contender::kNever));
}

// Takes in what is held back, with a new start wherever one is due. If a callback throws, the next
// call goes on from there: an observation is counted before it is taken in, so that none is taken
// in twice.
void Session::Fit::catch_up() {
  climb_if_due();
  while (num_taken_in_ < held_back_.size()) {
    take_in(held_back_[num_taken_in_++]);
    climb_if_due();
  }
  if (!is_settled_ || held_back_.empty()) return;
  if (takes_looks_) std::swap(looked_at_, held_back_);
  held_back_.clear();
  num_taken_in_ = 0;
}

void Session::Fit::climb_if_due() {
  const Index n = num_taken_in_;
  if (is_settled_ || n == climbed_) return;
  const RecordView seen = held_back_.first(n);
  take_up_means(seen);
  switch (rung_at(n, length_of_start_, searches())) {
    case Rung::kNone:
      return;
    case Rung::kProvisional:
      if (!leader_->is_provisional() || rival_) return;
      tell_of_start();
      leader_.emplace(contender(provisional_start(seen), seen, Contender::kNever));
      break;
    case Rung::kSearch:
      tell_of_start();
      rival_.emplace(contender(find_start(seen, SearchEffort::light()), seen, n));
      race_ = Race::after(n, 0);
      has_searched_ = true;
      break;
    case Rung::kFull:
      if (is_by_rounds()) return;  // the sequence is to end before
      settle(seen);
      break;
  }
  climbed_ = n;
}

// A mean that is late by a few observations is worth nats where counts come in bursts.
void Session::Fit::take_up_means(const RecordView& seen) {
  if (start_is_given() || seen.size() == 0 || !is_mean_due(seen.size(), seen[0].num_channels()))
    return;
  keep_prediction();
  for (std::optional<Contender>* const contender : {&leader_, &rival_}) {
    if (!*contender || !(*contender)->is_provisional()) continue;
    const Estimate now = provisional_start(seen).estimate;
    (*contender)->learner.set_emission(now.basis, now.law);
  }
}

void Session::Fit::settle(const RecordView& observations) {
  tell_of_start();
  Start start = find_start(observations, {});
  const AnyPrior& prior = start_prior(start.estimate.prior.name());
  takes_looks_ = may_take_looks(start.estimate);
  Contender last = contender(std::move(start), observations, num_to_hold_back(prior));
  const std::string before = this->prior().name();
  rival_.reset();
  if (has_searched_) {
    rival_ = std::move(leader_);
    race_ = Race::after(observations.size(), Race::kClearly);
  }
  leader_.emplace(std::move(last));
  begin_trace_if_new(before);
  is_settled_ = true;
  even_factors_ = {};  // they may be as large as the basis
}

void Session::Fit::tell_of_start() {
  if (on_start.get()) on_start.get()();
  keep_prediction();
}

void Session::Fit::keep_prediction() {
  if (keeps_predictions_ && !prediction_before_m_step_) {
    prediction_before_m_step_ =
        kept_prediction_of(leader_->engine(), leader_->learner.observations());
  }
}

Contender Session::Fit::contender(Start start, const RecordView& observations,
                                  std::int64_t waits_for, StepReport* report) const {
  auto engine = engine_for(start.estimate, config_.seed,
                           std::make_shared<ThreadPool>(config_.engine.num_threads));
  const AnyPrior& prior = start_prior(start.estimate.prior.name());
  const bool remembers = start.report.memory.is_long;
  Contender made{waits_for, std::move(start.report),
                 OnlineEm(std::move(engine), std::move(start.estimate),
                          learner_options(prior, start.expectation, waits_for, remembers))};
  for (Index t = 0; t < observations.size(); ++t) {
    if (on_search.get() && t % kTellEvery == kTellEvery - 1) on_search.get()(1, 1);
    const StepReport last = step(made, observations[t]);
    if (report != nullptr) *report = last;
  }
  return made;
}

StepReport Session::Fit::step(Contender& contender, const Observation& y,
                              const OnlineEm::BeforeMStep& before_m_step) const {
  StepReport report;
  if (is_let_in(contender, y)) {
    report = contender.step(y, predicts_by_average(), before_m_step);
  } else {
    Observation missing;
    missing.assign_missing(y.num_channels());
    missing.set_position(y.position());
    missing.set_begins_sequence(y.begins_sequence());
    missing.set_time(y.time());
    report = contender.step(missing, predicts_by_average(), before_m_step);
    report.is_outlier = true;
  }
  report.observation = &y;
  return report;
}

bool Session::Fit::is_let_in(Contender& contender, const Observation& y) const {
  if (!guards() || !contender.guard.suspects(y)) return true;
  const OnlineEm& learner = contender.learner;
  const Emission& emission = learner.engine().emission();
  Vector x = Vector::Ones(emission.num_columns());
  x.head(config_.num_components) = mean_activation(prior_of(contender));
  if (learner.observations() > 0) x = x.cwiseMax(learner.engine().filtered_activation());
  const std::int64_t t = learner.observations() + 1;
  if (!contender.guard.refuses(y, emission.at(y.position()), x, t)) return true;
  if (contender.outliers++ == 0) contender.first_outlier = t;
  return false;
}

void Session::Fit::take_in(const Observation& y) {
  prediction_before_m_step_.reset();
  const bool is_blind = !has_seen_a_cell_ && !start_is_given();
  has_seen_a_cell_ = has_seen_a_cell_ || y.any_seen();
  StepReport report = is_blind ? first_step() : predicted_step(y);
  report.observation = &y;
  report.is_blind = is_blind;
  publish(report);
  if (law_is_chosen_ && against_mean_.is_far_behind()) widen_law();
}

// Nothing was known before it, so the fit that takes it in is made from it, and has not predicted
// it.
StepReport Session::Fit::first_step() {
  const RecordView seen = held_back_.first(num_taken_in_);
  StepReport report;
  leader_.emplace(contender(provisional_start(seen), seen, Contender::kNever, &report));
  report.filter.log_predictive =
      report.is_outlier ? 0 : log_probability_of_first(seen[num_taken_in_ - 1]);
  report.filter.impossible = false;
  return report;
}

void Session::Fit::end_race_if_over() {
  if (!rival_ || !race_.is_over(leader_->learner.observations())) return;
  const std::string before = prior().name();
  if (race_.rival_wins()) std::swap(leader_, rival_);
  rival_.reset();
  begin_trace_if_new(before);
}

// Parameters of another prior have no place in the trace, nor have its particles in their report.
void Session::Fit::begin_trace_if_new(const std::string& prior_before) {
  if (prior().name() == prior_before) return;
  trace_.take_up({}, 1);
  health_ = {};
}

StepReport Session::Fit::predicted_step(const Observation& y) {
  end_race_if_over();
  OnlineEm::BeforeMStep before_m_step;
  if (keeps_predictions_) {
    before_m_step = [&](const StepReport& report) {
      prediction_before_m_step_ = kept_prediction_of(leader_->engine(), report.t);
    };
  }
  is_torn_ = true;
  const StepReport report = step(*leader_, y, before_m_step);
  if (rival_) race_.add(report.filter, step(*rival_, y).filter);
  is_torn_ = false;
  return report;
}

void Session::Fit::publish(StepReport& report) {
  report.in_start = report.t <= length_of_start_;
  report.provisional = !has_searched_ && !is_settled_;
  if (report.filter.impossible) {
    ++impossible_;
  } else {
    log_likelihood_ += report.filter.log_predictive;
    if (!report.in_start) {
      ++observations_after_start_;
      log_likelihood_after_start_ += report.filter.log_predictive;
    }
  }
  if (const ParticleReport* particles = report.filter.particles()) {
    health_.add(*particles, config_.engine.num_particles);
  }
  against_mean_.add(report, losses_that_count());
  if (trace_.is_due(report.t)) record(report.t, log_likelihood_, false);
  if (on_step.get()) on_step.get()(report);
  if (report.filter.impossible && config_.strict) {
    throw InputError(
        fmt::format("observation {} is impossible under the parameters of its time", report.t));
  }
}

Prediction Session::Fit::prediction() const {
  if (is_between_rounds()) {
    throw UsageError("a fit by rounds does not keep how single observations were predicted");
  }
  if (prediction_before_m_step_) return *prediction_before_m_step_;
  return prediction_of(started().engine(), started().learner.observations());
}

}  // namespace headwater
