#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "headwater/core/state_checks.hpp"
#include "headwater/error.hpp"
#include "headwater/law_table.hpp"
#include "headwater/learning/estimate.hpp"
#include "headwater/session/fit.hpp"
#include "headwater/session/options.hpp"
#include "headwater/simulate.hpp"

// How a fit that has ended goes on: what its model remembers, and how another fit takes that up.

namespace headwater {

namespace {

constexpr std::int32_t kPastFormat = 2;

// Observations that are drawn from a model without statistics, to have some.
constexpr std::int64_t kFewestImagined = 500;
constexpr std::int64_t kMostImagined = 2000;

// Options of the model itself, and of the engine whose state it has: a fit that continues it has
// the same.
constexpr const char* kKept[] = {
    "components", "prior",          "per-component", "background",       "counts",
    "dispersion", "period",         "scale-in",      "paper-exact",      "engine",
    "proposal",   "particles",      "beam-width",    "smoother",         "backward",
    "lag",        "backward-draws", "block",         "window-tolerance", "standard-errors",
    "round",
};

std::string recorded(const Model& model, const std::string& option) {
  const auto found =
      std::ranges::find(model.options, option, &std::pair<std::string, std::string>::first);
  return found == model.options.end() ? "" : found->second;
}

// What the fit found or chose may be asked for again in the words that it was found by.
Config with_findings_of(const Model& model, Config config) {
  Config own = config_of(model);
  own.counts.law = model.last.law->name();
  if (config.prior.name == PriorConfig::kAuto) config.prior.name = own.prior.name;
  if (config.counts.law == CountsConfig::kAuto) config.counts.law = own.counts.law;
  if (config.engine.kind == EngineKind::kAuto || config.engine.kind == model.engine) {
    config.engine.kind = own.engine.kind;
  }
  if (config.engine.proposal == ProposalKind::kAuto || config.engine.proposal == model.proposal) {
    config.engine.proposal = own.engine.proposal;
  }
  const Option<Config>& period = *find_by_name(config_options(), "period");
  if (period.get(config) == recorded(model, "period")) config.season.periods = own.season.periods;
  for (const char* name : kKept) {
    const Option<Config>& row = *find_by_name(config_options(), name);
    if (row.get(config) == row.get(own)) continue;
    const std::string text = row.get(own);
    throw UsageError(fmt::format("{} is {}; the model that is continued has {}", name,
                                 row.get(config), text.empty() ? "none" : text));
  }
  if (config.method == Method::kBatch) {
    throw UsageError("method batch cannot continue a model; it goes on with method online");
  }
  if (config.restarts > 1) throw UsageError("restarts cannot go with a model that is continued");
  config.initial_basis = own.initial_basis;
  return config;
}

double finite_or_zero(double value) { return std::isfinite(value) ? value : 0; }

// Makes an M-step lead to the estimate, with the weight of so many observations, where the
// statistics were of a few that were drawn from it.
void settle_on(const MStepOptions& options, const Estimate& estimate, std::int64_t observations,
               Statistics& statistics) {
  Estimate led_to = estimate;
  const MStep m_step(options, estimate.basis, estimate.prior);
  m_step.update_basis(statistics, led_to.basis);
  if (m_step.is_expanded()) m_step.update_prior(statistics, led_to.prior);
  const Matrix basis = with_unit_scale(std::move(led_to)).basis;
  statistics.s2.array() *= (basis.array() > 0 && estimate.basis.array() > 0)
                               .select(estimate.basis.array() / basis.array(), 1);
  statistics.squared_weights = 1 / static_cast<double>(std::max<std::int64_t>(observations, 1));
  for (std::size_t i = 0; i < statistics.phases.size(); ++i) {
    PhaseSums& sums = statistics.phases[i];
    sums.counts = sums.expected.cwiseProduct(estimate.season.profiles()[i]);
  }
}

}  // namespace

Config config_of(const Model& model) {
  Config config;
  for (const auto& [name, text] : model.options) {
    const Option<Config>* row = find_by_name(config_options(), name);
    const bool is_elsewhere = name == "init" || name == "method" || name == "period";
    if (row == nullptr || is_elsewhere || text.empty()) continue;
    try {
      const bool is_list = std::holds_alternative<NameList>(row->kind);
      for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end =
            is_list ? std::min(text.find(',', begin), text.size()) : text.size();
        set_from_text(*row, config, text.substr(begin, end - begin));
        begin = end + 1;
      }
    } catch (const UsageError& error) {
      throw InputError(fmt::format("/options/{}: {}", name, error.what()));
    }
  }
  config.num_components = model.num_components();
  config.prior.name = model.last.prior.name();
  config.prior.parameters = model.last.prior.constants();
  for (Parameter& parameter : model.last.prior.parameters()) {
    config.prior.parameters.push_back(std::move(parameter));
  }
  config.counts.law = CountsConfig::kAuto;  // the model's, until a chosen one proves too narrow
  config.seed = model.seed;
  config.background = model.background;
  for (const Matrix& profile : model.last.season.profiles()) {
    config.season.periods.push_back({.steps = profile.cols()});
  }
  // Batch EM has learned none, and has no statistics for them.
  if (model.method == Method::kBatch && !config.season.periods.empty()) {
    config.m_step.held_parameters.emplace_back(kChannelProfile);
  }
  // What is recorded is what took effect, so that nobody knows whether it was asked for.
  Config automatic = config;
  automatic.average = Average::kAuto;
  if (automatic.averages() == config.averages()) config.average = Average::kAuto;
  config.initial_basis = model.last.basis;
  return config;
}

