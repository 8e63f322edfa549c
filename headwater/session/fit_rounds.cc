#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <utility>

#include "headwater/core/state_checks.hpp"
#include "headwater/engines/round_engine.hpp"
#include "headwater/error.hpp"
#include "headwater/law_table.hpp"
#include "headwater/learning/activation_law.hpp"
#include "headwater/session/fit.hpp"
#include "headwater/session/round_state.hpp"

// A fit by rounds. Until a start is found, the stream is taken in one observation at a time, as any
// other; the start is found where a sequence ends. From there on, and from the first sequence on,
// sequences wait until a round of them is complete. Then all are filtered and smoothed from the
// same parameters, and one M-step follows.

namespace headwater {

namespace {

// The parameters do not change within a sequence, so that a smoother which goes back over a window
// may as well go back over the whole sequence, or over so much of it.
constexpr Index kLongestBlock = 1024;

// Random numbers of a sequence: an address that no other sequence has, nor the fit itself.
std::uint64_t seed_of(std::uint64_t seed, std::int64_t index) {
  return seed + ((static_cast<std::uint64_t>(index) + 1) << 32);
}

}  // namespace

std::string SequenceRound::State::bytes() const {
  State copy = *this;
  Index num_channels = estimate.basis.rows();
  std::string prior = estimate.prior.name();
  std::string law = estimate.law->name();
  std::vector<Index> periods;
  for (const Matrix& profile : estimate.season.profiles()) periods.push_back(profile.cols());
  StateArchive archive;
  archive.count(num_channels);
  archive(prior, law, periods, copy.estimate, copy.guard, copy.first, copy.observations,
          copy.num_reported, copy.wants_rows);
  return archive.bytes();
}

SequenceRound Session::Fit::round_of(const std::string& bytes) const {
  StateArchive archive(bytes);
  Index num_channels = 0;
  std::string prior;
  std::string law;
  std::vector<Index> periods;
  archive.count(num_channels);
  archive(prior, law, periods);
  auto state = std::make_shared<SequenceRound::State>(SequenceRound::State{
      .estimate = blank_estimate(archive, num_channels, start_prior(prior), law, periods)});
  archive(state->estimate, state->guard, state->first, state->observations, state->num_reported,
          state->wants_rows);
  archive.expect_end();
  archive.expect(
      is_count(state->first) && is_count(state->observations) && is_count(state->num_reported),
      "an invalid round");
  return SequenceRound(std::move(state));
}

// Nothing was seen, and a sequence is about to begin: the law of the activations is stationary.
Observation Session::Fit::before_a_sequence(const Season& season, Index num_channels) const {
  std::int64_t whole_periods = 1;
  for (const Matrix& profile : season.profiles()) whole_periods *= profile.cols();
  Observation nothing;
  nothing.assign_missing(num_channels);
  nothing.set_begins_sequence(true);
  nothing.set_position(config_.season.phase + whole_periods - 1);
  return nothing;
}

std::unique_ptr<Engine> Session::Fit::round_engine_for(const Estimate& estimate) const {
  const auto alone = std::make_shared<ThreadPool>(1);
  const auto smoothing = make_engine({config_, estimate, config_.seed, alone, true});
  auto filter = make_engine({config_, estimate, config_.seed, alone, false});
  filter->step(before_a_sequence(estimate.season, estimate.basis.rows()), 0);
  return std::make_unique<RoundEngine>(std::move(filter), smoothing->statistics());
}

Contender Session::Fit::round_contender(Start start, std::int64_t waits_for) const {
  auto engine = round_engine_for(start.estimate);
  const AnyPrior& prior = start_prior(start.estimate.prior.name());
  const bool remembers = start.report.memory.is_long;
  return {waits_for, std::move(start.report),
          OnlineEm(std::move(engine), std::move(start.estimate),
                   learner_options(prior, start.expectation, waits_for, remembers))};
}

void Session::Fit::refuse_without_rounds() const {
  if (!is_by_rounds()) throw UsageError("round is 0; a fit by rounds has a round of 1 or more");
}

bool Session::Fit::wants_start() const {
  return observations_ == 0 || (!is_settled_ && held_back_.size() < length_of_start_);
}

// The observations are taken in again, this time by rounds.
void Session::Fit::start_rounds(const RecordView& observations) {
  tell_of_start();
  Start start = find_start(observations, {});
  const AnyPrior& prior = start_prior(start.estimate.prior.name());
  Contender last = round_contender(std::move(start), num_to_hold_back(prior));
  const std::string before = this->prior().name();
  rival_.reset();
  leader_.emplace(std::move(last));
  begin_trace_if_new(before);
  is_settled_ = true;
  num_reported_ = std::ssize(observations.sequences());
  reported_ = observations.size();
  num_taken_in_ = 0;
}

void Session::Fit::begin_rounds() {
  refuse_without_rounds();
  if (observations_ == 0) throw InputError("there are no observations");
  if (sequences_ > 0) throw UsageError("the rounds of this fit have begun already");
  if (!is_settled_) start_rounds(held_back_);
  held_back_.clear();
  observations_ = reported_;
  is_driven_ = true;
}

void Session::Fit::add_by_rounds(const Observation& y) {
  if (is_driven_) {
    throw UsageError("this fit takes its sequences from the statistics of their rounds");
  }
  if (!leader_ && held_back_.empty()) begin();
  held_back_.add(y);
  go_on_by_rounds(false);
}

void Session::Fit::go_on_by_rounds(bool is_end) {
  tell_of_rows();
  if (!is_settled_) climb_if_due();
  while (!is_settled_ && num_taken_in_ < held_back_.size()) {
    const Index next = num_taken_in_;
    if (next > 0 && next >= length_of_start_ && held_back_[next].begins_sequence()) {
      start_rounds(held_back_.first(next));
    } else {
      ++num_taken_in_;
      take_in(held_back_[next]);
      climb_if_due();
    }
  }
  if (is_end && !is_settled_) start_rounds(held_back_);
  const bool may_be_complete = is_end || held_back_.last().begins_sequence();
  while (is_settled_ && may_be_complete && !held_back_.empty()) {
    const std::vector<Index> begins = RecordView(held_back_).sequences();
    const Index num_complete = std::ssize(begins) - (is_end ? 0 : 1);
    if (num_complete < config_.round && !is_end) return;
    const bool are_all = num_complete <= config_.round && is_end;
    run_round(are_all ? held_back_.size() : begins[static_cast<std::size_t>(config_.round)]);
  }
}

// The first so many of the observations that are held back.
void Session::Fit::run_round(Index num_observations) {
  const RecordView rows = held_back_.first(num_observations);
  const SequenceRound now = round();
  RoundSums sums = (run_.get() ? run_.get()(now, rows) : run_on_threads(now, rows)).tree().root();
  if (sums.observations != num_observations) {
    throw UsageError(fmt::format("the statistics of a round are of {} observations; expected {}",
                                 sums.observations, num_observations));
  }
  const Index num_new = sums.rows.empty() ? 0 : static_cast<Index>(sums.news.observations);
  for (Index t = num_observations - num_new; t < num_observations; ++t) untold_.add(rows[t]);
  untold_rows_ = std::move(sums.rows);
  if (num_new == 0) reported_ += sums.news.observations;
  enter_round(sums);
  held_back_.drop_first(num_observations);
  tell_of_rows();
  refuse_impossible(sums);
}

RoundStatistics Session::Fit::run_on_threads(const SequenceRound& round, const RecordView& rows) {
  const std::vector<Index> begins = rows.sequences();
  if (!pool_) pool_ = std::make_shared<ThreadPool>(config_.engine.num_threads);
  std::mutex mutex;
  RoundStatistics all;
  pool_->run(std::ssize(begins), [&](Index i) {
    const Index first = begins[static_cast<std::size_t>(i)];
    const Index end =
        i + 1 < std::ssize(begins) ? begins[static_cast<std::size_t>(i) + 1] : rows.size();
    const RoundStatistics own = statistics(round, rows.part(first, end - first), round.first() + i);
    const std::lock_guard lock(mutex);
    all.merge(own);
  });
  return all;
}

SequenceRound Session::Fit::round() const {
  refuse_without_rounds();
  if (!is_settled_) {
    throw UsageError("there is no round before the start of the fit; begin_rounds() finds it");
  }
  return SequenceRound(std::make_shared<SequenceRound::State>(SequenceRound::State{
      leader_->learner.working(), leader_->guard, sequences_, leader_->learner.observations(),
      num_reported_, on_step.get() != nullptr && !is_driven_}));
}

RoundStatistics Session::Fit::statistics(const SequenceRound& round, const RecordView& sequence,
                                         std::int64_t index) const {
  refuse_without_rounds();
  const SequenceRound::State& from = round.state();
  if (index < from.first || index >= from.first + config_.round) {
    throw UsageError(fmt::format("sequence {} is not in the round, which has {} to {}", index + 1,
                                 from.first + 1, from.first + config_.round));
  }
  if (sequence.size() == 0) throw InputError(fmt::format("sequence {} is empty", index + 1));
  if (sequence.num_channels() != from.estimate.basis.rows()) {
    throw InputError(fmt::format("sequence {} has {} channels; expected {}", index + 1,
                                 sequence.num_channels(), from.estimate.basis.rows()));
  }
  SequenceRun run = begin_sequence(from, sequence.size(), index);
  for (Index t = 0; t < sequence.size(); ++t) step_in_sequence(run, sequence[t], t);
  run.engine->finish();
  run.sums.set_means(run.engine->statistics(), sequence.size());
  return RoundStatistics(
      RoundStatistics::Tree(from.first, index - from.first, std::move(run.sums)));
}

Session::Fit::SequenceRun Session::Fit::begin_sequence(const SequenceRound::State& from,
                                                       Index length, std::int64_t index) const {
  Config config = config_;
  const EngineKind kind =
      choose_engine(config, from.estimate.prior, from.estimate.basis.rows()).kind;
  if (config.block == 0 && kind != EngineKind::kParticle) {
    config.block = std::min(length, kLongestBlock);
  }
  SequenceRun run{from, index >= from.num_reported,
                  make_engine({config, from.estimate, seed_of(config_.seed, index),
                               std::make_shared<ThreadPool>(1), true})};
  // Plain means over the visits to a phase: all are of the same parameters.
  if (Statistics* const means = run.engine->mutable_statistics()) {
    for (PhaseSums& phases : means->phases) phases.recency = 1;
  }
  run.sums.sequences = 1;
  run.sums.observations = length;
  run.sums.guard = from.guard;
  run.sums.guard.begin_sequence();
  return run;
}

void Session::Fit::step_in_sequence(SequenceRun& run, const Observation& y, Index t) const {
  run.placed = y;
  run.placed.set_position(config_.season.phase + t);
  const bool is_outlier = is_outlier_in_sequence(run, run.placed, t);
  if (is_outlier) {
    run.placed.assign_missing(y.num_channels());
    if (run.sums.outliers++ == 0) run.sums.first_outlier = t + 1;
  }
  const FilterStep step = run.engine->step(run.placed, 1 / static_cast<double>(t + 1));
  RoundSums& sums = run.sums;
  const double log_predictive = step.impossible ? 0 : step.log_predictive;
  sums.impossible += step.impossible ? 1 : 0;
  sums.log_likelihood += log_predictive;
  if (const BeamReport* beam = step.beam()) sums.lost_mass += beam->lost_mass;
  if (!run.is_new) return;
  ++sums.news.observations;
  if (step.impossible && sums.news.impossible++ == 0) {
    sums.news.first_impossible = sums.news.observations;
  }
  sums.news.log_likelihood += log_predictive;
  if (const ParticleReport* particles = step.particles()) {
    sums.news.health.add(*particles, config_.engine.num_particles);
  }
  if (!run.from.wants_rows) return;
  Vector x = run.engine->filtered_activation();
  if (run.from.estimate.prior.has_scale()) {
    const Vector scale = run.from.estimate.prior.scale();
    x.head(scale.size()).array() /= scale.array();
  }
  sums.rows.push_back({step, std::move(x), is_outlier});
}

bool Session::Fit::is_outlier_in_sequence(SequenceRun& run, const Observation& y, Index t) const {
  if (!guards() || !run.sums.guard.suspects(y)) return false;
  const Emission& emission = run.engine->emission();
  Vector x = Vector::Ones(emission.num_columns());
  x.head(config_.num_components) = mean_activation(run.from.estimate.prior);
  if (t > 0) x = x.cwiseMax(run.engine->filtered_activation());
  return run.sums.guard.refuses(y, emission.at(y.position()), x, run.from.observations + t + 1);
}

void Session::Fit::take_in_round(const RoundStatistics& round) {
  refuse_without_rounds();
  if (!is_driven_) throw UsageError("begin_rounds() comes before the statistics of a round");
  if (is_finished_) throw UsageError("the fit is finished; no round can be added");
  if (round.tree().first() != sequences_) {
    throw UsageError(fmt::format("the round begins with sequence {}; expected {}",
                                 round.tree().first() + 1, sequences_ + 1));
  }
  const RoundSums sums = round.tree().root();
  observations_ += sums.news.observations;
  enter_round(sums);
  reported_ += sums.news.observations;
  refuse_impossible(sums);
}

void Session::Fit::enter_round(const RoundSums& sums) {
  Contender& leader = *leader_;
  const std::int64_t before = leader.learner.observations();
  if (leader.outliers == 0 && sums.outliers > 0) leader.first_outlier = before + sums.first_outlier;
  leader.outliers += sums.outliers;
  leader.guard.merge(sums.guard);
  last_round_ = leader.learner.take_in(sums);
  sequences_ += sums.sequences;
  impossible_ += sums.news.impossible;
  log_likelihood_ += sums.news.log_likelihood;
  log_likelihood_after_start_ += sums.news.log_likelihood;
  observations_after_start_ += sums.news.observations - sums.news.impossible;
  health_.merge(sums.news.health);
  // Rows of the trace are at even distances, at the last of these.
  const std::int64_t now = leader.learner.observations();
  const std::int64_t due = now - now % trace_.every();
  if (due > before) record(due, log_likelihood_, false);
}

// Reports what the last round said of each observation. If a callback throws, the next call goes on
// with the observation after it.
void Session::Fit::tell_of_rows() {
  const Index count = untold_.size();
  while (num_told_ < count) {
    const Index i = num_told_++;
    const SequenceRow& row = untold_rows_[static_cast<std::size_t>(i)];
    StepReport report;
    report.t = ++reported_;
    report.observation = &untold_[i];
    report.filter = row.filter;
    report.step_size = last_round_.weight / static_cast<double>(count);
    report.is_outlier = row.is_outlier;
    report.updated = last_round_.updated && i + 1 == count;
    report.revived = i + 1 == count ? last_round_.revived : -1;
    told_activation_ = row.activation;
    if (on_step.get()) on_step.get()(report);
  }
  untold_rows_.clear();
  untold_.clear();
  num_told_ = 0;
}

void Session::Fit::refuse_impossible(const RoundSums& sums) const {
  if (!config_.strict || sums.news.impossible == 0) return;
  const std::int64_t before = reported_ - sums.news.observations;
  throw InputError(fmt::format("observation {} is impossible under the parameters of its time",
                               before + sums.news.first_impossible));
}

Vector Session::Fit::activation_between_rounds() const {
  return told_activation_.size() > 0 ? told_activation_.head(config_.num_components)
                                     : mean_activation(leader_->learner.last().prior);
}

// With the parameters as they are now.
std::unique_ptr<Engine> Session::Fit::engine_of_next_sequence() const {
  std::unique_ptr<Engine> engine = started().learner.engine().clone();
  engine->step(before_a_sequence(engine->emission().season(), num_channels_), 0);
  return engine;
}

void Session::Fit::exchange_rounds(StateArchive& archive) {
  if (!is_by_rounds()) return;
  archive(sequences_, num_reported_, reported_, is_driven_, untold_, untold_rows_,
          told_activation_);
  archive.count(num_told_);
  archive(last_round_.weight, last_round_.updated, last_round_.revived);
  archive.expect(is_count(sequences_) && is_count(num_reported_) && is_count(reported_),
                 "an invalid number of sequences");
  archive.expect(untold_.size() == std::ssize(untold_rows_) && num_told_ <= untold_.size() &&
                     (untold_.empty() || untold_.num_channels() == num_channels_),
                 "observations of a round that have no report");
  archive.expect(told_activation_.size() == 0 || told_activation_.size() >= config_.num_components,
                 "activations of the wrong number");
}

}  // namespace headwater
