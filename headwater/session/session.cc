#include "headwater/session.hpp"

#include <utility>

#include "headwater/session/fit.hpp"

namespace headwater {

Session::Session(const Config& config) : fit_(std::make_unique<Fit>(config)) {}

Session::Session(Config config, AnyPrior prior)
    : fit_(std::make_unique<Fit>(std::move(config), std::move(prior))) {}

Session::Session(const Model& model, const Config& config, const Continuation& how)
    : fit_(std::make_unique<Fit>(model, config, how)) {}

Session::Session(const Model& model, const Continuation& how)
    : Session(model, config_of(model), how) {}

Session::Session(const Session& other) : fit_(std::make_unique<Fit>(*other.fit_)) {}
Session::Session(Session&&) noexcept = default;
Session& Session::operator=(const Session& other) {
  if (this != &other) fit_ = std::make_unique<Fit>(*other.fit_);
  return *this;
}
Session& Session::operator=(Session&&) noexcept = default;
Session::~Session() = default;

void Session::on_step(std::function<void(const StepReport&)> callback) {
  fit_->on_step.set(std::move(callback));
}
void Session::on_iteration(std::function<void(std::int64_t, double, const Estimate&)> callback) {
  fit_->on_iteration.set(std::move(callback));
}
void Session::on_start(std::function<void()> callback) { fit_->on_start.set(std::move(callback)); }
void Session::on_search(std::function<void(std::int64_t, std::int64_t)> callback) {
  fit_->on_search.set(std::move(callback));
}

void Session::update(const Observation& y) { fit_->update(y); }
void Session::update_cells(std::span<const double> counts, std::span<const double> exposures) {
  fit_->update_cells(counts, exposures);
}
void Session::finish() { fit_->finish(); }
void Session::run_rounds_by(RunRound run) { fit_->run_rounds_by(std::move(run)); }
bool Session::wants_start() const { return fit_->wants_start(); }
void Session::begin_rounds() { fit_->begin_rounds(); }
SequenceRound Session::round() const { return fit_->round(); }
SequenceRound Session::round_of(const std::string& bytes) const { return fit_->round_of(bytes); }
RoundStatistics Session::statistics(const SequenceRound& round, const RecordView& sequence,
                                    std::int64_t index) const {
  return fit_->statistics(round, sequence, index);
}
void Session::take_in(const RoundStatistics& round) { fit_->take_in_round(round); }
void Session::exchange(StateArchive& archive) { fit_->exchange(archive); }
const Config& Session::config() const { return fit_->config(); }
std::int64_t Session::observations() const { return fit_->observations(); }
double Session::log_likelihood() const { return fit_->log_likelihood(); }
EngineChoice Session::engine() const { return fit_->engine(); }
const OnlineEm* Session::learner() const { return fit_->learner(); }
bool Session::is_settled() const { return fit_->is_settled(); }
const StartReport& Session::start_report() const { return fit_->start_report(); }
const ParticleHealth& Session::particle_health() const { return fit_->particle_health(); }
Vector Session::filtered_activation() const { return fit_->filtered_activation(); }
Matrix Session::forecast(Index horizon) const { return fit_->forecast(horizon); }
Forecast Session::forecast(const ForecastOptions& options) const { return fit_->forecast(options); }
Model Session::model() const { return fit_->model(); }
bool Session::is_finished() const { return fit_->is_finished(); }
std::optional<StandardErrors> Session::standard_errors() const { return fit_->standard_errors(); }
void Session::set_names(std::vector<std::string> names) { fit_->set_names(std::move(names)); }
const std::vector<std::string>& Session::names() const { return fit_->names(); }
void Session::set_seconds_a_row(double seconds) { fit_->set_seconds_a_row(seconds); }
void Session::keep_predictions(bool keep) { fit_->keep_predictions(keep); }
Prediction Session::prediction() const { return fit_->prediction(); }

}  // namespace headwater