Session::Fit::Fit(const Model& model, const Config& config, const Continuation& how)
    : Fit(with_findings_of(model, config), model.last.prior, true) {
  if (how.forget < 0) {
    throw UsageError(fmt::format("forget is {}; expected 0 or more", how.forget));
  }
  num_channels_ = model.num_channels();
  set_names(model.names);
  is_settled_ = true;
  has_searched_ = true;
  has_seen_a_cell_ = true;
  const bool is_readable = !model.state.empty() && model.version == version();
  if (is_readable) {
    take_up_past(model);
  } else {
    imagine_past(model);
  }
  law_is_chosen_ = law_is_chosen_ && config.counts.law == CountsConfig::kAuto;
  reported_ = observations_;
  if (!how.follows_on || is_by_rounds()) {
    begins_anew_ = true;
    position_ = config_.season.phase - 1;
  }
  if (how.forget > 0) forget_all_but(how.forget);
}

void Session::Fit::forget_all_but(std::int64_t observations) {
  leader_->learner.forget_all_but(observations);
  if (grows_from_ <= observations) return;
  grows_from_ = observations;
  leader_->learner.set_step_size(learner_options(prior(), {}, 0).step_size);
}

// Of a fit that has ended. Batch EM has no statistics that weigh observations alike; one more
// E-step finds them.
void Session::Fit::remember_past() {
  if (batch_) {
    const auto pool = std::make_shared<ThreadPool>(config_.engine.num_threads);
    auto engine = engine_for(batch_->estimate, config_.seed, pool);
    OutlierGuard guard;
    BlockStatistics blocks;
    for (Index t = 0; t < held_back_.size(); ++t) {
      const double weight = 1 / static_cast<double>(t + 1);
      follow(*engine, blocks, [&] {
        blocks.expect(weight);
        engine->step(held_back_[t], weight);
      });
      guard.suspects(held_back_[t]);
    }
    follow(*engine, blocks, [&] { engine->finish(); });
    leader_.emplace(
        Contender{0,
                  {},
                  OnlineEm(std::move(engine), batch_->estimate, learner_options(prior(), {}, 0)),
                  guard});
    leader_->learner.set_past({.observations = observations_});
    standard_errors_ = errors_of(leader_->learner, batch_->estimate, blocks);
    leader_->outliers = batch_outliers_;
    leader_->first_outlier = first_batch_outlier_;
    log_likelihood_ = batch_->log_likelihood.back();
    impossible_ = batch_->impossible_observations;
    held_back_.clear();
  }
  length_of_start_ = std::min(length_of_start_, observations_);
  if (!is_continued_) {
    is_after_search_ = waits_for_search() || trusts_given_start() || batch_.has_value();
    even_beginning_ = std::clamp<std::int64_t>(leader_->waits_for, 1, observations_);
  }
  StateArchive archive;
  exchange_past(archive);
  past_ = archive.take_bytes();
  if (batch_) leader_.reset();
}

void Session::Fit::exchange_past(StateArchive& archive) {
  std::int32_t format = kPastFormat;
  std::int64_t interval = trace_.every();
  archive(format);
  archive.expect(format == kPastFormat, "another format");
  archive(observations_, log_likelihood_, impossible_, health_, length_of_start_,
          observations_after_start_, log_likelihood_after_start_, position_, is_after_search_,
          law_is_chosen_, even_beginning_, grows_from_, interval);
  if (is_by_rounds()) {
    archive(sequences_);
    archive.expect(is_count(sequences_), "an invalid number of sequences");
  }
  archive.expect(is_count(observations_) && is_count(impossible_) && is_count(length_of_start_) &&
                     is_count(observations_after_start_) && is_count(even_beginning_) &&
                     is_count(grows_from_),
                 "an invalid number of observations");
  archive.expect(std::isfinite(log_likelihood_) && std::isfinite(log_likelihood_after_start_),
                 "a log-likelihood that is not finite");
  archive.expect(position_ >= -1, "an invalid position");
  archive.expect(interval > 0 && interval <= kMostObservations, "a trace without an interval");
  if (archive.is_reading()) {
    trace_.take_up({}, interval);
    choose_steps();
  }
  exchange_contender(archive, leader_, prior());
}

