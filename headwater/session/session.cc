#include "headwater/session/session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "headwater/core/error.hpp"
#include "headwater/engines/forecast.hpp"
#include "headwater/learning/initialise.hpp"
#include "headwater/learning/monte_carlo_em.hpp"
#include "headwater/session/engine_factory.hpp"
#include "headwater/session/registry.hpp"

namespace headwater {

namespace {

// How many observations a random start is scaled to.
constexpr std::int64_t kStartObservations = 100;

// The first M-step waits for so many observations where no start was searched for.
constexpr std::int64_t kBurnIn = 100;

constexpr double kExponentAfterSearch = 0.7;
constexpr double kRidgeAfterSearch = 0.15;

// Observations after which a component may be found idle.
constexpr std::int64_t kReviveAfter = 1000;

// Of a stream, enough to see how it went; of batch EM, every iteration as a rule.
constexpr Index kOnlineTraceRows = 256;
constexpr Index kBatchTraceRows = 100000;

MStepOptions m_step_options(const Config& config, const AnyPrior& prior) {
  MStepOptions options = config.effective_m_step();
  const bool has_particles =
      prior.is_finite() && engine_of(config, prior, 0).kind == EngineKind::kParticle;
  if (has_particles && !config.paper_exact) {
    options.transition_floor = std::min(0.1, 2 / static_cast<double>(config.engine.num_particles));
  }
  return options;
}

BatchEmOptions batch_options(const Config& config, const AnyPrior& prior) {
  BatchEmOptions options;
  options.max_iterations = config.iterations;
  options.tolerance = config.tolerance;
  options.unseen_past = !config.paper_exact;
  options.m_step = m_step_options(config, prior);
  return options;
}

void check_exposures(Observation y, std::int64_t t) {
  const std::span<const double> exposures = y.exposures();
  if (!exposures.empty() && exposures.size() != y.size()) {
    throw InputError(fmt::format("observation {} has {} channels and {} exposures", t, y.size(),
                                 exposures.size()));
  }
  for (std::size_t m = 0; m < exposures.size(); ++m) {
    if (exposures[m] >= 0 && std::isfinite(exposures[m])) continue;
    throw InputError(
        fmt::format("observation {}, channel {}: exposure {} found; exposures must be finite and 0 "
                    "or more",
                    t, m + 1, exposures[m]));
  }
}

Trace new_trace(const Config& config) {
  return Trace(config.trace_every,
               config.method == Method::kBatch ? kBatchTraceRows : kOnlineTraceRows);
}

}  // namespace

Session::Session(const Config& config)
    : Session(config, make_prior(config.num_components, config.prior)) {}

Session::Session(Config config, AnyPrior prior)
    : config_(std::move(config)), prior_(std::move(prior)), trace_(new_trace(config_)) {
  if (config_.num_components == 0) config_.num_components = prior_.num_components();
  config_.validate();
  if (prior_.num_components() != config_.num_components) {
    throw UsageError(fmt::format("the prior has {} components and {} were asked for",
                                 prior_.num_components(), config_.num_components));
  }
  const Parameters parameters = prior_.parameters();
  for (const std::string& name : config_.m_step.held_parameters) {
    if (find_parameter(parameters, name) == nullptr) {
      throw UsageError(
          fmt::format("prior '{}' has no parameter '{}' to hold", prior_.name(), name));
    }
  }
  check_engine(config_, prior_);
  check_start();
}

void Session::check_start() const {
  const Matrix& basis = config_.initial_basis;
  if (basis.size() == 0) return;
  const Index columns = config_.num_components + (config_.background ? 1 : 0);
  if (basis.cols() != config_.num_components && basis.cols() != columns) {
    throw InputError(
        fmt::format("the starting basis has {} columns; expected {}, one for each "
                    "component",
                    basis.cols(), config_.num_components));
  }
  if (!(basis.array().isFinite() && basis.array() >= 0).all()) {
    throw InputError("the starting basis has an entry that is negative or not finite");
  }
}

void Session::check(Observation y) {
  const auto size = static_cast<Index>(y.size());
  if (num_channels_ == 0) {
    if (size == 0) throw InputError("the first observation has no channels");
    const Matrix& basis = config_.initial_basis;
    if (basis.size() > 0 && basis.rows() != size) {
      throw InputError(fmt::format("the starting basis has {} rows and the data have {} channels",
                                   basis.rows(), size));
    }
    num_channels_ = size;
  }
  if (size != num_channels_) {
    throw InputError(fmt::format("observation {} has {} channels; expected {}", observations_ + 1,
                                 size, num_channels_));
  }
  for (Index m = 0; m < size; ++m) {
    if (y[m] < 0 || std::isinf(y[m])) {
      throw InputError(fmt::format(
          "observation {}, channel {}: {} found; observations must be finite and 0 or more",
          observations_ + 1, m + 1, y[m]));
    }
  }
  check_exposures(y, observations_ + 1);
}

Observation Session::with_unexposed_missing(Observation y) {
  seen_counts_.assign(y.begin(), y.end());
  for (std::size_t m = 0; m < seen_counts_.size(); ++m) {
    if (y.exposures()[m] == 0) seen_counts_[m] = std::numeric_limits<double>::quiet_NaN();
  }
  return {seen_counts_, y.exposures()};
}

bool Session::searches() const {
  return config_.init == Init::kAuto && config_.initial_basis.size() == 0 &&
         !config_.m_step.hold_basis && !config_.paper_exact;
}

Index Session::num_to_hold_back() const {
  return searches() ? start_buffer(num_channels_, prior_) : kStartObservations;
}

bool Session::wants_to_hold_back() const {
  if (config_.method == Method::kBatch) return true;
  const bool start_is_given =
      config_.initial_basis.cols() == config_.num_components + (config_.background ? 1 : 0);
  return !start_is_given && observations_ < num_to_hold_back();
}

void Session::update(Observation y) {
  if (is_finished_) throw UsageError("the fit is finished; no observation can be added");
  check(y);
  ++observations_;
  if (!y.exposures().empty()) y = with_unexposed_missing(y);
  if (learner_ && held_back_.empty()) {
    take_in(y);
    return;
  }
  held_back_.add(y);
  if (learner_) {
    take_in_held_back();
  } else if (!wants_to_hold_back()) {
    start();
  }
}

void Session::exchange(StateArchive& archive) {
  if (config_.method == Method::kBatch) {
    throw UsageError("batch EM keeps the whole record; only online fits can be put away");
  }
  bool has_started = learner_.has_value();
  archive.count(num_channels_);
  archive(observations_, is_finished_, held_back_, num_taken_in_, start_report_, health_, trace_);
  archive(has_started);
  if (!has_started) return;
  if (num_channels_ == 0) throw InputError("the saved state has started without a channel");
  if (!learner_) {
    const Index columns = config_.num_components + (config_.background ? 1 : 0);
    Estimate blank{Matrix::Ones(num_channels_, columns), prior_};
    auto engine = make_engine(config_, blank, config_.seed,
                              std::make_shared<ThreadPool>(config_.engine.num_threads));
    learner_.emplace(std::move(engine), std::move(blank), learner_options());
  }
  archive(*learner_);
}

void Session::finish() {
  if (is_finished_) throw UsageError("the fit is finished already");
  if (observations_ == 0) throw InputError("there are no observations");
  if (config_.method == Method::kBatch) {
    run_batch();
  } else {
    if (!learner_) start();
    take_in_held_back();
    learner_->finish();
    record(learner_->observations(), learner_->log_likelihood(), true);
  }
  is_finished_ = true;
}

Estimate Session::starting_estimate() {
  if (searches()) {
    const Index most = std::min<Index>(held_back_.record().size(), num_to_hold_back());
    StartSearch found = automatic_start(held_back_.record().first(most), prior_, config_.background,
                                        m_step_options(config_, prior_), config_.seed, on_search_);
    start_report_ = std::move(found.report);
    return std::move(found.estimate);
  }
  const Matrix rates = held_back_.record().rates();
  Matrix basis = config_.initial_basis.size() > 0 ? config_.initial_basis
                                                  : random_start(rates, prior_, config_.seed);
  if (config_.background && basis.cols() == config_.num_components) {
    basis.conservativeResize(Eigen::NoChange, basis.cols() + 1);
    basis.rightCols(1) = background_start(rates);
  }
  return {std::move(basis), prior_};
}

EngineChoice Session::engine() const { return engine_of(config_, prior_, num_channels_); }

// After a search the first M-step waits until what was searched is in, with equal weights: the
// start fits these observations already, and statistics of the latest of them would undo that. From
// there smaller steps suffice, lengthened by less, and bring less noise. Steps or a burn-in that
// somebody has asked for are taken as they are.
OnlineEmOptions Session::learner_options() const {
  OnlineEmOptions options;
  options.step_size = config_.step_size;
  options.burn_in = config_.burn_in > 0 ? config_.burn_in : kBurnIn;
  if (config_.step_size.is_automatic() && config_.burn_in == 0 && searches()) {
    options.burn_in = num_to_hold_back();
    options.step_size = StepSize::power(kExponentAfterSearch).with_even_beginning(options.burn_in);
    options.least_ridge = kRidgeAfterSearch;
  }
  options.average = config_.averages();
  options.rescue_short_streams = !config_.paper_exact;
  options.lengthen_steps = !config_.paper_exact;
  options.revive_after = config_.paper_exact ? 0 : kReviveAfter;
  options.seed = config_.seed;
  options.m_step = m_step_options(config_, prior_);
  return options;
}

void Session::start() {
  Estimate start = starting_estimate();
  auto engine = make_engine(config_, start, config_.seed,
                            std::make_shared<ThreadPool>(config_.engine.num_threads));
  learner_.emplace(std::move(engine), std::move(start), learner_options());
  take_in_held_back();
}

// Counted before it is taken in, so that none is taken in twice if a callback throws.
void Session::take_in_held_back() {
  if (held_back_.empty()) return;
  const Record record = held_back_.record();
  while (num_taken_in_ < record.size()) take_in(record[num_taken_in_++]);
  held_back_.clear();
  num_taken_in_ = 0;
}

void Session::take_in(Observation y) {
  const StepReport report = learner_->update(y);
  const bool has_particles = report.filter.unique_ancestors > 0;
  if (has_particles) health_.add(report.filter, config_.engine.num_particles);
  if (report.filter.impossible && config_.strict) {
    throw InputError(
        fmt::format("observation {} is impossible under the parameters of its time", report.t));
  }
  if (trace_.is_due(report.t)) record(report.t, learner_->log_likelihood(), false);
  if (on_step_) on_step_(report);
}

void Session::run_batch() {
  trace_ = new_trace(config_);
  const auto on_iteration = [&](std::int64_t iteration, double log_likelihood,
                                const Estimate& estimate) {
    const Vector values = trace_values(estimate);
    if (trace_.is_due(iteration)) trace_.add({iteration, log_likelihood, values, values});
    if (on_iteration_) on_iteration_(iteration, log_likelihood, estimate);
  };
  if (engine().kind == EngineKind::kExact) {
    batch_ = batch_em(held_back_.record(), starting_estimate(), batch_options(config_, prior_),
                      on_iteration);
  } else {
    const auto pool = std::make_shared<ThreadPool>(config_.engine.num_threads);
    const auto engine_of_iteration = [&](const Estimate& estimate, std::int64_t iteration) {
      const std::uint64_t seed = config_.seed + (static_cast<std::uint64_t>(iteration) << 32);
      return make_engine(config_, estimate, seed, pool);
    };
    batch_ = monte_carlo_em(held_back_.record(), starting_estimate(),
                            batch_options(config_, prior_), engine_of_iteration, on_iteration);
  }
  held_back_.clear();
  trace_.add_last({batch_->iterations, batch_->log_likelihood.back(),
                   trace_values(batch_->estimate), trace_values(batch_->last)});
}

void Session::record(std::int64_t t, double log_likelihood, bool is_end) {
  TraceRow row{t, log_likelihood, trace_values(learner_->reported()),
               trace_values(learner_->last())};
  if (is_end) {
    trace_.add_last(std::move(row));
  } else {
    trace_.add(std::move(row));
  }
}

double Session::log_likelihood() const {
  if (batch_) return batch_->log_likelihood.back();
  return learner_ ? learner_->log_likelihood() : 0;
}

const OnlineEm& Session::started() const {
  if (!learner_) throw UsageError("there is no estimate before the start of the fit");
  return *learner_;
}

Vector Session::filtered_activation() const {
  return started().filtered_activation().head(config_.num_components);
}

Matrix Session::forecast(Index horizon) const {
  return started().working().basis *
         forecast_activations(started().engine(), num_channels_, horizon);
}

Model Session::model() const {
  if (!learner_ && !batch_) throw UsageError("there is no model before the start of the fit");
  Model model(batch_ ? batch_->estimate : learner_->reported(),
              batch_ ? batch_->last : learner_->last());
  model.background = config_.background;
  const EngineChoice choice = engine();
  model.engine = to_string(choice.kind);
  model.engine_reason = choice.reason;
  model.lost_mass = batch_ ? 0 : learner_->mean_lost_mass();
  if (choice.kind == EngineKind::kParticle) {
    const bool guided =
        particle_options(config_, prior_, num_channels_, config_.seed).filter.guided;
    model.proposal = to_string(guided ? ProposalKind::kGuided : ProposalKind::kPrior);
    model.effective_part = health_.mean_part();
  }
  model.method = to_string(config_.method);
  model.seed = config_.seed;
  model.version = version();
  model.observations = batch_ ? observations_ : learner_->observations();
  model.impossible_observations =
      batch_ ? batch_->impossible_observations : learner_->impossible_observations();
  model.revivals = batch_ ? 0 : learner_->revivals();
  model.iterations = batch_ ? batch_->iterations : learner_->m_steps();
  model.converged = batch_ && batch_->converged;
  model.log_likelihood = log_likelihood();
  model.options = describe(config_);
  for (const Parameter& parameter : prior_.parameters()) {
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