void Session::Fit::take_up_past(const Model& model) {
  StateArchive archive(model.state);
  exchange_past(archive);
  archive.expect_end();
  archive.expect(leader_.has_value() && leader_->learner.observations() == observations_,
                 "another number of observations");
  const Estimate last = leader_->learner.last();
  archive.expect(last.law->name() == config_.counts.law, "another law of the counts");
  archive.expect(last.season.profiles().size() == config_.season.periods.size(), "other periods");
  archive.expect(last.basis == model.last.basis,
                 "another basis than the model; without the dataset /state, the fit goes on from "
                 "the basis alone");
  leader_->waits_for = 0;
  leader_->report = {};
  take_up_trace(model);
  if (grows_from_ > 0) leader_->learner.begin_from_average();
}

// Where nobody asked for step sizes, a start was searched for and iterates are averaged, the fit
// goes on from the average, which weighs as much as all observations so far. From there steps are
// no larger than they have to be: with those of a new fit, which are to get away from its start, it
// would soon predict worse than the model that it went on from. Where statistics are not in one
// place, they cannot be replaced, and step sizes go on as they were.
void Session::Fit::choose_steps() {
  const SmootherKind smoother = config_.smoother;
  const bool can_be_replaced =
      !config_.paper_exact && smoother != SmootherKind::kPath && smoother != SmootherKind::kForward;
  const bool is_free =
      is_after_search_ && config_.step_size.is_automatic() && config_.averages() && can_be_replaced;
  if (!is_free) {
    grows_from_ = 0;
  } else if (grows_from_ == 0) {
    grows_from_ = observations_;
  }
}

// The trace of a batch fit counts iterations, and that of another version may have other columns.
void Session::Fit::take_up_trace(const Model& model) {
  const TraceTable& table = model.trace;
  const bool fits = model.method == Method::kOnline &&
                    table.last.cols() == trace_values(leader_->learner.last()).size() &&
                    table.reported.cols() == table.last.cols();
  if (!fits) return;
  std::vector<TraceRow> rows;
  for (Index i = 0; i < table.t.size(); ++i) {
    const bool is_time = table.t[i] >= 0 && table.t[i] <= static_cast<double>(observations_);
    if (!is_time) return;
    rows.push_back({static_cast<std::int64_t>(table.t[i]), table.log_likelihood[i],
                    table.reported.row(i), table.last.row(i)});
  }
  trace_.take_up(std::move(rows), trace_.every());
}

// A model of an older version, or of one's own making, has an estimate and no statistics. They are
// made up: from observations that are drawn from the model, with the weight of those that it was
// fitted to. Nothing is known of the activations at its end.
void Session::Fit::imagine_past(const Model& model) {
  const Estimate& estimate = model.reported;
  observations_ = std::clamp<std::int64_t>(model.observations, 1, kMostObservations);
  observations_after_start_ =
      std::clamp<std::int64_t>(model.observations_after_start, 0, observations_);
  length_of_start_ = observations_ - observations_after_start_;
  log_likelihood_after_start_ = finite_or_zero(model.log_likelihood_after_start);
  log_likelihood_ = finite_or_zero(model.log_likelihood);
  impossible_ = std::clamp<std::int64_t>(model.impossible_observations, 0, observations_);
  position_ = config_.season.phase + observations_ - 1;
  is_after_search_ = true;
  even_beginning_ = observations_;
  choose_steps();
  auto engine =
      engine_for(estimate, config_.seed, std::make_shared<ThreadPool>(config_.engine.num_threads));
  Simulator simulator(estimate.prior, estimate.emission(), config_.seed);
  Observation y;
  OutlierGuard guard;
  const std::int64_t length = std::clamp(observations_, kFewestImagined, kMostImagined);
  for (std::int64_t t = 0; t < length; ++t) {
    simulator.next();
    std::vector<double> counts = simulator.observation();
    for (double& count : counts) count = std::min(count, kLargestCount);
    y.assign(counts);
    y.set_position(t);
    engine->step(y, 1 / static_cast<double>(t + 1));
    guard.suspects(y);
  }
  engine->finish();
  if (Statistics* const statistics = engine->mutable_statistics()) {
    settle_on(m_step_options(prior(), {}), estimate, observations_, *statistics);
  }
  if (is_by_rounds()) {
    auto of_rounds = round_engine_for(estimate);
    *of_rounds->mutable_statistics() = engine->statistics();
    engine = std::move(of_rounds);
  }
  leader_.emplace(Contender{
      0, {}, OnlineEm(std::move(engine), estimate, learner_options(prior(), {}, 0)), guard});
  leader_->outliers = std::clamp<std::int64_t>(model.outliers, 0, observations_);
  leader_->first_outlier = std::clamp<std::int64_t>(model.first_outlier, 0, observations_);
  leader_->learner.set_past(
      {.observations = observations_,
       .revivals = std::clamp<std::int64_t>(model.revivals, 0, observations_)});
  begins_anew_ = true;
}

}  // namespace headwater
